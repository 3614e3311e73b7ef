/** Plivo's and Vobiz' reasons for an end as hangup causes. https://www.plivo.com/docs/voice/troubleshooting/hangup-causes */
import type { HangupCause } from "#core/outcome/HangupCause.ts"

/** By `HangupCauseCode`. 0 is unknown: the word and the status say more. */
export const causesByCode: ReadonlyMap<number, HangupCause> = new Map<number, HangupCause>([
  [1000, "originator_cancel"],
  [1010, "no_credit"],
  [1020, "congestion"],
  // This number: invalid, out of service, unallocated, does not exist.
  [2000, "invalid_number_format"],
  [2010, "unallocated_number"],
  [3050, "unallocated_number"],
  [3120, "unallocated_number"],
  [2020, "subscriber_absent"],
  // Barred: its country, the number, its prefix.
  [2030, "facility_rejected"],
  [2040, "facility_rejected"],
  [2050, "facility_rejected"],
  // A loop, or media that may not leave India: the configuration.
  [2060, "no_route"],
  [2070, "no_route"],
  [3000, "no_answer"],
  [3010, "user_busy"],
  [3100, "user_busy"],
  [3020, "call_rejected"],
  [3110, "call_rejected"],
  // A caller id that is unknown, or that must not originate calls.
  [3030, "no_route"],
  [3140, "no_route"],
  [3040, "facility_rejected"],
  [3130, "facility_rejected"],
  [3070, "congestion"],
  [3080, "congestion"],
  [3090, "congestion"],
  [4000, "normal_clearing"],
  [4010, "normal_clearing"],
  [4020, "normal_clearing"],
  [4030, "normal_clearing"],
  [5000, "interworking"],
  [5010, "interworking"],
  [5020, "interworking"],
  [5030, "congestion"],
  [6000, "duration_exceeded"],
  [6010, "ring_timeout"],
  [6020, "normal_clearing"],
  // Another call of the same request was answered first.
  [9000, "originator_cancel"],
  [9100, "machine_detected"],
  [9110, "call_rejected"]
])

/** Our answer document could not be fetched, or was not understood: 7011 to 7034, and 8011 to 8014. */
export const isOurFault = (code: number): boolean => (code >= 7000 && code < 7100) || (code >= 8000 && code < 8100)

/** The document ended although nobody has hung up: right after the answer, the audio socket was refused. */
export const END_OF_DOCUMENT = 4010

/** By `HangupCause`, the words of FreeSWITCH. */
export const causesByWord: ReadonlyMap<string, HangupCause> = new Map<string, HangupCause>([
  ["ALLOTTED_TIMEOUT", "duration_exceeded"],
  ["CALL_REJECTED", "call_rejected"],
  ["DESTINATION_OUT_OF_ORDER", "destination_out_of_order"],
  ["INVALID_NUMBER", "invalid_number_format"],
  ["INVALID_NUMBER_FORMAT", "invalid_number_format"],
  ["MEDIA_TIMEOUT", "normal_clearing"],
  ["NETWORK_OUT_OF_ORDER", "network_out_of_order"],
  ["NORMAL_CIRCUIT_CONGESTION", "congestion"],
  ["NORMAL_CLEARING", "normal_clearing"],
  ["NORMAL_TEMPORARY_FAILURE", "temporary_failure"],
  ["NO_ANSWER", "no_answer"],
  ["NO_ROUTE_DESTINATION", "unallocated_number"],
  ["NO_USER_RESPONSE", "no_user_response"],
  ["ORIGINATOR_CANCEL", "originator_cancel"],
  ["PROGRESS_TIMEOUT", "no_user_response"],
  ["PROTOCOL_ERROR", "temporary_failure"],
  ["RECOVERY_ON_TIMER_EXPIRE", "temporary_failure"],
  ["REJECTED", "call_rejected"],
  ["SERVER_ERROR", "temporary_failure"],
  ["SERVICE_UNAVAILABLE", "congestion"],
  ["SWITCH_CONGESTION", "congestion"],
  ["UNALLOCATED_NUMBER", "unallocated_number"],
  ["USER_BUSY", "user_busy"]
])

/** By `CallStatus`. Some deliveries say `completed` for every end. */
export const causesByStatus: ReadonlyMap<string, HangupCause> = new Map<string, HangupCause>([
  ["busy", "user_busy"],
  ["cancel", "originator_cancel"],
  ["completed", "normal_clearing"],
  ["failed", "interworking"],
  ["no-answer", "no_answer"],
  ["timeout", "no_answer"]
])
