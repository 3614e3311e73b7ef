/**
 * Whose turn it is: from the callee's voice and its transcript to what was said, once the callee has finished.
 *
 *     Idle --voice--> Speaking --pause--> Waiting --delay--> Idle, committed
 *                        ^---voice again-----'
 *
 * The delay depends on how complete the callee's answer is. Meanwhile, the agent's reply may be generated, but not spoken or acted on: voice
 * before the commit discards it, and keeps what was said so far. Pure: times come in on the events, `deadlineOf` says when the next one is due.
 */
import { notUnderstood } from "#core/model/SpeechToText.ts"

export type TurnEvent =
  | { readonly _tag: "VoiceStarted"; readonly at: number }
  /** There has been no voice since `since`. */
  | { readonly _tag: "VoicePaused"; readonly at: number; readonly since: number }
  /**
   * Each final text follows the earlier ones; a text that is not final replaces the previous one. `isForced`: it answers a `Finalize`; each one
   * is answered in order, if only with an empty text. `isUnclear`: something was said that could not be understood. `replaces`: the final text before it is
   * part of this one.
   */
  | {
      readonly _tag: "Transcribed"
      readonly at: number
      readonly text: string
      readonly isFinal: boolean
      readonly isForced: boolean
      readonly isUnclear?: boolean
      readonly replaces?: boolean
    }
  | { readonly _tag: "Judged"; readonly at: number; readonly revision: number; readonly probability: number }
  /** From a recognizer that owns turns: it expects the end, it was wrong about that, or it is certain. */
  | { readonly _tag: "EndForeseen"; readonly at: number; readonly text: string }
  | { readonly _tag: "EndRevoked"; readonly at: number }
  | { readonly _tag: "EndDeclared"; readonly at: number; readonly text: string }
  /** The deadline has passed. */
  | { readonly _tag: "Passed"; readonly at: number }

export type TurnCommand =
  /** Asks the recognizer to transcribe what it has heard. */
  | { readonly _tag: "Finalize" }
  /** Asks the end-of-turn model, whose answer comes as `Judged` with this revision. */
  | { readonly _tag: "Judge"; readonly revision: number; readonly text: string }
  /** Allows generating an answer to this text, but neither speaking any of it nor calling tools. */
  | { readonly _tag: "Speculate"; readonly text: string }
  | { readonly _tag: "CancelSpeculation" }
  /** `isForeseen` means that the last speculation answers this text. */
  | { readonly _tag: "Commit"; readonly text: string; readonly from: number; readonly until: number; readonly isForeseen: boolean }
  /** What was heard was not speech. */
  | { readonly _tag: "Abandon" }

interface Turn {
  readonly from: number
  /** The final texts before the newest, which none replaces any more. */
  readonly settled: string
  readonly final: string
  /** Continues the final text, and will be replaced. */
  readonly partial: string
  readonly speculations: number
  readonly foreseen: string | undefined
}

interface Awaited {
  /** Counts changes, so that late judgements are recognized. */
  readonly revision: number
  /** How many `Finalize` of earlier turns the recognizer has yet to answer. */
  readonly stale: number
  /** After this time, those answers are no longer expected: later transcripts belong to the current turn. */
  readonly staleUntil: number
}

interface Heard extends Awaited {
  readonly turn: Turn
  /** How many `Finalize` of this turn the recognizer has yet to answer. */
  readonly owed: number
}

interface Waiting extends Heard {
  readonly _tag: "Waiting"
  readonly since: number
  /** The model's answer for the current revision, which was requested at `askedAt`. */
  readonly probability: number | undefined
  readonly askedAt: number
  /** Before this time, a text that came after everything else had been transcribed may turn out to be the beginning of more. */
  readonly freshUntil: number
}

export type TurnState = ({ readonly _tag: "Idle" } & Awaited) | ({ readonly _tag: "Speaking" } & Heard) | Waiting

/** Of the recognizer; see `SpeechToText`. */
export interface TurnOptions {
  readonly ownsTurns: boolean
  readonly turnEndMillis?: number | undefined
}

