/** The far end of the demo's calls: an emulator or a real Asterisk. It reports what its callees saw, independently of the service. */
import { type CarrierName, carrierOf } from "#test/emulators/hostedCarriers.ts"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import type { Talker } from "#test/emulators/shared/Talker.ts"
import type { Mode, Provider } from "./Callees.ts"
import { DemoFailed } from "./DemoFailed.ts"

export interface SeenCall {
  readonly number: string
  /** Epoch milliseconds. */
  readonly dialedAt: number
  /** Undefined for some calls, because SIPp does not log the ends of all of them. */
  readonly endedAt: number | undefined
  /** False: the line ended before there was any audio on it, so there is nothing to record. */
  readonly hasAudio: boolean
}

/** Returns the talking callee at this number; undefined: the number's usual callee answers. `press` presses a key of their phone. */
type TalkerOf = (number: string, press: (digit: string) => void) => Pick<Talker, "next"> | undefined

export interface FarEnd {
  readonly mode: Mode
  readonly provider: Provider
  readonly name: string
  /** The service's telephony configuration for it. */
  readonly config: Readonly<Record<string, string>>
  /** The caller ID of its calls; undefined: none is needed. */
  readonly callerId: string | undefined
  /** The address that replaces that of the carrier. */
  readonly apiUrl: string | undefined
  /** The configuration in words. */
  readonly described: string
  /** The calls in the order of dialing. */
  readonly calls: () => Promise<ReadonlyArray<SeenCall>>
  /** Makes some callees hold conversations from now on. Undefined: callees at this far end cannot talk. */
  readonly letTalk: ((talkerOf: TalkerOf) => void) | undefined
  readonly stop: () => Promise<void>
}

const ringMillis = 1000
const talkMillis = 8000

const ofAsterisk = (dialString: string) =>
  ({ provider: "ari", callerId: undefined, apiUrl: undefined, described: `Asterisk ARI, dials ${dialString}` }) as const

const startAri = async (): Promise<FarEnd> => {
  const emulator = await startAriEmulator({ ringMillis, talkMillis, talkOnceHeard: true, seed: 1 })
  const dialString = "PJSIP/{number}@trunk"
  return {
    ...ofAsterisk(dialString),
    mode: "emulator",
    name: "simulated Asterisk (ARI over HTTP and websockets)",
    config: {
      provider: "ari",
      ari_endpoint: emulator.url,
      app_name: emulator.user,
      app_password: emulator.password,
      dial_string: dialString
    },
    calls: async () => callsIn(emulator.log),
    letTalk: (talkerOf) => letTalkIn(emulator.log, talkerOf),
    stop: () => emulator.stop()
  }
}

/** An invented number, in a range that belongs to nobody. */
const ours = "+15550199000"

const startCarrier = async (provider: CarrierName): Promise<FarEnd> => {
  const { start, title } = carrierOf(provider)
  const emulator = await start({ numbers: [ours], ringMillis, talkMillis, talkOnceHeard: true })
  const { account, log, url } = emulator
  return {
    mode: "emulator",
    provider,
    name: `simulated ${title} (REST, callbacks and a media websocket per call)`,
    config: { provider, ...account },
    callerId: ours,
    apiUrl: url,
    described: `${title}, calls show ${ours}`,
    calls: async () => callsIn(log),
    letTalk: (talkerOf) => letTalkIn(log, talkerOf),
    stop: () => emulator.stop()
  }
}

export const startEmulator = (provider: Provider): Promise<FarEnd> => (provider === "ari" ? startAri() : startCarrier(provider))

const letTalkIn = (log: CalleeLog, talkerOf: TalkerOf): void => {
  log.talkerFor = (channelId, press) => talkerOf(log.of(channelId)[0]?.number ?? "", press)
}

const callsIn = (log: CalleeLog): ReadonlyArray<SeenCall> => {
  const { entries } = log
  const ends = new Map(entries.filter(({ kind }) => kind === "ended").map(({ at, channelId }) => [channelId, at]))
  return entries
    .filter(({ kind }) => kind === "originate")
    .map(({ at, channelId, number }) => ({
      number,
      dialedAt: at,
      endedAt: ends.get(channelId),
      hasAudio: log.audio(channelId).received > 0
    }))
}

export const startRealAsterisk = async (): Promise<FarEnd> => {
  const cannot = (why: string) =>
    new DemoFailed(
      `This machine cannot run the demo's own Asterisk: ${why}\nWithout --asterisk the demo needs none, it calls through a simulated one.`
    )
  const reason = await asteriskUnavailable().catch((error: unknown) => String(error))
  if (reason !== undefined) throw cannot(reason)
  const asterisk = await startAsterisk().catch((error: unknown) => {
    throw cannot(String(error))
  })
  const [version = "Asterisk"] = /Asterisk [\w.]+/.exec(await asterisk.ctl("core show version")) ?? []
  const dialString = "PJSIP/{number}@sipp"
  return {
    ...ofAsterisk(dialString),
    mode: "asterisk",
    name: `${version}, calling SIPp over SIP and RTP`,
    config: {
      provider: "ari",
      ari_endpoint: asterisk.ariUrl,
      app_name: asterisk.user,
      app_password: asterisk.password,
      dial_string: dialString
    },
    calls: async () =>
      (await asterisk.sippLog()).map(({ at, number }) => ({
        number,
        dialedAt: at,
        endedAt: undefined,
        hasAudio: true
      })),
    letTalk: undefined,
    stop: () => asterisk.stop()
  }
}
