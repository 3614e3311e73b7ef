/** The turns of a text chat: which of them count, and their result in the run's record. Pure. */
import { isObject, type JsonObject } from "#core/Json.ts"
import type { FeedbackEvent, RunLogs } from "#core/run/RunRecord.ts"
import type { ChatEvent, ChatTurn, ChatUsage, PlacedTurn } from "./TextChat.ts"

/** Turns that have not been taken back. Those after the cursor are taken back by the next message. */
export const keptTurns = (turns: ReadonlyArray<PlacedTurn>): ReadonlyArray<PlacedTurn> =>
  turns.filter(({ discardedAt }) => discardedAt === null)

/** Up to the turn that the next message continues from. */
export const currentTurns = (turns: ReadonlyArray<PlacedTurn>, cursorTurnId: string | null): ReadonlyArray<PlacedTurn> => {
  const kept = keptTurns(turns)
  const at = cursorTurnId === null ? -1 : kept.findIndex(({ turn }) => turn.id === cursorTurnId)
  return at === -1 ? kept : kept.slice(0, at + 1)
}

interface DiscardedTurns {
  readonly rewoundFrom: string | null
  readonly discardedAt: string
  readonly turns: ReadonlyArray<ChatTurn>
}

/** Turns that were taken back by the same message belong together. */
export const discardedTurns = (turns: ReadonlyArray<PlacedTurn>): ReadonlyArray<DiscardedTurns> => {
  const gone = turns.flatMap(({ discardedAt, rewoundFrom, turn }) => (discardedAt === null ? [] : [{ discardedAt, rewoundFrom, turn }]))
  return [...Map.groupBy(gone, ({ discardedAt, rewoundFrom }) => `${discardedAt} ${rewoundFrom}`).values()]
    .map((together) => ({
      rewoundFrom: together[0]?.rewoundFrom ?? null,
      discardedAt: together[0]?.discardedAt ?? "",
      turns: together.map(({ turn }) => turn)
    }))
    .toSorted((a, b) => (a.discardedAt < b.discardedAt ? -1 : 1))
}

const logged: Partial<Record<ChatEvent["type"], FeedbackEvent["type"]>> = {
  node_transition: "rtf-node-transition",
  tool_call_started: "rtf-function-call-start",
  tool_call_result: "rtf-function-call-end",
  extraction_failed: "rtf-pipeline-error"
}

const eventsOf = ({ assistant_message: answer, events, user_message: message }: ChatTurn, turn: number): ReadonlyArray<FeedbackEvent> => [
  ...(message === null
    ? []
    : [
        {
          type: "rtf-user-transcription" as const,
          payload: { text: message.text, final: true, timestamp: message.created_at },
          timestamp: message.created_at,
          turn
        }
      ]),
  ...events.flatMap(({ created_at: timestamp, payload, type }) => {
    const known = logged[type]
    return known === undefined ? [] : [{ type: known, payload, timestamp, turn }]
  }),
  ...(answer === null
    ? []
    : [
        {
          type: "rtf-bot-text" as const,
          payload: { text: answer.text, timestamp: answer.created_at },
          timestamp: answer.created_at,
          turn
        }
      ])
]

export const logsOf = (turns: ReadonlyArray<PlacedTurn>): RunLogs => ({
  realtime_feedback_events: turns.flatMap(({ turn }, index) => eventsOf(turn, index))
})

/** What was said, from the logs of the run; undefined when that is nothing, or was deleted. */
export const transcriptOf = (logs: JsonObject): string | undefined => {
  const events: unknown = logs["realtime_feedback_events"]
  const speakers: Readonly<Record<string, string>> = { "rtf-user-transcription": "user", "rtf-bot-text": "assistant" }
  const lines = (Array.isArray(events) ? events : []).filter(isObject).flatMap(({ payload, timestamp, type }) => {
    const speaker = speakers[String(type)]
    if (speaker === undefined || !isObject(payload)) return []
    return [`[${String(timestamp)}] ${speaker}: ${String(payload["text"]).replaceAll(/\s+/g, " ").trim()}\n`]
  })
  return lines.length === 0 ? undefined : lines.join("")
}

const summed = (before: JsonObject, more: Readonly<Record<string, number>>): JsonObject => ({
  ...before,
  ...Object.fromEntries(Object.entries(more).map(([name, count]) => [name, Number(before[name] ?? 0) + count]))
})

/** Includes the usage of turns that were taken back. A chat is not a call, so it has no duration. */
export const usedMore = (before: JsonObject | null, more: ChatUsage): JsonObject => {
  const llm = isObject(before?.["llm"]) ? before["llm"] : {}
  const added = Object.entries(more).map(([name, tokens]) => [name, summed(isObject(llm[name]) ? llm[name] : {}, { ...tokens })])
  return { llm: { ...llm, ...Object.fromEntries(added) }, tts: {}, stt: {} }
}