interface TurnStep {
  readonly state: TurnState
  readonly commands: ReadonlyArray<TurnCommand>
}

const completeMillis = 200
const neutralMillis = { least: 500, most: 600 }
const incompleteMillis = { least: 1000, most: 1500 }
const completeProbability = 0.8
const incompleteProbability = 0.3
const longestWaitMillis = 3000
const longestWaitWithoutTextMillis = 5000
/** Unless it says otherwise, a recognizer that owns turns has missed the end if it has not declared it by then. */
const usualTurnEndMillis = 1500
const longestStaleMillis = 2000
const mostSpeculations = 3
const unjudged = 0.5
/** The minimum time for judging a text, however late it arrives. */
const judgeMillis = 100
/** How long it takes to notice the voice whose first words a recognizer has already understood. */
const freshMillis = 200
/** A callee who has spoken for longer than this is not expected to stop at this pause. */
const longestForeseeableMillis = 10_000

export const initialTurn: TurnState = { _tag: "Idle", revision: 0, stale: 0, staleUntil: 0 }

/** The time from the last voice to the end of a turn that is complete with this probability. */
export const delayOf = (probability: number): number => {
  if (probability >= completeProbability) return completeMillis
  const between = (most: number, least: number, share: number) => most + (least - most) * share
  return probability >= incompleteProbability
    ? between(
        neutralMillis.most,
        neutralMillis.least,
        (probability - incompleteProbability) / (completeProbability - incompleteProbability)
      )
    : between(incompleteMillis.most, incompleteMillis.least, probability / incompleteProbability)
}

type Transcribed = Extract<TurnEvent, { readonly _tag: "Transcribed" }>

const joined = (...parts: ReadonlyArray<string>): string => parts.filter((part) => part !== "").join(" ")
const textOf = ({ final, partial, settled }: Turn): string => joined(settled, final, partial)

/** When `Passed` is due; undefined if nothing is awaited. */
export const deadlineOf = (state: TurnState, { ownsTurns, turnEndMillis = usualTurnEndMillis }: TurnOptions): number | undefined => {
  if (state._tag !== "Waiting") return undefined
  const { askedAt, freshUntil, owed, probability, since, turn } = state
  if (textOf(turn) === "") return since + longestWaitWithoutTextMillis
  if (ownsTurns) return since + turnEndMillis
  if (owed > 0) return since + longestWaitMillis
  const judged = probability === undefined ? Math.max(since + delayOf(unjudged), askedAt + judgeMillis) : since + delayOf(probability)
  return Math.max(judged, freshUntil)
}

const beginning = (from: number): Turn => ({ from, settled: "", final: "", partial: "", speculations: 0, foreseen: undefined })
const only = (state: TurnState, ...commands: ReadonlyArray<TurnCommand>): TurnStep => ({ state, commands })
const cancelled = ({ foreseen }: Turn): ReadonlyArray<TurnCommand> => (foreseen === undefined ? [] : [{ _tag: "CancelSpeculation" }])

export const nextTurn = (before: TurnState, event: TurnEvent, options: TurnOptions): TurnStep => {
  const state = before.stale > 0 && !isStale(before, event.at) ? { ...before, stale: 0 } : before
  switch (event._tag) {
    case "VoiceStarted":
      return onVoice(state, event.at)
    case "VoicePaused":
      return onPause(state, event, options)
    case "Transcribed":
      return settled(onText(state, event), event.at, options)
    case "Judged":
      return settled(onJudged(state, event), event.at, options)
    case "EndForeseen":
      return onForeseen(state, event.at, event.text)
    case "EndRevoked":
      return onRevoked(state)
    case "EndDeclared":
      return onDeclared(state, event.at, event.text, options)
    case "Passed":
      return settled(only(state), event.at, options)
  }
}

/** The recognizer has yet to report what was said. */
export const isAwaited = (state: TurnState): boolean => state._tag !== "Idle" && state.owed > 0

/** A text that comes now answers a `Finalize` of an earlier turn, which is over: it is disregarded. */
export const isStale = (state: TurnState, at: number): boolean => state.stale > 0 && at < state.staleUntil

