/** What was said in a call. */
import type { Run } from "#gateway/console/base/types.ts"

interface Happened {
  readonly type: string
  readonly timestamp: string
  readonly payload: Readonly<Record<string, unknown>>
}

export interface Line {
  readonly at: string
  readonly speaker: "Agent" | "Callee"
  readonly text: string
}

const speakers: Readonly<Record<string, Line["speaker"]>> = { "rtf-user-transcription": "Callee", "rtf-bot-text": "Agent" }

/** In the order in which it was said. */
export const spokenIn = ({ logs }: Pick<Run, "logs">): ReadonlyArray<Line> => {
  const { realtime_feedback_events: events } = logs ?? {}
  if (!Array.isArray(events)) return []
  // Cast: `core/conversation/conversationReport.ts` writes them.
  return (events as ReadonlyArray<Happened>).flatMap(({ payload: { text }, timestamp: at, type }) => {
    const speaker = speakers[type]
    return speaker === undefined || typeof text !== "string" ? [] : [{ at, speaker, text }]
  })
}
