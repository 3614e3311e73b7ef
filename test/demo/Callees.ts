/** The demo's callees, and the expected outcome of each call. The number decides: it reaches the same callee every time. */

import { type CarrierName, carrierNames, carrierOf } from "#test/emulators/hostedCarriers.ts"

export type Mode = "emulator" | "asterisk"
export type Provider = "ari" | CarrierName

export const providers: ReadonlyArray<Provider> = ["ari", ...carrierNames]

export interface Expected {
  /** The dispositions of its attempts, in order. */
  readonly dispositions: ReadonlyArray<string>
  readonly cause: string
  readonly keys?: string
}

interface Kind extends Expected {
  readonly title: string
  /** The last three digits of its numbers; undefined if a far end has no such callee. */
  readonly suffix: { readonly [M in Mode]?: string }
  /** How many of forty contacts are of this kind. */
  readonly share: number
}

/** What must be on record for its calls through this provider. */
export const expectedOf = ({ suffix, ...kind }: Kind, provider: Provider): Expected => {
  if (provider === "ari") return kind
  const { causes, tellsKeys = true } = carrierOf(provider)
  const { cause, dispositions, keys } = kind
  return { dispositions, cause: causes[suffix.emulator ?? ""] ?? cause, ...(tellsKeys && keys !== undefined ? { keys } : {}) }
}

const once = (disposition: string, cause: string) => ({ dispositions: [disposition], cause })
const retried = (disposition: string, cause: string) => ({ dispositions: [disposition, disposition], cause })
const of = (share: number, emulator: string, asterisk?: string) => ({
  share,
  suffix: { emulator, ...(asterisk === undefined ? {} : { asterisk }) }
})

export const kinds: ReadonlyArray<Kind> = [
  { title: "talks, then hangs up", ...of(20, "001", "100"), ...once("user_hangup", "normal_clearing") },
  { title: "presses keys", ...of(3, "010", "600"), ...once("user_hangup", "normal_clearing"), keys: "1234#" },
  { title: "stays until we hang up", ...of(1, "011", "110"), ...once("call_duration_exceeded", "duration_exceeded") },
  { title: "loses the line mid-call", ...of(1, "005"), ...once("user_hangup", "network_out_of_order") },
  { title: "has its events repeated", ...of(1, "006"), ...once("user_hangup", "normal_clearing") },
  { title: "is an answering machine", ...of(3, "004", "500"), ...once("voicemail_detected", "machine_detected") },
  { title: "is busy", ...of(3, "002", "200"), ...retried("busy", "user_busy") },
  { title: "never picks up", ...of(2, "003", "300"), ...retried("no-answer", "ring_timeout") },
  { title: "rings, then gives up", ...of(2, "013", "310"), ...retried("no-answer", "no_answer") },
  { title: "declines", ...of(2, "007", "400"), ...once("failed", "call_rejected") },
  { title: "does not exist", ...of(1, "008", "404"), ...once("failed", "unallocated_number") },
  { title: "meets a congested network", ...of(1, "009", "800"), ...once("failed", "congestion") }
]

/** Contacts that the campaign retries are spread over this first part of the list. */
const firstPart = 0.45
/** Contacts that ring out twice come in this first part, because they decide how long the demo takes. */
const firstOfAll = 0.12
/** Contacts with the longest calls come in this first part, so that these calls end before the last ones. */
const firstMost = 0.75
const partOf = ({ cause, dispositions, title }: Kind): number => {
  if (title === "never picks up") return firstOfAll
  return dispositions.length > 1 ? firstPart : cause === "duration_exceeded" ? firstMost : 1
}

/** Each person has one order, so that few greetings must be synthesized: each takes half a second on a slow machine, and all slots fill at once. */
const people = ["Ada", "Alan", "Barbara", "Edsger", "Grace", "Hedy", "Margaret", "Tim"]
const firstOrder = 1042

export interface Contact {
  readonly kind: Kind
  readonly number: string
  readonly firstName: string
  readonly order: string
}

/** The number of contacts of each kind: in proportion, at least one while there is room, and the talkers make up the rest. */
const countsOf = (mode: Mode, contacts: number): ReadonlyArray<{ readonly kind: Kind; readonly count: number }> => {
  const present = kinds.filter(({ suffix }) => suffix[mode] !== undefined)
  const [talkers, ...others] = present
  let left = contacts
  const counts = others.map((kind) => {
    const count = Math.min(left, Math.max(1, Math.round((contacts * kind.share) / 40)))
    left -= count
    return { kind, count }
  })
  return talkers === undefined ? counts : [{ kind: talkers, count: left }, ...counts]
}

/** Each kind is spread evenly over its part of the list. */
export const contactsOf = (mode: Mode, contacts: number): ReadonlyArray<Contact> =>
  countsOf(mode, contacts)
    .flatMap(({ count, kind }) => Array.from({ length: count }, (_, index) => ({ kind, at: ((index + 0.5) / count) * partOf(kind) })))
    .toSorted((a, b) => a.at - b.at)
    .map(({ kind }, index) => ({
      kind,
      number: `+1555${String(index + 1).padStart(4, "0")}${kind.suffix[mode]}`,
      firstName: people[index % people.length] ?? "",
      order: String(firstOrder + (index % people.length))
    }))

export const csvOf = (contacts: ReadonlyArray<Contact>): string =>
  ["phone_number,first_name,order", ...contacts.map(({ firstName, number, order }) => `${number},${firstName},${order}`), ""].join("\n")
