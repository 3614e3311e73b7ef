/**
 * A callee of the demo who holds a conversation by audio alone: recognizes the agent's sentences by their sound, and answers once a sentence has been
 * heard and the agent is silent, however long that takes. A repeated question is answered again, so that nothing depends on the speed of the machine.
 */
import { checkIn } from "#adapters/voice/embedded/lines.ts"
import { makeTalker, type Move, type Talker } from "#test/emulators/shared/Talker.ts"
import { type KnownSpeech, placesIn } from "#test/support/knownSpeech.ts"
import { heardOf, type SpokenUtterance } from "#test/support/utterances.ts"
import type { Answer, Conversation } from "./Appointments.ts"

/** After this much silence it is the callee's turn. */
const turnMillis = 700
const mostTurns = 60
/** The share of a sentence that must be heard for it to be understood. */
const leastHeard = 0.6
/** The share of a sentence that is heard before it is interrupted. */
const leastBegun = 0.25
const never = { after: Number.POSITIVE_INFINITY }
const atOnce = { after: 0 }

/** The speech of both sides, by its text. */
export interface Speech {
  readonly agent: ReadonlyMap<string, SpokenUtterance>
  /** The agent's sentences by their sound. */
  readonly known: KnownSpeech
  readonly callees: ReadonlyMap<string, SpokenUtterance>
}

export class TalkingCallee {
  readonly talker: Talker
  readonly #understood: Array<string> = []
  /** The agent's sentences that were understood, in order. */
  readonly understood: ReadonlyArray<string> = this.#understood
  /** How often the callee said or pressed something. */
  turns = 0
  readonly #answers: ReadonlyArray<Answer>
  readonly #speech: Speech
  readonly #placeOf: ReturnType<typeof placesIn>
  /** The sentence that is being heard, and the last of its frames. */
  #hearing: { readonly sentence: string; at: number; isUnderstood: boolean } | undefined
  #next: Answer | undefined
  #last: Answer | undefined
  #hasInterrupted = false

  /** `press` gets the keys one after the other. */
  constructor({ answers }: Conversation, speech: Speech, press: (digit: string) => void) {
    this.#answers = answers
    this.#speech = speech
    this.#placeOf = placesIn(speech.known)
    const cue = () => (this.#next === undefined ? never : this.#next.interrupts === true ? atOnce : { afterAgent: turnMillis })
    const keys = () => this.#next?.presses
    const say = () => this.#say()
    const move: Move = {
      get cue() {
        return cue()
      },
      get presses() {
        return keys()
      },
      get says() {
        return say()
      }
    }
    const pressAll = (digits: string) => {
      for (const digit of digits) press(digit)
    }
    const talker = makeTalker(
      Array.from({ length: mostTurns }, () => move),
      { press: pressAll, hangUp: () => {} }
    )
    const next: Talker["next"] = (frame) => {
      if (frame !== undefined) this.#hear(frame)
      return talker.next(frame)
    }
    this.talker = { ...talker, next }
  }

  #hear(frame: Buffer): void {
    const [sentence, at] = this.#placeOf(heardOf(frame)) ?? []
    if (sentence === undefined || at === undefined) return
    if (this.#hearing?.sentence !== sentence || this.#hearing.at >= at) this.#hearing = { sentence, at, isUnderstood: false }
    this.#hearing.at = at
    const share = at / (this.#speech.agent.get(sentence)?.frames.length ?? at)
    if (share >= leastBegun) this.#interrupt(sentence)
    if (share < leastHeard || this.#hearing.isUnderstood) return
    this.#hearing.isUnderstood = true
    this.#understood.push(sentence)
    const answer = this.#answers.find(({ hears, interrupts }) => hears === sentence && interrupts === undefined)
    this.#next = answer ?? (sentence === checkIn ? this.#last : this.#next)
  }

  /** Interrupts the sentence if the callee is to do so, but only once. */
  #interrupt(sentence: string): void {
    const answer = this.#answers.find(({ hears, interrupts }) => hears === sentence && interrupts === true)
    if (answer === undefined || this.#hasInterrupted) return
    this.#hasInterrupted = true
    this.#next = answer
  }

  #say(): SpokenUtterance | undefined {
    const answer = this.#next
    this.#next = undefined
    this.#last = answer
    this.turns += 1
    return answer?.says === undefined ? undefined : this.#speech.callees.get(answer.says)
  }
}
