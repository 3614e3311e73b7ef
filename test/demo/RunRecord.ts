/** The part of the service's record of a call that the demo reads. */
import type { Run } from "./Api.ts"

type Details = Readonly<Record<string, unknown>>

const isDetails = (value: unknown): value is Details => typeof value === "object" && value !== null

const textIn = (record: unknown, name: string): string => {
  const value = isDetails(record) ? record[name] : undefined
  return typeof value === "string" ? value : ""
}
export const numberOf = (run: Run): string => textIn(run.initial_context, "phone_number")
export const dispositionOf = (run: Run): string => textIn(run.gathered_context, "call_disposition") || "no disposition"
export const causeOf = (run: Run): string => textIn(run.gathered_context, "hangup_cause") || "no cause"
export const keysOf = (run: Run): string => textIn(run.gathered_context, "dtmf_digits")
/** Who answered, in the engine's opinion; empty if it has none. */
export const answererOf = (run: Run): string => textIn(run.gathered_context, "answered_by")
export const secondsOf = (run: Run): number => Number(run.usage_info?.call_duration_seconds)

/** The variables that the agent has collected. */
export const variablesOf = ({ gathered_context: gathered }: Run): Details => {
  const variables = gathered?.["extracted_variables"]
  return isDetails(variables) ? variables : {}
}

/** The node that was entered last. */
export const nodeOf = ({ gathered_context: gathered }: Run): string => {
  const visited = gathered?.["nodes_visited"]
  return Array.isArray(visited) ? String(visited.at(-1)) : "no node"
}

const recordsIn = (run: Run, name: string): ReadonlyArray<Details> => {
  const records = run.logs?.[name]
  return Array.isArray(records) ? records.filter(isDetails) : []
}

export const endOf = (run: Run): number =>
  Math.max(
    Date.parse(run.created_at),
    ...recordsIn(run, "telephony_status_callbacks").map((entry) => Date.parse(textIn(entry, "timestamp")))
  )

/** The milliseconds from the answer to the first word. */
export const firstWordsOf = (run: Run): ReadonlyArray<number> =>
  recordsIn(run, "realtime_feedback_events").flatMap(({ payload, type }) =>
    type === "rtf-stage-metric" && isDetails(payload) && !("stage" in payload) ? [Number(payload["ttfb_seconds"]) * 1000] : []
  )

export interface Line {
  readonly speaker: "agent" | "callee"
  readonly text: string
  /** When the line begins, counted from the first word of the call. */
  readonly seconds: number
}

const speakers: Readonly<Record<string, Line["speaker"]>> = { "rtf-bot-text": "agent", "rtf-user-transcription": "callee" }

/** What was said, in order. */
export const linesOf = (run: Run): ReadonlyArray<Line> => {
  const said = recordsIn(run, "realtime_feedback_events").flatMap(({ payload, type }) => {
    const speaker = speakers[String(type)]
    return speaker === undefined ? [] : [{ speaker, text: textIn(payload, "text"), at: Date.parse(textIn(payload, "timestamp")) }]
  })
  return said.map(({ at, ...line }) => ({ ...line, seconds: (at - (said[0]?.at ?? at)) / 1000 }))
}
