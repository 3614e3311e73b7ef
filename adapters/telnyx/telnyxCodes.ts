/** Telnyx' codes as tables. */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { OriginateRefused } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

/** The results of machine detection. `not_sure` is left out, because standard detection also reports it for people, the usual case. */
export const answerers: ReadonlyMap<string | undefined, "human" | "machine" | "fax" | "silence"> = new Map([
  ["human", "human"],
  ["human_residence", "human"],
  ["human_business", "human"],
  ["machine", "machine"],
  ["silence", "silence"],
  ["fax_detected", "fax"]
])

/** What an event's type alone says. */
export const events: ReadonlyMap<string | undefined, ReadonlyArray<TrunkEvent>> = new Map<string, ReadonlyArray<TrunkEvent>>([
  ["call.initiated", [{ _tag: "Placed" }]],
  ["call.machine.greeting.ended", [{ _tag: "GreetingEnded" }]]
])

/** When an event that we did not accept is sent again: the most that Telnyx allows, 5 times within 60 s. */
export const retries = { retries_ms: [1_000, 3_000, 8_000, 15_000, 30_000] }

interface Refusal {
  readonly reason: OriginateRefused["reason"]
  /** For a rate limit that comes without a time. */
  readonly retryAfterMillis?: number
  /** For the operator. Telnyx' own text is not shown, because it may quote a number. */
  readonly words: string
}

const invalidRequest: Refusal = { reason: "unexplained", words: "Telnyx found the request invalid" }
const rateLimited = { reason: "rate_limited", retryAfterMillis: 5_000 } as const

/**
 * By HTTP status and code.
 * https://developers.telnyx.com/development/api-fundamentals/api-errors
 */
const refusals: Readonly<Record<string, Refusal>> = {
  "400 10004": invalidRequest,
  "400 10015": invalidRequest,
  "401 10009": { reason: "auth_refused", words: "Telnyx rejects the API key" },
  "403 10010": { reason: "unexplained", words: "the account may not place this call" },
  "403 D1": { ...rateLimited, words: "the account has no free channel" },
  "404 10005": { reason: "misconfigured", words: "the account has no Call Control application with this connection_id" },
  "422 10002": { reason: "number_refused", words: "not a valid phone number" },
  "422 10004": invalidRequest,
  "422 10015": invalidRequest,
  "422 10016": { reason: "number_refused", words: "not a phone number in E.164 format" },
  "429 10011": { ...rateLimited, words: "too many requests" },
  "429 90103": { ...rateLimited, words: "too many dials per second" }
}

/** "Unexpected error", "Request timeout" and "Call has already ended": they do not say how far the request came. */
const provesNothing: ReadonlySet<string> = new Set(["10007", "10008", "90018"])

/** Undefined unless the error proves that a dial placed no call. With some statuses every error does, although its code is unknown. */
export const refusalFor = (status: number, code: string): Refusal | undefined =>
  refusals[`${status} ${code}`] ?? ([400, 403, 404, 422].includes(status) && !provesNothing.has(code) ? invalidRequest : undefined)

/** By the member of the request that is invalid. */
export const reasonsByPointer: ReadonlyMap<string | undefined, Refusal["reason"]> = new Map<string, Refusal["reason"]>([
  ["/from", "caller_id_refused"],
  ["/to", "number_refused"],
  ["/connection_id", "misconfigured"],
  ["/stream_url", "misconfigured"],
  ["/webhook_url", "misconfigured"]
])

interface End {
  readonly cause: HangupCause
  /** The SIP statuses that say more than the cause. For other causes, the SIP status says nothing more. */
  readonly refinedBy?: "all" | ReadonlyArray<number>
}

/** By `hangup_cause`. Before an answer, `normal_clearing` and `unspecified` come with the final error to the INVITE, if there was one. */
export const ends: ReadonlyMap<string, End> = new Map<string, End>([
  // The SIP status says who rejected the call: the callee, or a filter on the way.
  ["call_rejected", { cause: "call_rejected", refinedBy: [403, 603, 607, 608] }],
  ["no_answer", { cause: "no_answer" }],
  ["normal_clearing", { cause: "normal_clearing", refinedBy: "all" }],
  ["not_found", { cause: "unallocated_number" }],
  ["originator_cancel", { cause: "originator_cancel" }],
  ["time_limit", { cause: "duration_exceeded" }],
  ["timeout", { cause: "ring_timeout" }],
  ["unspecified", { cause: "normal_unspecified", refinedBy: "all" }],
  ["user_busy", { cause: "user_busy" }]
])
