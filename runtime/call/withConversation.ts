/** Combines the record of a call's end with the call's conversation. */
import type { AttemptEnd } from "#core/call/Attempt.ts"
import { byTime } from "#core/conversation/conversationReport.ts"
import type { CollectedConversation } from "#runtime/conversation/ConversationRecords.ts"

/** For the journal: nothing that was said or keyed. Either the database already has that, or it is lost with the process. */
export const withoutContent = (end: AttemptEnd): AttemptEnd => {
  const { dtmf_digits: _, ...gatheredContext } = end.record.gatheredContext
  const { realtime_feedback_events: __, ...logs } = end.record.logs
  return { ...end, record: { ...end.record, gatheredContext, logs } }
}

/**
 * A conversation's own disposition says more than how its line ended. But the conversation takes every ended line for a hangup by the callee; in
 * that case the call's outcome is more reliable.
 */
const dispositionOf = ({ outcome, record }: AttemptEnd, said: unknown): string | undefined =>
  typeof said === "string" && (outcome === "answered" || said !== "user_hangup") ? said : record.gatheredContext.call_disposition

const tagsIn = (tags: unknown): ReadonlyArray<string> =>
  Array.isArray(tags) ? tags.filter((tag: unknown): tag is string => typeof tag === "string") : []

/** The end of a call, with what its conversation left behind. The engine's own findings win over variables of the same names. */
export const withConversation = (end: AttemptEnd, conversation: CollectedConversation): AttemptEnd => {
  const { record } = end
  const { gathered } = conversation
  const { answered_by, call_disposition: ended, call_tags, ...own } = record.gatheredContext
  const said = gathered["call_disposition"]
  const disposition = dispositionOf(end, said)
  const others = [...tagsIn(call_tags), ...tagsIn(gathered["call_tags"])].filter((tag) => tag !== ended && tag !== said)
  const tags = disposition === undefined ? others : [disposition, ...others]
  // The provider decides who answered, unless its answer is `unknown`.
  const isAnswererKnown = answered_by !== undefined && (answered_by !== "unknown" || gathered["answered_by"] === undefined)
  return {
    ...end,
    record: {
      ...record,
      gatheredContext: {
        ...gathered,
        ...own,
        ...(isAnswererKnown ? { answered_by } : {}),
        ...(disposition === undefined ? {} : { call_disposition: disposition, mapped_call_disposition: disposition }),
        call_tags: [...new Set(tags)]
      },
      logs: { ...record.logs, realtime_feedback_events: byTime([...(record.logs.realtime_feedback_events ?? []), ...conversation.events]) },
      annotations: conversation.annotations,
      transcriptKey: conversation.transcriptKey,
      usageInfo: {
        ...record.usageInfo,
        llm: { ...record.usageInfo.llm, ...conversation.usage.llm },
        tts: { ...record.usageInfo.tts, ...conversation.usage.tts },
        stt: { ...record.usageInfo.stt, ...conversation.usage.stt }
      }
    }
  }
}
