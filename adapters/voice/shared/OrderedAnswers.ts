/** The answers that a recognizer owes, of a service that may finish a later one first: they are emitted in the order in which they were asked for. */
import type { RecognizerEvent } from "#core/model/SpeechToText.ts"

type Final = Extract<RecognizerEvent, { readonly _tag: "Final" }>

interface Owed {
  answer: (() => Final) | undefined
  readonly timer: NodeJS.Timeout
}

export class OrderedAnswers {
  readonly #emit: (event: Final) => void
  readonly #patienceMillis: number
  readonly #late: () => void
  #owed: Array<Owed> = []

  /** `late`: the service has taken longer than `patienceMillis` for an answer. */
  constructor(emit: (event: Final) => void, patienceMillis: number, late: () => void) {
    this.#emit = emit
    this.#patienceMillis = patienceMillis
    this.#late = late
  }

  /**
   * Another answer is owed, which the result is called with, as a function that is called once those before it have been emitted. One that nobody asked
   * for is not emitted if it is empty.
   */
  owe(): (answer: () => Final) => void {
    const owed: Owed = { answer: undefined, timer: setTimeout(this.#late, this.#patienceMillis) }
    this.#owed.push(owed)
    return (answer) => {
      clearTimeout(owed.timer)
      owed.answer = answer
      this.#tell()
    }
  }

  /** Nothing is emitted any more. */
  close(): void {
    for (const { timer } of this.#owed) clearTimeout(timer)
    this.#owed = []
  }

  #tell(): void {
    for (let next = this.#owed[0]; next?.answer !== undefined; next = this.#owed[0]) {
      this.#owed.shift()
      const answer = next.answer()
      if (answer.isForced || answer.text !== "") this.#emit(answer)
    }
  }
}
