/** The result of a conversation in its run, from its stored entries, whichever process wrote them. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { type ConversationEntry, type ConversationUsage, latencyStages } from "./ConversationEntry.ts"
import type { Annotations, FeedbackEvent, LatencySummary } from "#core/run/RunRecord.ts"

export interface ConversationReport {
  /** Sorted by time. */
  readonly events: ReadonlyArray<FeedbackEvent>
  readonly gathered: JsonObject
  readonly usage: ConversationUsage
  readonly annotations: Annotations
  /** One line per utterance, `[time] user: text`. Empty when nothing was said, or nothing of it is kept. */
  readonly transcript: string
}

/** The entries in their order. */
export const conversationReport = (entries: ReadonlyArray<ConversationEntry>): ConversationReport => {
  const events = byTime(entries.flatMap((entry) => (entry.kind === "event" ? [entry.content] : [])))
  return {
    events,
    gathered: entries.findLast((entry) => entry.kind === "gathered")?.content ?? {},
    usage: entries.findLast((entry) => entry.kind === "usage")?.content ?? { llm: {}, tts: {}, stt: {} },
    annotations: {
      conversation: { turns: events.reduce((most, { turn }) => Math.max(most, turn), 0), latency_seconds: latenciesIn(events) }
    },
    transcript: events.map(lineOf).join("")
  }
}

/** Keeps the order of entries with equal times: what was cut short is reported after what cut it. */
export const byTime = (events: ReadonlyArray<FeedbackEvent>): ReadonlyArray<FeedbackEvent> =>
  events.toSorted((one, other) => (one.timestamp < other.timestamp ? -1 : one.timestamp > other.timestamp ? 1 : 0))

const speakers: Partial<Record<FeedbackEvent["type"], string>> = { "rtf-user-transcription": "user", "rtf-bot-text": "assistant" }

const lineOf = ({ payload, timestamp, type }: FeedbackEvent): string => {
  const speaker = speakers[type]
  return speaker === undefined ? "" : `[${timestamp}] ${speaker}: ${String(payload["text"])}\n`
}

const secondsIn = ({ payload, type }: FeedbackEvent): { readonly stage: unknown; readonly seconds: unknown } =>
  type === "rtf-latency-measured"
    ? { stage: "first_audio", seconds: payload["latency_seconds"] }
    : { stage: payload["stage"], seconds: payload["ttfb_seconds"] }

const latenciesIn = (events: ReadonlyArray<FeedbackEvent>): Readonly<Record<string, LatencySummary>> => {
  const measured = events.filter(({ payload }) => isObject(payload)).map(secondsIn)
  return Object.fromEntries(
    latencyStages.flatMap((stage) => {
      const seconds = measured.flatMap((one) => (one.stage === stage && typeof one.seconds === "number" ? [one.seconds] : []))
      return seconds.length === 0 ? [] : [[stage, summaryOf(seconds.toSorted((a, b) => a - b))] as const]
    })
  )
}

/** `sorted`: ascending, and not empty. */
export const summaryOf = (sorted: ReadonlyArray<number>): LatencySummary => {
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) }
}
