/** A trunk of Vonage's adapter, the emulated Vonage behind it, and calls in every state. */
import type { Test } from "tap"
import vonage from "#adapters/vonage/vonage.ts"
import type { CallId } from "#core/Id.ts"
import { startVonageEmulator } from "#test/emulators/vonage/VonageEmulator.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

type Emulator = Awaited<ReturnType<typeof startVonageEmulator>>
type Options = Partial<Parameters<typeof startVonageEmulator>[0]>

export const configOf = ({ apiKey, apiSecret, applicationId, keys, privateKey }: Emulator, more: object = {}) => ({
  application_id: applicationId,
  private_key: privateKey,
  api_key: apiKey,
  api_secret: apiSecret,
  signature_secret: keys.signatureSecret,
  ...more
})

export const start = async (t: Test, options: Options = {}) => {
  const emulator = await startVonageEmulator({ numbers: [OUR_NUMBER], callsPerSecond: 1000, requestsPerSecond: 1000, ...options })
  t.teardown(() => emulator.stop())
  return emulator
}

/** A world with a trunk that is up. */
export const openWorld = async (t: Test, options: Options = {}) => {
  const emulator = await start(t, options)
  const hosted = await Hosted.up(vonage, configOf(emulator), { apiOrigin: emulator.url })
  t.teardown(() => hosted.close())
  const dials = (number: string) => emulator.log.dialsByNumber().get(number) ?? 0
  const asked = (number: string) => emulator.dials().filter(({ body }) => body.includes(`"${number.slice(1)}"`)).length
  return { emulator, hosted, dials, asked }
}
type World = Awaited<ReturnType<typeof openWorld>>

/** The events of a call, each once. */
export const storyOf = ({ hosted }: World, callId: CallId) => [...new Set(hosted.line.story(callId))]

/** A call in this state. `started`: the far end has not answered at all. */
export const callIn = async (world: World, state: "started" | "ringing" | "up" | "ended") => {
  const to = numberOf({ started: "014", ringing: "003", up: "011", ended: "002" }[state])
  const { callId } = await world.hosted.originate(to)
  await world.hosted.line.event(callId, ({ started: "Placed", ringing: "Rang", up: "Answered", ended: "HungUp" } as const)[state])
  return { callId, to, ref: () => world.hosted.ref(callId) }
}
