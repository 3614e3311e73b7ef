/** What the carriers of Plivo's dialect require of a request for a call. */
import Type, { type Static } from "typebox"
import { closed, membersIn } from "./json.ts"

interface DialProblem {
  readonly status: number
  readonly words: string
}

/** Refusals by the first digits of the number. */
const refusedNumbers: ReadonlyArray<readonly [prefix: string, problem: DialProblem]> = [
  ["991", { status: 403, words: "calls to this country are not permitted by the geo permissions of the account" }],
  ["992", { status: 402, words: "insufficient credit to make this call" }],
  ["993", { status: 400, words: "invalid 'to' number" }]
]

const number = Type.String({ pattern: "^[1-9]\\d{6,14}$" })
const address = Type.String({ pattern: "^https?://[^/]+", maxLength: 2048 })
const method = Type.Optional(Type.Literal("POST"))
const seconds = Type.Optional(Type.Integer({ minimum: 1, maximum: 14_400 }))
const Body = Type.Object(
  {
    answer_method: method,
    answer_url: address,
    from: number,
    hangup_method: method,
    hangup_on_ring: seconds,
    hangup_url: address,
    machine_detection: Type.Optional(Type.Enum(["true", "hangup"])),
    machine_detection_method: method,
    machine_detection_url: Type.Optional(address),
    ring_method: method,
    ring_timeout: seconds,
    ring_url: Type.Optional(address),
    time_limit: seconds,
    to: number
  },
  closed
)

/** `from` and `to`: the digits of the number, without a plus. */
export type Dial = Static<typeof Body>

/** `owned`: the numbers of the account, from which calls may be placed. */
export const readDial = (mediaType: string, text: string, owned: ReadonlyArray<string>): Dial | DialProblem => {
  const { fault, members } = membersIn(Body, mediaType, text)
  if (fault !== undefined) return { status: 400, words: `invalid '${fault.at.slice(1)}'${fault.at === "/to" ? " number" : ""}` }
  if (!owned.includes(members.from)) return { status: 400, words: "invalid 'from' number" }
  const [, problem] = refusedNumbers.find(([prefix]) => members.to.startsWith(prefix)) ?? []
  return problem ?? members
}

const Redirect = Type.Object({ aleg_method: method, aleg_url: address, legs: Type.Optional(Type.Literal("aleg")) }, closed)

/** The address of the document that a call is redirected to; undefined: the request is not valid. */
export const redirectIn = (text: string): string | undefined => membersIn(Redirect, "application/json", text).members?.aleg_url
