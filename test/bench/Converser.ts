/**
 * A callee of `voice-capacity`, as cheap as can be: waits until the agent has finished, thinks, and answers with the same sentence each time. Lives in
 * the ticks of its emulator, 20 ms each, and notes how long the agent takes to answer.
 */
import { frameBytes, isLoud, toMulaw } from "#test/emulators/ari/Sound.ts"
import { preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import { makeMouth } from "#test/support/utterances.ts"

const tickMillis = 20
/** Shorter silence is a pause within a line. */
const pauseMillis = 300
/** An agent that says nothing for so long has not heard the answer. */
const unansweredMillis = 8000

export interface ConverserPlan {
  readonly says: string
  /** From the end of the agent's line to the answer. */
  readonly thinksMillis: number
}

interface Answer {
  /** Its end, on the clock of the callees. */
  readonly at: number
  /** How long after that the agent was heard. */
  readonly millis: number
  /** Counted from 1, of the callee. */
  readonly turn: number
}

/** What callees have noted since they were asked last. */
export interface Conversed {
  readonly answers: ReadonlyArray<Answer>
  /** Answers after which nothing came from the agent. */
  readonly unanswered: number
  /** Of all callees together; and how long the agent spoke meanwhile, its pauses included. */
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
    /** Since the end of the answer, until the agent is heard. */
    let waited: number | undefined
    /** Since the agent was loud; undefined before. */
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
