/** Why a call ended, in the words of the carriers of Plivo's dialect. https://www.plivo.com/docs/voice/troubleshooting/hangup-causes */
import type { CallEnd } from "./CallLife.ts"

export interface DialectEnd {
  readonly code: number
  readonly word: string
  readonly name: string
  readonly source: string
  readonly status: "completed" | "busy" | "no-answer" | "timeout" | "cancel" | "failed"
}

/** The reasons for which the carrier itself ends a call. */
export const ownEnds = {
  answerNotFetched: { code: 7011, word: "NORMAL_CLEARING", name: "Error Reaching Answer URL", source: "Error", status: "completed" },
  answerInvalid: { code: 8011, word: "NORMAL_CLEARING", name: "Invalid Answer XML", source: "Error", status: "completed" },
  hangupElement: { code: 4000, word: "NORMAL_CLEARING", name: "Normal Hangup", source: "Answer XML", status: "completed" },
  endOfDocument: { code: 4010, word: "NORMAL_CLEARING", name: "End Of XML Instructions", source: "Plivo", status: "completed" },
  noCredit: { code: 1010, word: "CALL_REJECTED", name: "Out Of Credits", source: "Plivo", status: "failed" },
  machine: { code: 9100, word: "NORMAL_CLEARING", name: "Machine Detected", source: "Plivo", status: "completed" }
} as const satisfies Readonly<Record<string, DialectEnd>>

const refused: Readonly<Record<number, DialectEnd>> = {
  1: { code: 3050, word: "UNALLOCATED_NUMBER", name: "Unallocated Number", source: "Carrier", status: "failed" },
  17: { code: 3010, word: "USER_BUSY", name: "Busy Line", source: "Callee", status: "busy" },
  19: { code: 3000, word: "NO_ANSWER", name: "No Answer", source: "Callee", status: "no-answer" },
  21: { code: 3020, word: "CALL_REJECTED", name: "Rejected", source: "Callee", status: "failed" },
  34: { code: 3090, word: "NORMAL_CIRCUIT_CONGESTION", name: "Network Congestion", source: "Carrier", status: "failed" }
}
const unknown: DialectEnd = { code: 0, word: "NORMAL_UNSPECIFIED", name: "Unknown", source: "Unknown", status: "failed" }

const answeredEnd = ({ by, ending }: CallEnd): DialectEnd => {
  const told = { word: "NORMAL_CLEARING", name: "Normal Hangup", code: 4000, status: "completed" } as const
  if (by === "timeout") return { code: 6000, word: "ALLOTTED_TIMEOUT", name: "Scheduled Hangup", source: "Plivo", status: "completed" }
  if (ending?.cause === 38) return { code: 6020, word: "MEDIA_TIMEOUT", name: "Media Timeout", source: "Error", status: "completed" }
  return { ...told, source: by === "us" ? "API Request" : "Callee" }
}

export const endingOf = (end: CallEnd): DialectEnd => {
  if (end.talkMillis !== undefined) return answeredEnd(end)
  if (end.by === "us") return { code: 1000, word: "ORIGINATOR_CANCEL", name: "Cancelled", source: "API Request", status: "cancel" }
  if (end.by === "timeout") return { code: 6010, word: "NO_ANSWER", name: "Ring Timeout Reached", source: "Plivo", status: "no-answer" }
  return refused[end.ending?.cause ?? 0] ?? unknown
}
