/**
 * A callee of `voice-capacity`, as cheap as possible: waits until the agent has finished, thinks, and answers with the same sentence each
 * time. Runs on its emulator's ticks of 20 ms, and notes how long the agent takes to answer.
 */
import { frameBytes, isLoud, toMulaw } from "#test/emulators/ari/Sound.ts"
import { preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import { makeMouth } from "#test/support/utterances.ts"

const tickMillis = 20
/** Shorter silence is a pause within a line. */
const pauseMillis = 300
/** An agent that is silent for this long has not heard the answer. */
const unansweredMillis = 8000

export interface ConverserPlan {
  readonly says: string
  /** From the end of the agent's line to the answer. */
  readonly thinksMillis: number
}

interface Answer {
  /** When it ended, on the callees' clock. */
  readonly at: number
  /** How long after that the agent was heard. */
  readonly millis: number
  /** Which of the callee's turns it was, from 1. */
  readonly turn: number
}

/** What callees have noted since the last report. */
export interface Conversed {
  readonly answers: ReadonlyArray<Answer>
  /** Answers that the agent did not react to. */
  readonly unanswered: number
  /** The time of all callees together, and how much of it the agent spoke, including its pauses. */
  readonly millis: number
  readonly spokenMillis: number
}

interface Notes {
  answers: Array<Answer>
  unanswered: number
  millis: number
  spokenMillis: number
}

const silence = Buffer.alloc(frameBytes, toMulaw(0))
const fresh = (): Notes => ({ answers: [], unanswered: 0, millis: 0, spokenMillis: 0 })

export const makeConversers = ({ says, thinksMillis }: ConverserPlan) => {
  const { frames } = makeMouth()(says, { voice: "rms" })
  const answer = frames.slice(0, frames.findLastIndex(isLoud) + 1)
  let notes = fresh()

  const join = () => {
    /** The next frame of the answer; undefined while the callee listens. */
    let saying: number | undefined
    /** How long the callee has waited since the end of its answer; undefined once the agent is heard. */
    let waited: number | undefined
    /** How long the agent has been quiet; undefined before it was first loud. */
    let quiet: number | undefined
    let endedAt = 0
    let turn = 0

    const hear = (isAgentLoud: boolean) => {
      if (isAgentLoud) notes.spokenMillis += tickMillis + (quiet !== undefined && quiet <= pauseMillis ? quiet : 0)
      if (waited !== undefined && isAgentLoud) {
        notes.answers.push({ at: endedAt, millis: waited, turn })
        waited = undefined
      } else if (waited !== undefined) waited += tickMillis
      if (isAgentLoud) quiet = 0
      else if (quiet !== undefined) quiet += tickMillis
    }
    const isToAnswer = () => {
      if (waited === undefined) return quiet !== undefined && quiet >= thinksMillis
      if (waited < unansweredMillis) return false
      notes.unanswered++
      return true
    }
    const next = (heard: Buffer | undefined): Buffer => {
      notes.millis += tickMillis
      hear(heard !== undefined && isLoud(heard))
      if (saying === undefined && isToAnswer()) saying = 0
      if (saying === undefined) return silence
      const frame = answer[saying++]
      if (saying >= answer.length) {
        saying = quiet = undefined
        waited = 0
        endedAt = preciseNow()
        turn++
      }
      return frame ?? silence
    }
    return { next }
  }
  const take = (): Conversed => {
    const taken = notes
    notes = fresh()
    return taken
  }
  return { join, take }
}
