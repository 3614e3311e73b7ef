/** An emulated Cloudonix for one test, and a line to it. */
import type { Test } from "tap"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { isOrder, isTransfer, startCloudonixEmulator } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { hostedWorld, talkMillis } from "./conforms.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

type Emulator = Awaited<ReturnType<typeof startCloudonixEmulator>>
type Options = Parameters<typeof startCloudonixEmulator>[0]

const configOf = (emulator: Emulator, more: object = {}) => ({ bearer_token: emulator.apiKey, domain_id: "Acme.", ...more })

const start = async (t: Test, options: Options = {}) => {
  const emulator = await startCloudonixEmulator({ numbers: [OUR_NUMBER], ...options })
  t.teardown(() => emulator.stop())
  return emulator
}

const error = (status: number) => ({ status, body: { message: "No call to +15551234567" } })

/** A world for the conformance suite. */
export const openSuiteWorld = async () => {
  const emulator = await startCloudonixEmulator({ numbers: [OUR_NUMBER], talkMillis })
  return hostedWorld(emulator, {
    callerId: OUR_NUMBER,
    cannot: { machine: "Cloudonix detects no machines" },
    config: configOf(emulator),
    placesCall: isOrder,
    refusals: {
      auth_refused: error(401),
      misconfigured: error(404),
      no_credit: error(402),
      rate_limited: error(429),
      unexplained: error(400)
    },
    transfersCall: isTransfer,
    wrongConfig: configOf(emulator, { bearer_token: "XI-of-a-stranger" })
  })
}

/** An open trunk that is up. */
export const open = async (t: Test, options: Options = {}, more: object = {}) => {
  const emulator = await start(t, options)
  const hosted = await Hosted.up(cloudonix, configOf(emulator, more), { apiOrigin: emulator.url })
  t.teardown(() => hosted.close())
  const dials = (number: string) => emulator.log.dialsByNumber().get(number) ?? 0
  const asked = (number: string) => emulator.orders().filter(({ body }) => body.includes(`"destination":"${number}"`)).length
  return { emulator, hosted, line: hosted.line, dials, asked }
}
export type World = Awaited<ReturnType<typeof open>>

/** A call in this state. */
export const callIn = async (world: World, state: "ringing" | "up" | "ended") => {
  const to = numberOf({ ringing: "003", up: "011", ended: "002" }[state])
  const { callId } = await world.hosted.originate(to)
  const kind = ({ ringing: "ringing", up: "answered", ended: "ended" } as const)[state]
  const token = () => world.emulator.sessionsTo(to)[0]?.token ?? ""
  await world.hosted.line.event(callId, state === "ringing" ? "Rang" : state === "up" ? "Answered" : "Placed")
  await untilTrue(state, () => world.emulator.log.of(to).some((entry) => entry.kind === kind))
  if (state === "ended") await world.hosted.line.event(callId, "HungUp")
  return { callId, to, token, ref: () => world.hosted.ref(callId) }
}
