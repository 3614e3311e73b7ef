/** An emulated Asterisk or Twilio in a separate process. Its log is fetched at the end. */
import { type AriEmulatorOptions, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import type { CalleeEntry, CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { type Conversed, type ConverserPlan, makeConversers } from "./Converser.ts"

export interface EmulatorAddress {
  readonly url: string
  /** The account of Twilio, and its token. */
  readonly user: string
  readonly password: string
}
export interface EmulatorCounts {
  readonly originates: number
  readonly live: number
  readonly answered: number
}
/** Calls never wait for its queue. */
export type TwilioOptions = Omit<Parameters<typeof TwilioEmulator.start>[0], "callsPerSecond">
export type Flow = ReturnType<CalleeLog["flow"]>
export interface EmulatorAnswers {
  readonly counts: EmulatorCounts
  readonly flow: Flow
  readonly spoken: ReadonlyArray<readonly [channelId: string, at: number]>
  readonly entries: ReadonlyArray<CalleeEntry>
  readonly conversed: Conversed
}

// The benchmark passes them on in this variable.
const options: unknown = JSON.parse(process.env["EMULATOR_OPTIONS"] ?? "{}")

const startTwilio = async () => {
  const twilio = await TwilioEmulator.start({ ...(options as TwilioOptions), callsPerSecond: Number.POSITIVE_INFINITY })
  const { accountSid: user, authToken: password, log, server } = twilio
  return { log, live: () => log.live(), password, url: server.url, user }
}

const emulator = await (process.env["EMULATOR"] === "twilio" ? startTwilio() : startAriEmulator(options as AriEmulatorOptions))
const plan: ConverserPlan | null = JSON.parse(process.env["EMULATOR_CALLEES"] ?? "null")
const conversers = plan === null ? undefined : makeConversers(plan)
if (conversers !== undefined) emulator.log.talkerFor = conversers.join
const { log } = emulator
const answers: { readonly [Name in keyof EmulatorAnswers]: () => EmulatorAnswers[Name] | undefined } = {
  counts: () => ({ originates: log.count("originate"), live: emulator.live(), answered: log.count("answered") }),
  flow: () => log.flow(),
  spoken: () => log.firstSpoken(),
  entries: () => log.entries,
  conversed: () => conversers?.take()
}
process.on("message", ({ question }: { readonly question: keyof EmulatorAnswers }) => process.send?.({ [question]: answers[question]() }))
process.on("disconnect", () => process.exit())
process.send?.({ address: { url: emulator.url, user: emulator.user, password: emulator.password } satisfies EmulatorAddress })
