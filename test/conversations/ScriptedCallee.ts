/**
 * A callee who follows a script by voice: waits until the agent has said something that the script answers, and has then been silent for a moment,
 * however long that takes, and says the answer. A repeated question is answered again, so that nothing depends on the speed of the machine.
 */
import type { CalleeScript, CalleeStep } from "#core/agent/regression/CalleeScript.ts"
import { chooseStep } from "#core/agent/regression/chooseStep.ts"
import { makeTalker, type Move, type Talker } from "#test/emulators/shared/Talker.ts"
import { nowMillis } from "#test/support/until.ts"
import type { SpokenUtterance } from "#test/support/utterances.ts"

/** After this much silence it is the callee's turn. */
const turnMillis = 700
const mostTurns = 60
/** What the agent says after a long silence: the callee then repeats the last answer. */
const checkIn = /^are you still there\b/i
const never = { after: Number.POSITIVE_INFINITY }

export interface AgentLine {
  readonly text: string
  /** When the callee began to hear the line, in epoch milliseconds. */
  readonly at: number
}

export class ScriptedCallee {
  readonly script: CalleeScript
  readonly talker: Talker
  readonly #spoken: ReadonlyMap<string, SpokenUtterance>
  readonly #used = new Map<CalleeStep, number>()
  /** When the last turn began: lines that the agent began earlier do not answer it. */
  #spokeAt = 0
  #next: CalleeStep | undefined
  #last: CalleeStep | undefined

  /** `spoken`: everything that the script may say. */
  constructor(script: CalleeScript, spoken: ReadonlyMap<string, SpokenUtterance>) {
    this.script = script
    this.#spoken = spoken
    const next = () => this.#next
    const say = () => this.#say()
    const move: Move = {
      get cue() {
        return next() === undefined ? never : { afterAgent: turnMillis }
      },
      get says() {
        return say()
      }
    }
    const moves = Array.from({ length: mostTurns }, () => move)
    this.talker = makeTalker(moves, { press: () => {}, hangUp: () => {} })
  }

  /** Takes all lines that the agent has said so far. */
  hear(lines: ReadonlyArray<AgentLine>): void {
    const heard = lines.filter(({ at }) => at > this.#spokeAt).map(({ text }) => text)
    if (heard.length === 0) return
    const step = chooseStep(this.script.callee, this.#used, { node: undefined, heard })
    this.#next = typeof step !== "string" ? step : heard.some((line) => checkIn.test(line)) ? this.#last : undefined
  }

  #say(): SpokenUtterance | undefined {
    const step = this.#next
    if (step?.act._tag !== "Says") return undefined
    this.#spokeAt = nowMillis()
    this.#next = undefined
    this.#last = step
    this.#used.set(step, (this.#used.get(step) ?? 0) + 1)
    return this.#spoken.get(step.act.text)
  }
}
