/** Tests with a line to an Asterisk of their own, so that they can run in parallel, and what clients of their own see there. */
import { readFile } from "node:fs/promises"
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { type AriEmulator, type AriEmulatorOptions, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { Line } from "./Line.ts"

type Place = Parameters<typeof ariConfig>[0]

interface Options extends AriEmulatorOptions {
  /** In addition to what the trunk needs. */
  readonly config?: object
  /** A new one by default. */
  readonly node?: string
}
type Use = (t: Test, emulator: AriEmulator, line: Line) => Promise<unknown>

export const emulatedWith = ({ config = {}, node, ...options }: Options, name: string, test: Use) =>
  t.test(`given an emulated Asterisk, ${name}`, { buffered: true }, async (t) => {
    const emulator = await startAriEmulator({ timeScale: 0.2, ...options })
    const line = await Line.up(ari, { ...ariConfig(emulator), ...config }, node)
    await test(t, emulator, line).finally(async () => {
      await line.close()
      await emulator.stop()
    })
  })
export const emulated = (name: string, test: Use) => emulatedWith({}, name, test)

/** What ARI replies to a client of the test's own. */
export const askAri = (at: Place, path: string, method = "GET"): Promise<Response> => {
  const authorization = `Basic ${Buffer.from(`${at.user}:${at.password}`).toString("base64")}`
  return fetch(`${at.url}/ari${path}`, { headers: { authorization }, method })
}

/** The samples of a 16-bit mono WAV file that may not exist yet, or may still be open. */
export const recording = async (path: string): Promise<ReadonlyArray<number>> => {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0))
  const start = bytes.indexOf("data") + 8
  return Array.from({ length: Math.max(0, Math.floor((bytes.length - start) / 2)) }, (_, n) => bytes.readInt16LE(start + 2 * n))
}