/** What has been heard so far was not a turn. */
export const forgetTurn = (state: TurnState, at: number): TurnStep =>
  state._tag === "Idle" ? only(state) : only(idleAfter(state, at), ...cancelled(state.turn))

const onVoice = (state: TurnState, at: number): TurnStep => {
  if (state._tag === "Speaking") return only(state)
  const revision = state.revision + 1
  if (state._tag === "Idle") return only({ ...state, _tag: "Speaking", revision, owed: 0, turn: beginning(at) })
  return only({ ...state, _tag: "Speaking", revision, turn: { ...state.turn, foreseen: undefined } }, ...cancelled(state.turn))
}

const onPause = (
  state: TurnState,
  { at, since }: Extract<TurnEvent, { readonly _tag: "VoicePaused" }>,
  { ownsTurns }: TurnOptions
): TurnStep => {
  if (state._tag !== "Speaking") return only(state)
  const revision = state.revision + 1
  const text = textOf(state.turn)
  // A recognizer that owns turns owes the end of this one.
  const owed = ownsTurns ? 1 : state.owed + 1
  const waiting: Waiting = { ...state, _tag: "Waiting", since, owed, revision, probability: undefined, askedAt: at, freshUntil: at }
  if (ownsTurns) return only(waiting)
  return only(waiting, { _tag: "Finalize" }, ...(text === "" ? [] : [{ _tag: "Judge", revision, text } as const]))
}

/** Speech that could not be understood is represented by a fixed text until something is understood after all. */
const withText = (turn: Turn, { isFinal, isUnclear = false, replaces = false, text }: Transcribed): Turn => {
  const trimmed = text.trim()
  if (isUnclear && joined(turn.settled, turn.final) === "") return { ...turn, partial: notUnderstood }
  if (isFinal && trimmed === "") return turn.partial === notUnderstood ? turn : { ...turn, partial: "" }
  if (!isFinal) return { ...turn, partial: trimmed }
  return { ...turn, settled: replaces ? turn.settled : joined(turn.settled, turn.final), final: trimmed, partial: "" }
}

const onText = (state: TurnState, event: Transcribed): TurnStep => {
  const { at, isFinal, isForced, text } = event
  // Recognizers answer in order, so until the last stale answer has arrived, texts belong to an earlier turn.
  if (state.stale > 0) return only({ ...state, stale: isForced ? state.stale - 1 : state.stale })
  if (state._tag === "Idle") {
    // The voice was too short or too faint to be detected, but it was understood.
    if (!isFinal || text.trim() === "") return only(state)
    return onText(
      { ...state, _tag: "Waiting", turn: beginning(at), since: at, owed: 0, probability: undefined, askedAt: at, freshUntil: at },
      event
    )
  }
  const turn = withText(state.turn, event)
  const owed = isForced ? Math.max(0, state.owed - 1) : state.owed
  const now = textOf(turn)
  if (state._tag === "Speaking" || now === textOf(state.turn)) return only({ ...state, turn, owed })
  const revision = state.revision + 1
  const freshUntil = isFinal || state.owed > 0 ? at : at + freshMillis
  const waiting: Waiting = {
    ...state,
    turn: { ...turn, foreseen: undefined },
    owed,
    revision,
    probability: undefined,
    askedAt: at,
    freshUntil
  }
  return only(waiting, ...cancelled(turn), ...(now === "" ? [] : [{ _tag: "Judge", revision, text: now } as const]))
}

const onJudged = (state: TurnState, { probability, revision }: Extract<TurnEvent, { readonly _tag: "Judged" }>): TurnStep =>
  state._tag === "Waiting" && state.revision === revision ? only({ ...state, probability }) : only(state)

/** Commits the turn if it is over, or starts to speculate about its answer. */
const settled = ({ commands, state }: TurnStep, at: number, options: TurnOptions): TurnStep => {
  if (state._tag !== "Waiting") return { state, commands }
  const text = textOf(state.turn)
  // The recognizer has finished and found nothing to understand.
  if (text === "" && state.owed === 0) return onNothing(state, at, commands)
  if (at >= (deadlineOf(state, options) ?? Number.POSITIVE_INFINITY))
    return text === "" ? onSilence(state, at, options, commands) : over(state, at, commands)
  if (options.ownsTurns || !isForeseeable(state)) return { state, commands }
  return foresee(state, text, commands)
}

