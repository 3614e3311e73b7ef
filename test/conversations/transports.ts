/** What conversations go through: Asterisk, emulated or real, and two carriers that differ in how they send audio. */
import type { Test } from "tap"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import type { CallLives } from "#test/emulators/shared/CallLife.ts"
import { startAsterisk } from "#test/support/asterisk.ts"
import type { World } from "#test/support/engine.ts"
import { carriers, type Line, openThroughAll } from "#test/support/hostedCarriers.ts"
import { AsteriskCallees, calleesApp } from "./AsteriskCallees.ts"

/** The transports of `npm run conversations`. */
export const transports = ["asterisk", "twilio", "vonage"] as const
export type Transport = (typeof transports)[number] | "emulated asterisk"

interface FarEnd {
  /** What the engine needs to call through it. */
  readonly line: Line
  readonly log: CalleeLog
  readonly lives: Pick<CallLives, "letRing">
  /** The callee with this number hangs up. */
  readonly hangUp: (number: string) => void
  /** What went wrong at the far end itself. */
  readonly faults: ReadonlyArray<string>
}

const asterisk = async (t: Test): Promise<FarEnd> => {
  const server = await startAsterisk({ app: calleesApp })
  t.teardown(() => server.stop())
  const callees = await AsteriskCallees.open(server)
  t.teardown(() => callees.stop())
  const account = {
    app_name: server.user,
    app_password: server.password,
    ari_endpoint: server.ariUrl,
    dial_string: "Local/{number}@inbound"
  }
  const { faults, lives, log } = callees
  return { line: { account, numbers: [], provider: "ari" }, log, lives, faults, hangUp: (number) => callees.hangUp(number) }
}

const emulatedAsterisk = async (t: Test): Promise<FarEnd> => {
  const emulator = await startAriEmulator({ ringMillis: 200, talkMillis: 600_000 })
  t.teardown(() => emulator.stop())
  emulator.letTalk(true)
  const account = { app_name: emulator.user, app_password: emulator.password, ari_endpoint: emulator.url }
  const hangUp = (number: string) => emulator.hangUp(number)
  return { line: { account, numbers: [], provider: "ari" }, log: emulator.log, lives: emulator, faults: [], hangUp }
}

const carrier =
  (name: "Twilio" | "Vonage") =>
  async (t: Test): Promise<FarEnd> => {
    const line = await carriers[name]?.(t, { ringMillis: 200, talkMillis: 0 })
    if (line === undefined) throw new Error(`no carrier ${name}`)
    const hangUp = (number: string) => void [...line.calls.values()].findLast((call) => call.number === number)?.hangUp()
    return { line, log: line.log, lives: line.lives, faults: [], hangUp }
  }

const farEnds: { readonly [Name in Transport]: (t: Test) => Promise<FarEnd> } = {
  asterisk,
  "emulated asterisk": emulatedAsterisk,
  twilio: carrier("Twilio"),
  vonage: carrier("Vonage")
}

/** A far end, and its configuration in the engine. */
export interface Through extends FarEnd {
  readonly telephony_configuration_id: number | undefined
}
type Settings = Parameters<typeof openThroughAll>[2]

/** An engine with a configuration for each of these far ends, of different providers. The first one is the default. */
export const openTransports = async <Name extends Transport>(
  t: Test,
  names: ReadonlyArray<Name>,
  settings: Settings
): Promise<{ readonly through: ReadonlyMap<Name, Through>; readonly world: World }> => {
  const ends = await Promise.all(names.map((name) => farEnds[name](t)))
  const { configurations, world } = await openThroughAll(
    t,
    ends.map(({ line }) => line),
    settings
  )
  const idOf = ({ provider }: Line) => configurations.find((one) => one.provider === provider)?.id
  const through = new Map(
    names.flatMap((name, at) => (ends[at] ? [[name, { ...ends[at], telephony_configuration_id: idOf(ends[at].line) }]] : []))
  )
  return { through, world }
}
