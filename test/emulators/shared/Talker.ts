/**
 * A callee who holds a conversation: it listens to the agent, makes the next move when its cue comes, and records who spoke when. It runs in the
 * callee's ticks of 20 ms, so it records what the far end heard, and times are as exact as a tick.
 */
import { frameBytes, isLoud, toMulaw } from "#test/emulators/ari/Sound.ts"

const tickMillis = 20
/** Shorter silence is a pause between words. */
const pauseMillis = 300

/** 160-byte frames of mu-law, with whatever pauses the callee makes. */
export interface Utterance {
  readonly text: string
  readonly frames: ReadonlyArray<Buffer>
}

type Cue =
  /** The agent has spoken since the previous move, and has been silent for this long. */
  | { readonly afterAgent: number }
  /** The agent has been speaking for this long since the previous move: the callee talks over it. */
  | { readonly intoAgent: number }
  /** This long after the previous move, or after the answer, whatever the agent does. */
  | { readonly after: number }

export interface Move {
  readonly cue: Cue
  readonly says?: Utterance | undefined
  readonly presses?: string | undefined
  readonly hangsUp?: true | undefined
}

/** Times are milliseconds since the answer. */
interface Turn {
  readonly text: string
  readonly from: number
  /** The end of the last loud frame; undefined while the turn is still being spoken. */
  until: number | undefined
  /** When the agent was first heard after the turn. */
  agentFrom: number | undefined
  /** When the agent was last heard, if it was speaking as the turn began. */
  agentUntil: number | undefined
  /** How often the agent began to speak while the callee paused within the turn. */
  agentInPauses: number
}

export interface Talker {
  /** Runs one tick: hears this frame, if any, and returns the next one to say. */
  readonly next: (heard: Buffer | undefined) => Buffer
  readonly turns: ReadonlyArray<Turn>
  /** All moves have been made. */
  readonly isDone: () => boolean
  /** When the agent began to speak and fell silent, in milliseconds since the answer. */
  readonly agent: ReadonlyArray<{ readonly from: number; until: number }>
}

interface Hands {
  readonly press: (digits: string) => void
  readonly hangUp: () => void
}

const silence = Buffer.alloc(frameBytes, toMulaw(0))

export const makeTalker = (moves: ReadonlyArray<Move>, { hangUp, press }: Hands): Talker => {
  const turns: Array<Turn> = []
  const agent: Array<{ readonly from: number; until: number }> = []
  let ticks = 0
  let made = 0
  /** When the last move was over. */
  let movedAt = 0
  let saying: { readonly frames: ReadonlyArray<Buffer>; at: number; readonly lastLoud: number } | undefined

  const now = () => ticks * tickMillis
  const isAgentSpeaking = () => {
    const last = agent.at(-1)
    return last !== undefined && now() - last.until < pauseMillis
  }
  const hear = (heard: Buffer | undefined) => {
    if (heard === undefined || !isLoud(heard)) return
    const turn = turns.at(-1)
    if (isAgentSpeaking()) {
      const last = agent.at(-1)
      if (last !== undefined) last.until = now() + tickMillis
    } else {
      agent.push({ from: now(), until: now() + tickMillis })
      if (turn?.until === undefined && turn !== undefined) turn.agentInPauses += 1
    }
    if (turn === undefined) return
    if (turn.until === undefined && turn.agentUntil !== undefined && turn.agentInPauses === 0) turn.agentUntil = now() + tickMillis
    if (turn.until !== undefined) turn.agentFrom ??= now()
  }
  const isCued = ({ cue }: Move): boolean => {
    const last = agent.at(-1)
    if ("after" in cue) return now() - movedAt >= cue.after
    if (last === undefined || last.until <= movedAt) return false
    if ("intoAgent" in cue) return now() - Math.max(last.from, movedAt) >= cue.intoAgent && isAgentSpeaking()
    return now() - last.until >= Math.max(cue.afterAgent, pauseMillis)
  }
  const make = (move: Move) => {
    made += 1
    movedAt = now()
    if (move.presses !== undefined) press(move.presses)
    if (move.hangsUp === true) hangUp()
    // Read only once, because a move may decide only now what it says.
    const { says } = move
    if (says === undefined) return
    const { frames, text } = says
    const lastLoud = frames.findLastIndex(isLoud)
    if (lastLoud < 0) throw new Error(`nothing can be heard of "${text}"`)
    saying = { frames, at: 0, lastLoud }
    turns.push({
      text,
      from: now(),
      until: undefined,
      agentFrom: undefined,
      agentUntil: isAgentSpeaking() ? agent.at(-1)?.until : undefined,
      agentInPauses: 0
    })
  }
  const speak = (): Buffer => {
    if (saying === undefined) return silence
    const frame = saying.frames[saying.at] ?? silence
    const turn = turns.at(-1)
    if (saying.at === saying.lastLoud && turn !== undefined) turn.until = movedAt = now() + tickMillis
    saying.at += 1
    if (saying.at >= saying.frames.length) saying = undefined
    return frame
  }
  return {
    turns,
    agent,
    isDone: () => made === moves.length && saying === undefined,
    next: (heard) => {
      hear(heard)
      const move = saying === undefined ? moves[made] : undefined
      if (move !== undefined && isCued(move)) make(move)
      const frame = speak()
      ticks += 1
      return frame
    }
  }
}
