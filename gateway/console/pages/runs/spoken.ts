/** What happened in a call, in its order, and how long each stage took. */
import { happeningOf } from "#gateway/console/base/happenings.ts"
import type { Run } from "#gateway/console/base/types.ts"

interface Happened {
  readonly type: string
  readonly timestamp: string
  readonly payload: Readonly<Record<string, unknown>>
}

export interface Line {
  /** Epoch milliseconds. */
  readonly at: number
  readonly until: number
  /** Undefined: nobody said it, it happened. */
  readonly speaker: "Agent" | "Callee" | undefined
  readonly text: string
}

const speakers: Readonly<Record<string, Line["speaker"]>> = { "rtf-user-transcription": "Callee", "rtf-bot-text": "Agent" }
const text = (value: unknown): string => (typeof value === "string" ? value : "")

const eventsIn = ({ logs }: Pick<Run, "logs">): ReadonlyArray<Happened> => {
  const { realtime_feedback_events: events } = logs ?? {}
  // Cast: `core/conversation/ConversationRecord.ts` writes them.
  return Array.isArray(events) ? (events as ReadonlyArray<Happened>) : []
}

export const linesIn = (run: Pick<Run, "logs">): ReadonlyArray<Line> =>
  eventsIn(run).flatMap(({ payload, timestamp, type }) => {
    const said = speakers[type] === undefined ? happeningOf({ payload, type }) : text(payload["text"])
    if (said === undefined || said === "") return []
    const at = Date.parse(timestamp)
    const until = Date.parse(text(payload["end_timestamp"]))
    return [{ at, until: Number.isNaN(until) ? at : until, speaker: speakers[type], text: said }]
  })

interface Stage {
  readonly name: string
  readonly seconds: number
}
export interface TurnLatency {
  /** How many times the callee had spoken by then. */
  readonly turn: number
  readonly stages: ReadonlyArray<Stage>
}

/** From the end of what the callee said until the agent was heard. */
const WHOLE = "first_audio"

const stageOf = ({ payload, type }: Happened): ReadonlyArray<Stage> => {
  const [name, seconds] =
    type === "rtf-latency-measured" ? [WHOLE, payload["latency_seconds"]] : [text(payload["stage"]), payload["ttfb_seconds"]]
  return name === "" || typeof seconds !== "number" ? [] : [{ name, seconds }]
}

export const latenciesIn = (run: Pick<Run, "logs">): ReadonlyArray<TurnLatency> => {
  const turns = Map.groupBy(eventsIn(run), (event) => Number("turn" in event ? event.turn : 0))
  return [...turns].map(([turn, events]) => ({ turn, stages: events.flatMap(stageOf) })).filter(({ stages }) => stages.length > 0)
}

/** When the call ended, in epoch milliseconds; undefined if nothing says so. */
export const endOf = ({ logs }: Pick<Run, "logs">): number | undefined => {
  const { telephony_status_callbacks: callbacks } = logs ?? {}
  const last: unknown = Array.isArray(callbacks) ? callbacks.at(-1) : undefined
  const at = last !== null && typeof last === "object" && "timestamp" in last ? Date.parse(text(last.timestamp)) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