const isForeseeable = ({ owed, probability, since, turn }: Waiting): boolean =>
  owed === 0 &&
  probability !== undefined &&
  probability >= incompleteProbability &&
  turn.speculations < mostSpeculations &&
  since - turn.from <= longestForeseeableMillis

const foresee = (state: Waiting, text: string, before: ReadonlyArray<TurnCommand>): TurnStep => {
  const { turn } = state
  if (turn.foreseen === text || text === "") return { state, commands: before }
  const speculated: Waiting = { ...state, turn: { ...turn, foreseen: text, speculations: turn.speculations + 1 } }
  return { state: speculated, commands: [...before, ...cancelled(turn), { _tag: "Speculate", text }] }
}

const idleAfter = ({ owed, revision, stale }: Heard, at: number): TurnState => ({
  _tag: "Idle",
  revision: revision + 1,
  stale: stale + owed,
  staleUntil: at + longestStaleMillis
})

const onNothing = (state: Waiting, at: number, before: ReadonlyArray<TurnCommand>): TurnStep => ({
  state: idleAfter(state, at),
  commands: [...before, ...cancelled(state.turn), { _tag: "Abandon" }]
})

/** The recognizer has not said what the callee said. If it owns turns, it may have found that it was nothing. */
const onSilence = (state: Waiting, at: number, { ownsTurns }: TurnOptions, before: ReadonlyArray<TurnCommand>): TurnStep =>
  ownsTurns ? onNothing(state, at, before) : over({ ...state, turn: { ...state.turn, partial: notUnderstood } }, at, before)

/** Commits the turn. A pending request to judge it is dropped. */
const over = (state: Waiting, at: number, before: ReadonlyArray<TurnCommand>): TurnStep => {
  const { since, turn } = state
  const text = textOf(turn)
  const isForeseen = turn.foreseen === text
  const commit: TurnCommand = { _tag: "Commit", text, from: turn.from, until: since, isForeseen }
  const left = before.filter(({ _tag }) => _tag !== "Judge")
  return { state: idleAfter(state, at), commands: [...left, ...(isForeseen ? [] : cancelled(turn)), commit] }
}

/** The declared text is the whole turn. */
const declared = (state: TurnState, at: number, text: string): Waiting => {
  const turn = state._tag === "Idle" ? beginning(at) : state.turn
  const since = state._tag === "Waiting" ? state.since : at
  const revision = state.revision + 1
  return {
    ...state,
    _tag: "Waiting",
    turn: { ...turn, settled: "", final: text.trim(), partial: "" },
    since,
    owed: 0,
    revision,
    probability: undefined,
    askedAt: at,
    freshUntil: at
  }
}

const onForeseen = (state: TurnState, at: number, text: string): TurnStep => {
  const waiting = declared(state, at, text)
  const isBounded = waiting.turn.speculations < mostSpeculations && waiting.since - waiting.turn.from <= longestForeseeableMillis
  return isBounded ? foresee(waiting, text.trim(), []) : only(waiting)
}

const onRevoked = (state: TurnState): TurnStep =>
  state._tag === "Waiting"
    ? only(
        { ...state, _tag: "Speaking", revision: state.revision + 1, turn: { ...state.turn, foreseen: undefined } },
        ...cancelled(state.turn)
      )
    : only(state)

const onDeclared = (state: TurnState, at: number, text: string, { ownsTurns }: TurnOptions): TurnStep => {
  // It declares the end of a turn that has already been committed without it.
  if (ownsTurns && state._tag === "Idle" && state.stale > 0) return only({ ...state, stale: state.stale - 1 })
  const waiting = declared(state, at, text)
  return text.trim() === "" ? onNothing(waiting, at, []) : over(waiting, at, [])
}
