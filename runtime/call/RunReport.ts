/** The run of a call that is over: disposition, tags, logs, usage. The results of the call's conversation are added as it is recorded. */
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { CallState } from "#core/call/Call.ts"
import { byTime } from "#core/conversation/conversationReport.ts"
import { outcomeOfEnd } from "#core/call/outcomeOfEnd.ts"
import { failureClassOf, isBreakerFailure, type Outcome } from "#core/outcome/Outcome.ts"
import type { CallId } from "#core/Id.ts"
import { problemEvent, type RunProblem } from "#core/run/RunProblem.ts"
import type { VoiceReport } from "#runtime/voice/VoiceSession.ts"
import { missedGreeting } from "./greeted.ts"
import type { LiveCall } from "./LiveCall.ts"

/** The API's words for calls that never connected. A call that did connect is described by who ended it. */
const unconnected: Readonly<Record<Outcome, string>> = {
  answered: "unknown",
  voicemail: "voicemail_detected",
  busy: "busy",
  no_answer: "no-answer",
  canceled: "canceled",
  failed: "failed",
  error: "error",
  unknown: "unknown"
}

const dispositionOf = (ended: CallState & { readonly _tag: "Ended" }, outcome: Outcome): string => {
  if (outcome !== "answered") return unconnected[outcome]
  switch (ended.cause) {
    case "duration_exceeded":
      return "call_duration_exceeded"
    case "agent_hangup":
      return "end_call_tool"
    case "originator_cancel":
      return "system_cancelled"
    default:
      return "user_hangup"
  }
}

const tagsOf = ({ keys }: LiveCall, answeredAt: number | undefined, disposition: string): Array<string> => {
  const tags = answeredAt === undefined ? [disposition, "not_connected", `telephony_${disposition}`] : [disposition]
  return keys === "" ? tags : [...tags, "user_speech"]
}

/** What went wrong outside of the conversation. */
const problemsOf = ({ fetching }: LiveCall, missed: RunProblem | undefined) =>
  byTime([fetching?.problem, missed].flatMap((problem) => (problem === undefined ? [] : [problemEvent(problem)])))

/** The provider's finding wins, unless it is `unknown`. */
const answeredBy = ({ answeredBy }: LiveCall, gathered: Partial<VoiceReport["gathered"]> = {}) =>
  answeredBy === undefined || (answeredBy === "unknown" && gathered.answered_by !== undefined) ? {} : { answered_by: answeredBy }

/** As a carrier's last callback. */
const statusOf = (
  { attempt, ref }: LiveCall,
  { answeredAt, cause, endedAt }: CallState & { readonly _tag: "Ended" },
  disposition: string
) => ({
  call_id: attempt.callId,
  duration: answeredAt === undefined ? 0 : (endedAt - answeredAt) / 1000,
  ...(ref.endpoint === undefined ? {} : { endpoint: ref.endpoint }),
  hangup_cause: cause,
  status: answeredAt === undefined ? disposition : "completed",
  timestamp: new Date(endedAt).toISOString()
})

export const endOf = (
  call: LiveCall,
  ended: CallState & { readonly _tag: "Ended" },
  voice: Partial<Pick<VoiceReport, "gathered" | "isVoicemail" | "recordingKey">> | undefined,
  isGreetingMissed = false
): AttemptEnd => {
  const { answeredAt, cause, endedAt } = ended
  const outcome = outcomeOfEnd(ended, call.isMachine || voice?.isVoicemail === true)
  const disposition = dispositionOf(ended, outcome)
  const tags = tagsOf(call, answeredAt, disposition)
  if (isGreetingMissed) tags.push("greeting_missed")
  const missed = isGreetingMissed && answeredAt !== undefined ? missedGreeting(answeredAt) : undefined
  return {
    answeredAt,
    callerNumber: call.ref.from,
    fetchedContext: call.fetching?.fetched,
    cause,
    // An end that we only inferred proves nothing: the call may still be up.
    cutByTrunk: cause === "trunk_lost" && ended.inferred === undefined,
    endedAt,
    endpoint: call.ref.endpoint,
    providerCallId: call.ref.providerCallId,
    messageLeft: voice?.gathered?.voicemail_message === "left",
    outcome,
    record: {
      gatheredContext: {
        ...call.gathered,
        ...(call.keys === "" ? {} : { dtmf_digits: call.keys }),
        ...voice?.gathered,
        ...answeredBy(call, voice?.gathered),
        call_disposition: disposition,
        call_id: call.attempt.callId,
        call_tags: tags,
        ...(isBreakerFailure(outcome) ? { failure_class: failureClassOf(cause) ?? null } : {}),
        hangup_cause: cause,
        ...(call.refusal === undefined ? {} : { provider_message: call.refusal }),
        mapped_call_disposition: disposition,
        provider: call.trunk.adapter.manifest.provider
      },
      logs: {
        realtime_feedback_events: problemsOf(call, missed),
        ...(call.attempt.telephonyConfigurationId === undefined ? {} : { telephony_status_callbacks: [statusOf(call, ended, disposition)] })
      },
      recordingKey: voice?.recordingKey,
      transcriptKey: undefined,
      usageInfo: {
        llm: {},
        stt: {},
        tts: {},
        call_duration_seconds: answeredAt === undefined ? 0 : Math.round((endedAt - answeredAt) / 10) / 100
      }
    }
  }
}

/** The end of a call about which this process knows only the attempt. */
export const bareEnd = (callId: CallId, ended: CallState & { readonly _tag: "Ended" }): AttemptEnd => {
  const { answeredAt, cause, endedAt } = ended
  const outcome = outcomeOfEnd(ended)
  const disposition = dispositionOf(ended, outcome)
  const gatheredContext = { call_disposition: disposition, call_id: callId, call_tags: [disposition], hangup_cause: cause }
  return {
    answeredAt,
    cause,
    endedAt,
    outcome,
    record: { gatheredContext, logs: {}, recordingKey: undefined, transcriptKey: undefined, usageInfo: {} }
  }
}
