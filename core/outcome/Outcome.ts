/** The outcome of a call. Retries, the breaker and the counters depend on it. */
import { Schema } from "effect"
import type { HangupCause } from "./HangupCause.ts"

/** Strongest first: when two signals about a call disagree, the earlier one in this list wins. */
const byStrength = ["error", "voicemail", "answered", "busy", "no_answer", "canceled", "failed", "unknown"] as const
export const Outcome = Schema.Literals(byStrength)
export type Outcome = typeof Outcome.Type

const unanswered: Readonly<Record<HangupCause, Outcome>> = {
  normal_clearing: "no_answer",
  user_busy: "busy",
  no_user_response: "no_answer",
  no_answer: "no_answer",
  subscriber_absent: "no_answer",
  call_rejected: "failed",
  number_changed: "failed",
  answered_elsewhere: "canceled",
  destination_out_of_order: "failed",
  invalid_number_format: "failed",
  facility_rejected: "failed",
  normal_unspecified: "no_answer",
  unallocated_number: "failed",
  no_route: "failed",
  congestion: "failed",
  network_out_of_order: "failed",
  temporary_failure: "failed",
  codec_mismatch: "failed",
  interworking: "failed",
  authentication_failed: "failed",
  no_credit: "failed",
  unexplained_refusal: "failed",
  ring_timeout: "no_answer",
  originator_cancel: "canceled",
  agent_hangup: "failed",
  duration_exceeded: "failed",
  machine_detected: "voicemail",
  trunk_lost: "error",
  media_failure: "failed",
  internal_error: "error",
  node_lost: "error",
  written_off: "unknown",
  unknown: "failed"
}

/** Causes on our side that break an answered call. Any other end of an answered call is normal. */
const spoils: ReadonlySet<HangupCause> = new Set<HangupCause>(["trunk_lost", "media_failure", "internal_error", "node_lost"])

/** `machine`: answering-machine detection, ours or the provider's, said machine. */
export const outcomeOf = (end: { readonly cause: HangupCause; readonly answered: boolean; readonly machine: boolean }): Outcome => {
  const byCause = end.answered ? (spoils.has(end.cause) ? "error" : "answered") : unanswered[end.cause]
  return end.machine || end.cause === "machine_detected" ? strongest("voicemail", byCause) : byCause
}

export const strongest = (a: Outcome, b: Outcome): Outcome => (byStrength.indexOf(a) <= byStrength.indexOf(b) ? a : b)

/** Whether the circuit breaker counts the call as a failure. Other calls count only towards the total. */
export const isBreakerFailure = (outcome: Outcome): boolean => outcome === "failed" || outcome === "error" || outcome === "unknown"

/** Whether the campaign's `failed_calls` counts the call. It does not count voicemails and canceled calls, although they may fail the contact. */
export const countsAsFailedCall = (outcome: Outcome): boolean => isBreakerFailure(outcome) || outcome === "busy" || outcome === "no_answer"

export type FailureClass =
  | "invalid_number"
  | "blocked"
  | "rejected"
  | "congestion"
  | "auth"
  | "funds"
  | "config"
  | "provider_error"
  | "media"

const classes: Readonly<Partial<Record<HangupCause, FailureClass>>> = {
  unallocated_number: "invalid_number",
  invalid_number_format: "invalid_number",
  number_changed: "invalid_number",
  facility_rejected: "blocked",
  call_rejected: "rejected",
  destination_out_of_order: "congestion",
  congestion: "congestion",
  network_out_of_order: "congestion",
  temporary_failure: "congestion",
  authentication_failed: "auth",
  no_credit: "funds",
  unexplained_refusal: "provider_error",
  no_route: "config",
  codec_mismatch: "config",
  interworking: "provider_error",
  trunk_lost: "provider_error",
  unknown: "provider_error",
  media_failure: "media"
}

/** Tells who has to act on a failed call. Undefined if the cause is not a failure, or is the engine's own. */
export const failureClassOf = (cause: HangupCause): FailureClass | undefined => classes[cause]
