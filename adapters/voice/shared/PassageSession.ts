/** A call in which a service is given one passage of speech at a time, and asked for its text when the engine asks for one. */
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { finalOf } from "./finalOf.ts"
import { OrderedAnswers } from "./OrderedAnswers.ts"
import { SpokenPassage } from "./SpokenPassage.ts"

export abstract class PassageSession implements RecognizerSession {
  protected readonly emit: (event: RecognizerEvent) => void
  readonly #answers: OrderedAnswers
  readonly #passage = new SpokenPassage({
    pass: (samples) => this.pass(samples),
    dropped: () => this.drop(),
    full: () => this.#take(false)
  })
  #isOver = false

  /** `patienceMillis`: how long the service may take for a text. */
  constructor(emit: (event: RecognizerEvent) => void, patienceMillis: number) {
    this.emit = emit
    this.#answers = new OrderedAnswers(emit, patienceMillis, () => this.late())
  }

  abstract hint(hints: RecognizerHints): void
  /** The next frame of the passage, which is reused. */
  protected abstract pass(samples: Int16Array): void
  /** Nobody will ask for the text of the passage. */
  protected abstract drop(): void
  /** The passage is over. `tell` is called with its text, which is empty if nothing was said after all, or the session fails. */
  protected abstract ask(tell: (text: string) => void): void
  /** A text has not come in time. */
  protected abstract late(): void

  write(samples: Int16Array, isSpeech?: boolean): void {
    if (!this.#isOver) this.#passage.write(samples, isSpeech)
  }

  finalize(): void {
    if (!this.#isOver) this.#take(true)
  }

  /** Nothing is emitted any more. */
  close(): void {
    this.#isOver = true
    this.#answers.close()
  }

  protected get isOver(): boolean {
    return this.#isOver
  }

  #take(isForced: boolean): void {
    const span = this.#passage.take()
    const { millis } = this.#passage
    const answer = this.#answers.owe()
    if (span === undefined) answer(finalOf("", [millis, millis], isForced))
    else this.ask((text) => answer(finalOf(text, span, isForced)))
  }
}
