/** An emulated Telnyx for one test, and a line to it. */
import type { Test } from "tap"
import telnyx from "#adapters/telnyx/telnyx.ts"
import { startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { Hosted } from "./hosted.ts"

export type Emulator = Awaited<ReturnType<typeof startTelnyxEmulator>>
type Options = Parameters<typeof startTelnyxEmulator>[0]

export const configOf = (emulator: Emulator, more: object = {}) => ({
  api_key: emulator.apiKey,
  connection_id: emulator.connectionId,
  webhook_public_key: emulator.publicKey,
  ...more
})

const start = async (t: Test, options: Options = {}) => {
  const emulator = await startTelnyxEmulator(options)
  t.teardown(() => emulator.stop())
  return emulator
}

/** An open trunk that is up. */
export const open = async (t: Test, options: Options = {}) => {
  const emulator = await start(t, options)
  const hosted = await Hosted.up(telnyx, configOf(emulator), { apiOrigin: emulator.url })
  t.teardown(() => hosted.close())
  return { emulator, hosted, line: hosted.line }
}
