/** Runs the conformance suite against an emulated carrier. */
import t from "tap"
import { type Ability, type Callee, type Config, conformance, numbersEnding, type World } from "#adapters/conformance/conformance.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { calleeHertz, fromMulaw } from "#test/emulators/ari/Sound.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import type { CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import "#test/support/priority.ts"

/** Costs nothing when things happen, and is long enough for a machine that is busy with other work. */
const PATIENCE_MILLIS = 600_000

export const conforms = (adapter: Adapter, openWorld: () => Promise<World>, where = "given its emulator"): void => {
  t.jobs = 6
  for (const { name, run } of conformance(adapter, openWorld, { patienceMillis: PATIENCE_MILLIS })) {
    t.test(`${where}, ${name}`, { buffered: true }, async (t) => {
      const { notAsked } = await run()
      t.pass(notAsked === undefined ? "it holds" : `not asked: ${notAsked}`)
    })
  }
}

/** How long callees talk before they hang up: long enough on a busy machine for their audio to open and their keys to be pressed. */
export const talkMillis = 2_000

/** The callees of all emulators, by the ends of their numbers. */
export const callees: Readonly<Record<Callee, string>> = {
  stays: "015",
  leaves: "001",
  ringsOut: "003",
  busy: "002",
  declines: "007",
  doesNotAnswer: "013",
  doesNotExist: "008",
  congested: "009",
  presses: "010",
  machine: "004",
  disorderly: "006",
  breaks: "005"
}

export const phoneIn = (log: CalleeLog, number: string) => {
  const entries = log.of(number)
  const [last] = entries.toReversed()
  const heard = entries.map(({ channelId }) => log.heard(channelId)).find(({ length }) => length > 0) ?? Buffer.alloc(0)
  return {
    endedBy: last?.by,
    heard: Int16Array.from(heard, fromMulaw),
    pressed: entries.map(({ channelId }) => log.pressed(channelId)).find((digits) => digits !== "") ?? "",
    rung: entries.filter(({ kind }) => kind === "originate").length,
    state: last && ({ answered: "up", ended: "ended", originate: "dialing", ringing: "ringing" } as const)[last.kind]
  }
}

interface Emulator {
  readonly log: CalleeLog
  readonly server: CarrierServer
  readonly stop: () => Promise<void>
}

interface Hosted {
  readonly config: Config
  readonly wrongConfig: Config
  readonly callerId: string
  readonly placesCall: (ask: CarrierAsk) => boolean
  /** Undefined: the carrier transfers no calls. */
  readonly transfersCall?: (ask: CarrierAsk) => boolean
  readonly refusals: NonNullable<World["refusals"]>
  readonly holdQueue?: (on: boolean) => void
  readonly cannot?: Readonly<Partial<Record<Ability | Callee, string>>>
}

/** A world of the emulator of a hosted carrier. */
export const hostedWorld = (emulator: Emulator, { placesCall, transfersCall, ...hosted }: Hosted): World => ({
  ...hosted,
  apiOrigin: new URL(emulator.server.url),
  calleeHertz,
  close: () => emulator.stop(),
  number: numbersEnding(callees),
  phone: (number) => phoneIn(emulator.log, number),
  replyLate: () => emulator.server.replyLate(),
  requested: (number) => emulator.server.requests.filter((ask) => placesCall(ask) && ask.body.includes(number.slice(1))).length,
  spoil: (places, reply) => {
    emulator.server.fail({ acts: places, reply: reply === "lost" ? "reset" : reply === "late" ? "hang" : reply }, placesCall)
    return true
  },
  ...(transfersCall === undefined
    ? {}
    : {
        spoilTransfer: (places) => {
          emulator.server.fail({ acts: places, reply: "reset" }, transfersCall)
          return true
        }
      })
})
