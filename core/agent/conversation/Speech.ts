/** Lines: saying them in order, and cutting them short. */
import { type Answer, act, type Line, put, type Scene, nodeOf, type Step } from "./ConversationState.ts"
import { cut, extended, spokenEntry, withEntries } from "./History.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"

interface Manner {
  readonly isInterruptible: boolean
  readonly kind?: Line["kind"]
  /** Whether the line is part of the history that the model sees. */
  readonly isTold?: boolean
}

const lineOf = (id: number, { isInterruptible, kind = "speech" }: Manner, more: Partial<Line>): Line => ({
  id,
  kind,
  isInterruptible,
  isClosed: true,
  characters: 0,
  instead: undefined,
  ...more
})

/** Says a whole line; nothing if it is blank. */
export const say = (step: Step, text: string, manner: Manner): Step => {
  if (text.trim() === "") return step
  const { history, lines, next } = step.state
  const said = put(step, {
    next: next + 1,
    lines: [...lines, lineOf(next, manner, { characters: text.length })],
    ...(manner.isTold === true ? { history: withEntries(history, spokenEntry(next, text)) } : {})
  })
  return act(said, { _tag: "Say", line: next, text, isLast: true, isInterruptible: manner.isInterruptible })
}

/** Says something while the callee has to wait. */
export const fill = (step: Step, scene: Scene): Step => {
  const { fillers } = step.state
  const texts = scene.plan.settings.lines.fillers
  const waiting = put(step, { fillers: fillers + 1, waitedMillis: 0 })
  return say(waiting, texts[fillers % texts.length] ?? "", { isInterruptible: true, kind: "filler" })
}

/** `instead`: see `Line`. */
export const play = (step: Step, recording: RecordingName, manner: Manner, instead?: string): Step => {
  const { lines, next } = step.state
  const played = put(step, { next: next + 1, lines: [...lines, lineOf(next, manner, { instead, characters: recordingCharacters })] })
  return act(played, { _tag: "Play", line: next, recording, isInterruptible: manner.isInterruptible })
}
/** A recording takes as long as a text of this length, at most. */
const recordingCharacters = 2000

/** Says a piece of the completion that is awaited. */
export const sayPiece = (step: Step, scene: Scene, answer: Answer, text: string): Step => {
  const { history, lines, next } = step.state
  const isInterruptible = nodeOf(scene, step.state).allowsInterruption
  const characters = answer.characters + text.length
  if (answer.line === undefined) {
    const begun = put(step, {
      next: next + 1,
      lines: [...lines, lineOf(next, { isInterruptible }, { isClosed: false, characters })],
      history: withEntries(history, spokenEntry(next, text)),
      answer: { ...answer, line: next, characters }
    })
    return act(begun, { _tag: "Say", line: next, text, isLast: false, isInterruptible })
  }
  const { line } = answer
  const goesOn = put(step, {
    lines: lines.map((one) => (one.id === line ? { ...one, characters } : one)),
    history: extended(history, line, text),
    answer: { ...answer, characters }
  })
  return act(goesOn, { _tag: "Say", line, text, isLast: false, isInterruptible })
}

/** The completion has said all it had to say. */
export const closeLine = (step: Step, line: number | undefined): Step => {
  const open = step.state.lines.find(({ id }) => id === line)
  if (open === undefined || open.isClosed) return step
  const lines = step.state.lines.map((one) => (one === open ? { ...one, isClosed: true } : one))
  return act(put(step, { lines }), { _tag: "Say", line: open.id, text: "", isLast: true, isInterruptible: open.isInterruptible })
}

/** Drops every line. They count as unheard until it is reported what was heard of them. */
export const stopSpeaking = (step: Step): Step => {
  const { history, lines } = step.state
  if (lines.length === 0) return step
  return act(put(step, { lines: [], history: lines.reduce((entries, { id }) => cut(entries, id, ""), history) }), { _tag: "StopSpeaking" })
}

export const isDeaf = ({ state: { lines } }: Step): boolean => lines.some(({ isInterruptible }) => !isInterruptible)
