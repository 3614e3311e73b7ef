/** The transcript of a call, for its file and as events in the run's logs: everything that was said, and the keys pressed. Never logged. */
import type { FeedbackEvent } from "#core/run/RunRecord.ts"

interface Utterance {
  readonly speaker: "assistant" | "user"
  readonly text: string
  readonly at: number
  readonly until: number
}

/** A failure, and the part of the engine in which it happened. */
export interface Problem {
  readonly at: number
  readonly error: string
  readonly processor: string
}

interface Transcript {
  /** Times are epoch milliseconds. Utterances may arrive in any order. */
  readonly said: (utterance: Utterance) => void
  readonly firstAudio: (metric: { readonly at: number; readonly millis: number; readonly engine: string; readonly voice: string }) => void
  readonly problem: (problem: Problem) => void
  /** One line per utterance, `[time] user: text`. Empty if nobody said anything. */
  readonly text: () => string
  readonly events: () => ReadonlyArray<FeedbackEvent>
}

interface Noted {
  readonly type: FeedbackEvent["type"]
  readonly at: number
  readonly payload: FeedbackEvent["payload"]
}

const iso = (at: number): string => new Date(at).toISOString()
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()
const byTime = (a: { readonly at: number }, b: { readonly at: number }): number => a.at - b.at

const noteOf = ({ at, speaker, text, until }: Utterance): Noted => {
  const payload = { text, timestamp: iso(at), end_timestamp: iso(until) }
  return speaker === "user"
    ? { type: "rtf-user-transcription", at, payload: { ...payload, final: true } }
    : { type: "rtf-bot-text", at, payload }
}

const noteOfProblem = ({ at, error, processor }: Problem): Noted => ({
  type: "rtf-pipeline-error",
  at,
  payload: { error, fatal: false, processor }
})

/** `keepsText`: if false, nothing that is said is noted. */
export const makeTranscript = (keepsText: boolean): Transcript => {
  const utterances: Array<Utterance> = []
  const notes: Array<Noted> = []
  return {
    said: (utterance) => {
      if (keepsText) utterances.push({ ...utterance, text: oneLine(utterance.text) })
    },
    firstAudio: ({ at, engine, millis, voice }) => {
      notes.push({ type: "rtf-ttfb-metric", at, payload: { ttfb_seconds: millis / 1000, processor: engine, model: voice } })
    },
    problem: (problem) => {
      notes.push(noteOfProblem(problem))
    },
    text: () =>
      utterances
        .toSorted(byTime)
        .map(({ at, speaker, text }) => `[${iso(at)}] ${speaker}: ${text}\n`)
        .join(""),
    events: () => {
      let turn = 0
      return [...utterances.map(noteOf), ...notes].toSorted(byTime).map(({ at, payload, type }) => {
        if (type === "rtf-user-transcription") turn++
        return { type, payload, timestamp: iso(at), turn }
      })
    }
  }
}

/** The events of a conversation, with a problem that occurred outside of it. */
export const withProblem = (events: ReadonlyArray<FeedbackEvent>, problem: Problem): ReadonlyArray<FeedbackEvent> => {
  const { payload, type } = noteOfProblem(problem)
  const timestamp = iso(problem.at)
  const before = events.filter((event) => event.timestamp <= timestamp)
  return [...before, { type, payload, timestamp, turn: before.at(-1)?.turn ?? 0 }, ...events.slice(before.length)]
}

export interface Piece {
  readonly text: string
  /** Length of its speech. */
  readonly bytes: number
}

/** The part of a text that was heard when only part of its speech was played: whole words, in proportion to the characters. */
const heardPart = ({ bytes, text }: Piece, played: number): string => {
  if (played >= bytes) return text
  const cut = text.slice(0, Math.floor((text.length * Math.max(0, played)) / bytes))
  return cut.slice(0, Math.max(0, cut.lastIndexOf(" ")))
}

/** The part of a text that was heard when `played` bytes of its pieces' speech were played. */
export const heardText = (pieces: ReadonlyArray<Piece>, played: number): string => {
  let rest = played
  const heard: Array<string> = []
  for (const piece of pieces) {
    heard.push(heardPart(piece, rest))
    rest -= piece.bytes
    if (rest <= 0) break
  }
  return heard.join(" ").trim()
}
