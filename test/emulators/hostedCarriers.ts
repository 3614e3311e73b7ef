/**
 * The hosted carriers by the names of their adapters: where each one's emulator is, and how its reports differ. Whatever is run for every carrier takes
 * them from here.
 */
import { startCloudonixEmulator } from "./cloudonix/CloudonixEmulator.ts"
import { startPlivoEmulator } from "./plivo/PlivoEmulator.ts"
import type { HostedEmulator, HostedOptions } from "./shared/HostedEmulator.ts"
import type { DialectOptions } from "./shared/PlivoDialectEmulator.ts"
import { startTelnyxEmulator } from "./telnyx/TelnyxEmulator.ts"
import { TwilioEmulator } from "./twilio/TwilioEmulator.ts"
import { startVobizEmulator } from "./vobiz/VobizEmulator.ts"
import { startVonageEmulator } from "./vonage/VonageEmulator.ts"

interface CarrierSettings extends HostedOptions {
  readonly numbers: ReadonlyArray<string>
  /** How many calls the carrier accepts per second. Unlimited by default, unlike those of a new account. */
  readonly callsPerSecond?: number
}

interface HostedCarrier {
  /** The name as people write it. */
  readonly title: string
  readonly start: (settings: CarrierSettings) => Promise<HostedEmulator>
  /** The cost in a callback. Absent if callbacks do not report it, or are not believed about it. */
  readonly cost?: RegExp
  /** The causes that are reported for numbers with these last three digits, in place of the callee's own. */
  readonly causes: Readonly<Record<string, string>>
  /** False: the keys that a callee presses are not reported. */
  readonly tellsKeys?: false
  /** The differences in words. */
  readonly notes: ReadonlyArray<string>
}

/** What an emulator can be told, and how many calls it accepts per second, which it counts in its own way. */
type Settings<Start extends (options: never) => unknown> = NonNullable<Parameters<Start>[0]> & { readonly callsPerSecond?: number }

const unlimited = 1000

const lineLost = { "005": "normal_clearing" }
const lostNote = "A carrier reports a call that lost its line as completed, so it counts as one that the callee ended."
const plain = { causes: lineLost, notes: [lostNote] }
const unanswered = { ...lineLost, "003": "no_answer" }
const unansweredNote = (title: string) => `${title} does not report whether the callee or the ring timeout ended an unanswered call.`

export const hostedCarriers = {
  cloudonix: {
    title: "Cloudonix",
    // Counted over ten seconds. Each call is placed and then looked up.
    start: ({ callsPerSecond = unlimited, ...settings }: Settings<typeof startCloudonixEmulator>) =>
      startCloudonixEmulator({ requests: callsPerSecond * 20, ...settings }),
    causes: unanswered,
    notes: [
      lostNote,
      unansweredNote("Cloudonix"),
      "Cloudonix signs nothing, so the engine asks it about each end, once per second at most: slots become free later."
    ]
  },
  plivo: {
    title: "Plivo",
    start: (settings: DialectOptions) => startPlivoEmulator({ callsPerSecond: Number.POSITIVE_INFINITY, ...settings }),
    cost: /TotalCost=([\d.]+)/,
    ...plain
  },
  telnyx: {
    title: "Telnyx",
    // Counted over five seconds.
    start: ({ callsPerSecond = unlimited, ...settings }: Settings<typeof startTelnyxEmulator>) =>
      startTelnyxEmulator({ dials: callsPerSecond * 5, ...settings }),
    cost: /"total_cost":"([\d.]+)"/,
    ...plain
  },
  twilio: {
    title: "Twilio",
    start: (settings) => TwilioEmulator.start({ callsPerSecond: unlimited, ...settings }),
    causes: unanswered,
    notes: [lostNote, unansweredNote("Twilio")]
  },
  vobiz: {
    title: "Vobiz",
    start: (settings: Parameters<typeof startVobizEmulator>[0]) =>
      startVobizEmulator({ callsPerSecond: Number.POSITIVE_INFINITY, ...settings }),
    causes: lineLost,
    tellsKeys: false,
    notes: [lostNote, "Vobiz does not report the keys that a callee presses."]
  },
  vonage: {
    title: "Vonage",
    start: (settings: Parameters<typeof startVonageEmulator>[0]) =>
      startVonageEmulator({ callsPerSecond: unlimited, requestsPerSecond: unlimited, ...settings }),
    cost: /"price":"([\d.]+)"/,
    causes: { ...lineLost, "008": "invalid_number_format" },
    notes: [lostNote, "Vonage reports a number that does not exist as invalid."]
  }
} as const satisfies Readonly<Record<string, HostedCarrier>>

export type CarrierName = keyof typeof hostedCarriers
export type CarrierTitle = (typeof hostedCarriers)[CarrierName]["title"]

// `Object.keys` gives the names of an object's members as plain strings.
export const carrierNames = Object.keys(hostedCarriers) as ReadonlyArray<CarrierName>

export const carrierOf = (name: CarrierName): HostedCarrier => hostedCarriers[name]
