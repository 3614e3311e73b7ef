/** Twilio's codes in the engine's terms. https://www.twilio.com/docs/api/errors */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Refusal } from "#adapters/shared/replies.ts"
import type { Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

const unexplained: Refusal = { reason: "unexplained" }
const authRefused: Refusal = { reason: "auth_refused" }
const rateLimited: Refusal = { reason: "rate_limited" }
const number = (cause: HangupCause): Refusal => ({ reason: "number_refused", cause })

/** The codes change, so the status decides where a code is not listed. No other status proves anything. */
export const refusalsByStatus: ReadonlyMap<number, Refusal> = new Map([
  [400, unexplained],
  [401, authRefused],
  [403, unexplained],
  [404, unexplained],
  [429, rateLimited]
])

export const refusalsByCode: ReadonlyMap<number, Refusal> = new Map([
  // The account: wrong credentials, suspended, inactive.
  [20003, authRefused],
  [20005, authRefused],
  [10001, authRefused],
  // No such resource: the account, or one of ours. An address that Twilio cannot call back.
  [20404, { reason: "misconfigured" }],
  [21205, { reason: "misconfigured" }],
  // Too many requests at once; too many calls at once.
  [20429, rateLimited],
  [10004, rateLimited],
  // From: not a number of this account, or not verified.
  [21210, { reason: "caller_id_refused" }],
  [21212, { reason: "caller_id_refused" }],
  // This number: invalid, not in service, not reachable from the caller ID; not allowed for its country, or for this account.
  [21211, number("invalid_number_format")],
  [21214, number("unallocated_number")],
  [21217, number("unallocated_number")],
  [21215, number("facility_rejected")],
  [21216, number("facility_rejected")]
])

/** The state of a call, by its status. A queued call rings later, unless it is canceled. */
export const presences: ReadonlyMap<string | undefined, Presence> = new Map<string, Presence>([
  ["queued", "queued"],
  ["initiated", "ringing"],
  ["ringing", "ringing"],
  ["in-progress", "up"],
  ["completed", "ended"],
  ["busy", "ended"],
  ["no-answer", "ended"],
  ["canceled", "ended"],
  ["failed", "ended"]
])

/** What a callback reports about a call that has not ended, by its status. */
export const events: ReadonlyMap<string | undefined, TrunkEvent> = new Map<string, TrunkEvent>([
  ["queued", { _tag: "Queued" }],
  ["initiated", { _tag: "Placed" }],
  ["ringing", { _tag: "Rang" }],
  ["in-progress", { _tag: "Answered" }]
])

/** Who answered, in `AnsweredBy` and `answered_by`. */
export const answerers: ReadonlyMap<string, "human" | "machine" | "fax" | "unknown"> = new Map([
  ["human", "human"],
  ["machine_start", "machine"],
  ["machine_end_beep", "machine"],
  ["machine_end_silence", "machine"],
  ["machine_end_other", "machine"],
  ["fax", "fax"],
  ["unknown", "unknown"]
])

/** Why a call ended, by its status; a failed one has codes as well. */
export const causesByStatus: ReadonlyMap<string | undefined, HangupCause> = new Map<string, HangupCause>([
  ["completed", "normal_clearing"],
  ["busy", "user_busy"],
  ["no-answer", "no_answer"],
  ["canceled", "originator_cancel"]
])

/** Why a failed call ended, by its error code. */
export const causesByError: ReadonlyMap<number, HangupCause> = new Map<number, HangupCause>([
  [13224, "unallocated_number"],
  [13227, "facility_rejected"]
])

/** A call that failed with 408 or 480 was not let ring out: that would be `no-answer`. */
export const causesBySip: ReadonlyMap<number, HangupCause> = new Map<number, HangupCause>([
  [408, "congestion"],
  [480, "congestion"],
  [484, "invalid_number_format"],
  [403, "facility_rejected"],
  [603, "call_rejected"],
  [607, "call_rejected"],
  [608, "facility_rejected"],
  [404, "unallocated_number"],
  [604, "unallocated_number"]
])
