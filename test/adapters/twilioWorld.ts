/** A trunk of Twilio's adapter, the emulated Twilio behind it, and calls in every state. */
import type { Test } from "tap"
import twilio from "#adapters/twilio/twilio.ts"
import type { CallId } from "#core/Id.ts"
import { placesCall, TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

type Options = Omit<ConstructorParameters<typeof TwilioEmulator>[0], "numbers">

const configOf = ({ accountSid, authToken }: TwilioEmulator) => ({ account_sid: accountSid, auth_token: authToken })

export const openWorld = async (t: Test, options: Options = {}, more: object = {}) => {
  const emulator = await TwilioEmulator.start({ numbers: [OUR_NUMBER], callsPerSecond: 1000, ...options })
  const hosted = await Hosted.up(twilio, { ...configOf(emulator), ...more }, { apiOrigin: emulator.server.url })
  t.teardown(async () => {
    await hosted.close()
    await emulator.stop()
  })
  const dials = (number: string) => emulator.log.dialsByNumber().get(number) ?? 0
  const asked = (number: string) =>
    emulator.server.requests.filter((ask) => placesCall(ask) && new URLSearchParams(ask.body).get("To") === number).length
  return { emulator, hosted, dials, asked }
}
type World = Awaited<ReturnType<typeof openWorld>>

/** The events of a call, each once. */
export const storyOf = ({ hosted }: World, callId: CallId) => [...new Set(hosted.line.story(callId))]

/** A call in this state. */
export const callIn = async (world: World, state: "queued" | "ringing" | "up" | "ended") => {
  const to = numberOf({ queued: "011", ringing: "003", up: "011", ended: "002" }[state])
  world.emulator.holdQueue(state === "queued")
  const { callId } = await world.hosted.originate(to)
  const event = ({ queued: "Named", ringing: "Rang", up: "Answered", ended: "HungUp" } as const)[state]
  await world.hosted.line.event(callId, event)
  return { callId, to, ref: () => world.hosted.ref(callId) }
}
