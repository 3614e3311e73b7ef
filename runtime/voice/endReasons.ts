/** Why a conversation ends, as the call has it, and why a call has ended, as its conversation has it. */
import type { EndReason } from "#core/agent/conversation/ConversationState.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"

/** Why we hang up. For all other reasons the agent wanted to. */
export const hangupCauses: Partial<Record<EndReason, HangupCause>> = {
  call_duration_exceeded: "duration_exceeded",
  system_cancelled: "originator_cancel",
  voicemail_detected: "machine_detected"
}
/** Reasons for ends that the callee did not cause. */
export const endReasons: Partial<Record<HangupCause, EndReason>> = {
  duration_exceeded: "call_duration_exceeded",
  originator_cancel: "system_cancelled",
  machine_detected: "voicemail_detected"
}
