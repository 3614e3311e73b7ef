/** The record of a call's end and the call's conversation. */
import type { AttemptEnd } from "#core/call/Attempt.ts"
import { byTime } from "#core/conversation/conversationReport.ts"
import type { CollectedConversation } from "#runtime/conversation/ConversationRecords.ts"

/** For the journal: nothing that was said or keyed. The database has it already, or else it is lost with the process. */
export const withoutContent = (end: AttemptEnd): AttemptEnd => {
  const { dtmf_digits: _, ...gatheredContext } = end.record.gatheredContext
  const { realtime_feedback_events: __, ...logs } = end.record.logs
  return { ...end, record: { ...end.record, gatheredContext, logs } }
}

/**
 * What a conversation has come to says more than how its line ended. But to it, every line that ends has been hung up by the callee: of that, the
 * outcome of the call knows more.
 */
const dispositionOf = ({ outcome, record }: AttemptEnd, said: unknown): string | undefined =>
  typeof said === "string" && (outcome === "answered" || said !== "user_hangup") ? said : record.gatheredContext.call_disposition

const tagsIn = (tags: unknown): ReadonlyArray<string> =>
  Array.isArray(tags) ? tags.filter((tag: unknown): tag is string => typeof tag === "string") : []

/** The end of a call whose conversation has left this behind. The engine's own findings win over variables of the same names. */
export const withConversation = (end: AttemptEnd, conversation: CollectedConversation): AttemptEnd => {
  const { record } = end
  const { gathered } = conversation
  const { answered_by, call_disposition: ended, call_tags, ...own } = record.gatheredContext
  const said = gathered["call_disposition"]
  const disposition = dispositionOf(end, said)
  const others = [...tagsIn(call_tags), ...tagsIn(gathered["call_tags"])].filter((tag) => tag !== ended && tag !== said)
  const tags = disposition === undefined ? others : [disposition, ...others]
  // Who answered is the provider's word, unless it does not know.
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
