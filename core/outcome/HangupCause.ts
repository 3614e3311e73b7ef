/**
 * Why a line ended, in one vocabulary: the network's causes (ITU-T Q.850), and our own reasons for ending a call. Adapters translate
 * into it; `Outcome.ts` derives the outcome for the campaign from it.
 */
import { Schema } from "effect"

export const HangupCause = Schema.Literals([
  // Causes from the network or the callee.
  "normal_clearing",
  "user_busy",
  "no_user_response",
  "no_answer",
  "subscriber_absent",
  "call_rejected",
  "number_changed",
  "answered_elsewhere",
  "destination_out_of_order",
  "invalid_number_format",
  "facility_rejected",
  "normal_unspecified",
  "unallocated_number",
  "no_route",
  "congestion",
  "network_out_of_order",
  "temporary_failure",
  "codec_mismatch",
  "interworking",
  /** The carrier challenged the call and did not accept the trunk's credentials (SIP 401, 407). */
  "authentication_failed",
  /** The carrier has taken the call, and then not dialed or not carried it further, because the account has no credit left. */
  "no_credit",
  /** The carrier says that it places no call to this number, for a reason that the adapter does not know. */
  "unexplained_refusal",
  // Our own reasons.
  /** Our own timer ran out while the phone rang. */
  "ring_timeout",
  /** We hung up before the answer. */
  "originator_cancel",
  /** We ended an answered call. */
  "agent_hangup",
  "duration_exceeded",
  "machine_detected",
  /** The connection to the provider was lost, and when it was back, the provider no longer had the call. */
  "trunk_lost",
  "media_failure",
  "internal_error",
  "node_lost",
  /** The last deadline passed before it was known what happened to the call. */
  "written_off",
  "unknown"
])
export type HangupCause = typeof HangupCause.Type

/**
 * An answered call can end for these causes as well, or no other call does: if the end arrives without an answer, the event of the answer may only be
 * late. A callee who was busy, rejected the call or let it ring did not answer.
 */
const ofAnsweredCalls: ReadonlySet<HangupCause> = new Set<HangupCause>([
  "normal_clearing",
  "normal_unspecified",
  "unknown",
  "no_credit",
  "agent_hangup",
  "duration_exceeded",
  "machine_detected",
  "media_failure",
  "internal_error"
])

export const mayHideAnswer = (cause: HangupCause): boolean => ofAnsweredCalls.has(cause)

const byQ850: Readonly<Record<number, HangupCause>> = {
  1: "unallocated_number",
  2: "no_route",
  3: "no_route",
  16: "normal_clearing",
  17: "user_busy",
  18: "no_user_response",
  19: "no_answer",
  20: "subscriber_absent",
  21: "call_rejected",
  22: "number_changed",
  // A redirection that was not followed: nobody was reached, and another call would be redirected as well.
  23: "interworking",
  25: "no_route",
  26: "answered_elsewhere",
  27: "destination_out_of_order",
  28: "invalid_number_format",
  29: "facility_rejected",
  31: "normal_unspecified",
  34: "congestion",
  38: "network_out_of_order",
  41: "temporary_failure",
  42: "congestion",
  44: "congestion",
  47: "congestion",
  50: "facility_rejected",
  57: "facility_rejected",
  58: "codec_mismatch",
  65: "codec_mismatch",
  88: "codec_mismatch",
  102: "temporary_failure",
  127: "interworking"
}

/** An unlisted code has the meaning that Q.850 gives to its class of sixteen codes. */
const byQ850Class: ReadonlyArray<HangupCause> = [
  "normal_unspecified",
  "normal_unspecified",
  "congestion",
  "facility_rejected",
  "interworking",
  "interworking",
  "interworking",
  "interworking"
]

const bySip: Readonly<Record<number, HangupCause>> = {
  401: "authentication_failed",
  402: "call_rejected",
  403: "facility_rejected",
  404: "unallocated_number",
  407: "authentication_failed",
  408: "no_user_response",
  409: "temporary_failure",
  410: "number_changed",
  420: "no_route",
  480: "no_answer",
  483: "no_answer",
  484: "invalid_number_format",
  485: "unallocated_number",
  486: "user_busy",
  487: "originator_cancel",
  488: "codec_mismatch",
  500: "network_out_of_order",
  501: "facility_rejected",
  502: "destination_out_of_order",
  503: "congestion",
  504: "temporary_failure",
  600: "user_busy",
  603: "call_rejected",
  604: "unallocated_number",
  606: "codec_mismatch",
  // RFC 8197 and 8688: the callee does not want the call; the carrier's spam filter blocks it.
  607: "call_rejected",
  608: "facility_rejected"
}

/** Codes that say less than the SIP status behind them: unknown, rejected (which folds 401, 403 and 603 together), interworking. */
const vague: ReadonlySet<number> = new Set([0, 21, 127])

/** `sipStatus`: the final response to the INVITE, where the provider tells it. */
export const fromQ850 = (code: number, sipStatus?: number): HangupCause => {
  if (sipStatus !== undefined && sipStatus >= 300 && vague.has(code)) return fromSip(sipStatus)
  return byQ850[code] ?? (code >= 1 ? byQ850Class[code >> 4] : undefined) ?? "unknown"
}

/** Maps a final SIP response as Asterisk does. */
export const fromSip = (status: number): HangupCause => {
  const cause = bySip[status]
  if (cause !== undefined) return cause
  if (status >= 500 && status < 600) return "congestion"
  if (status >= 300 && status < 700) return "interworking"
  return status >= 200 && status < 300 ? "normal_clearing" : "unknown"
}

const toQ850: Readonly<Record<HangupCause, number>> = {
  normal_clearing: 16,
  user_busy: 17,
  no_user_response: 18,
  no_answer: 19,
  subscriber_absent: 20,
  call_rejected: 21,
  number_changed: 22,
  answered_elsewhere: 26,
  destination_out_of_order: 27,
  invalid_number_format: 28,
  facility_rejected: 29,
  normal_unspecified: 31,
  unallocated_number: 1,
  no_route: 3,
  congestion: 34,
  network_out_of_order: 38,
  temporary_failure: 41,
  codec_mismatch: 58,
  interworking: 127,
  authentication_failed: 21,
  no_credit: 21,
  unexplained_refusal: 21,
  ring_timeout: 19,
  originator_cancel: 16,
  agent_hangup: 16,
  duration_exceeded: 16,
  machine_detected: 16,
  trunk_lost: 38,
  media_failure: 41,
  internal_error: 41,
  node_lost: 41,
  written_off: 31,
  unknown: 0
}

/** The nearest Q.850 code, sent when hanging up. `unknown` becomes 0, which Q.850 does not define. */
export const q850Of = (cause: HangupCause): number => toQ850[cause]
