/** Runs the conformance suite against an emulated carrier. */
import t from "tap"
import { type Ability, type Callee, type Config, conformance, numbersEnding, type World } from "#adapters/conformance/conformance.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { calleeHertz, fromMulaw } from "#test/emulators/ari/Sound.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import type { HostedEmulator } from "#test/emulators/shared/HostedEmulator.ts"
import "#test/support/priority.ts"
import { OUR_NUMBER } from "./hosted.ts"

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

interface Hosted {
  /** Other fields of the configuration than the account's, and how a stranger's differs. */
  readonly more?: Config
  readonly strangers: Config
  readonly refusals: NonNullable<World["refusals"]>
  readonly cannot?: Readonly<Partial<Record<Ability | Callee, string>>>
}

/** A world of the emulator of a hosted carrier. */
export const hostedWorld = (emulator: HostedEmulator, { more = {}, strangers, ...hosted }: Hosted): World => {
  const { account, log, places, server, transfers } = emulator
  const config = { ...account, ...more }
  return {
    ...hosted,
    apiOrigin: new URL(server.url),
    calleeHertz,
    callerId: OUR_NUMBER,
    close: () => emulator.stop(),
    config,
    number: numbersEnding(callees),
    phone: (number) => phoneIn(log, number),
    replyLate: () => server.replyLate(),
    requested: (number) => server.requests.filter((ask) => places(ask) && ask.body.includes(number.slice(1))).length,
    spoil: (acts, reply) => {
      server.fail({ acts, reply: reply === "lost" ? "reset" : reply === "late" ? "hang" : reply }, places)
      return true
    },
    spoilTransfer: (acts) => {
      server.fail({ acts, reply: "reset" }, transfers)
      return true
    },
    wrongConfig: { ...config, ...strangers },
    ...(emulator.holdQueue === undefined ? {} : { holdQueue: (on: boolean) => emulator.holdQueue?.(on) })
  }
}
