/** Cloudonix' words as tables. */
import type { Refusal } from "#adapters/shared/replies.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"

/** What a session's status says. `ended` has the cause of the end. */
type Standing = "placed" | "ringing" | "up" | { readonly cause: HangupCause; readonly hasSip?: true }

/** Any other status says nothing. */
export const standings: ReadonlyMap<string | undefined, Standing> = new Map<string, Standing>([
  ["new", "placed"],
  ["processing", "placed"],
  ["ringing", "ringing"],
  ["connected", "up"],
  ["answer", "up"],
  ["answered", "up"],
  ["completed", { cause: "normal_clearing" }],
  ["busy", { cause: "user_busy" }],
  ["noanswer", { cause: "no_answer" }],
  // If we have hung up, the engine keeps its own cause; otherwise the ring timeout has passed.
  ["cancel", { cause: "ring_timeout" }],
  ["nocredit", { cause: "no_credit" }],
  ["congestion", { cause: "congestion" }],
  // Their error text may hold a SIP status.
  ["failed", { cause: "interworking", hasSip: true }],
  ["error", { cause: "interworking", hasSip: true }],
  ["external", { cause: "interworking", hasSip: true }]
])

interface WordedRefusal extends Refusal {
  /** For the operator; undefined: Cloudonix' own text. */
  readonly words?: string
}

/** The window of Cloudonix' rate limit. */
const WINDOW_MILLIS = 10_000

const callerId: WordedRefusal = { reason: "caller_id_refused", words: "Cloudonix refuses the caller ID" }
const destination: WordedRefusal = { reason: "number_refused", cause: "invalid_number_format", words: "Cloudonix refuses the number" }

/** The statuses that prove, in an error of Cloudonix itself, that there is no call. */
export const refusals: ReadonlyMap<number, WordedRefusal> = new Map<number, WordedRefusal>([
  [400, { reason: "unexplained" }],
  [401, { reason: "auth_refused", words: "Cloudonix rejects the API key" }],
  [402, { reason: "no_credit", words: "the account has no credit" }],
  [403, { reason: "unexplained" }],
  [404, { reason: "misconfigured", words: "Cloudonix has no such domain" }],
  [422, destination],
  [429, { reason: "rate_limited", retryAfterMillis: WINDOW_MILLIS, words: "too many requests" }]
])

/** For an invalid request: the part that the error text blames, if it names one. The first match counts. */
export const blamed: ReadonlyArray<readonly [RegExp, WordedRefusal]> = [
  [/caller.?id/i, callerId],
  [/destination/i, destination]
]
