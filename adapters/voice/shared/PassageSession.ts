/** A call in which a service is given one passage of speech at a time, and asked for its text when the engine asks for one. */
import { sentenceLimits } from "#adapters/shared/SentenceMemory.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { finalOf } from "./finalOf.ts"
import { OrderedAnswers } from "./OrderedAnswers.ts"
import { SpokenPassage } from "./SpokenPassage.ts"

/** What was sent for one text. */
interface Sentence {
  readonly frames: ReadonlyArray<Int16Array>
  readonly span: readonly [fromMillis: number, untilMillis: number]
  /** Undefined until it is known. */
  text: string | undefined
}

export abstract class PassageSession implements RecognizerSession {
  protected readonly emit: (event: RecognizerEvent) => void
  readonly #answers: OrderedAnswers
  readonly #passage = new SpokenPassage({
    pass: (samples) => this.#pass(samples),
    dropped: () => {
      this.#frames = []
      this.drop()
    },
    full: () => this.#take(false)
  })
  #isOver = false
  /** Of the present passage, and of the sentence that it goes on with. */
  #frames: Array<Int16Array> = []
  #goesOn: Sentence | undefined
  /** What was sent last, as long as a text may replace its text. */
  #last: Sentence | undefined
  #settled = 0

  /** `patienceMillis`: how long the service may take for a text. */
  constructor(emit: (event: RecognizerEvent) => void, patienceMillis: number) {
    this.emit = emit
    this.#answers = new OrderedAnswers(emit, patienceMillis, () => this.late())
  }

  abstract hint(hints: RecognizerHints): void
  /** The next frame of the passage. */
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

  settle(): void {
    this.#last = undefined
    this.#settled++
  }

  /** Nothing is emitted any more. */
  close(): void {
    this.#isOver = true
    this.#answers.close()
  }

  /** The text of the present passage will be about the one before it, too. */
  protected get isGoingOn(): boolean {
    return this.#goesOn !== undefined
  }

  protected get isOver(): boolean {
    return this.#isOver
  }

  #pass(samples: Int16Array): void {
    if (this.#frames.length === 0) this.#begin()
    const frame = samples.slice()
    this.#frames.push(frame)
    this.pass(frame)
  }

  /** A pause may have cut a word in two: then the sentence is sent again, from its beginning. */
  #begin(): void {
    const last = this.#last
    const pause = (this.#passage.fromMillis ?? 0) - (last?.span[1] ?? 0)
    const isOne = pause <= sentenceLimits.pauseMillis && last?.text !== "" && (last?.frames.length ?? 0) <= sentenceLimits.frames
    this.#goesOn = isOne ? last : undefined
    for (const frame of this.#goesOn?.frames ?? []) {
      this.#frames.push(frame)
      this.pass(frame)
    }
  }

  #take(isForced: boolean): void {
    const span = this.#passage.take()
    const { millis } = this.#passage
    const answer = this.#answers.owe()
    if (span === undefined) return answer(() => finalOf("", [millis, millis], isForced))
    const before = this.#goesOn
    const sentence: Sentence = { frames: this.#frames, span: [before?.span[0] ?? span[0], span[1]], text: undefined }
    const present = this.#settled
    this.#frames = []
    this.#last = isForced ? sentence : undefined
    this.ask((text) =>
      answer(() => {
        const known = before?.text ?? ""
        const replaces = known !== "" && text !== "" && present === this.#settled
        sentence.text = text === "" ? known : text
        return { ...finalOf(text, sentence.span, isForced), ...(replaces ? { replaces } : {}) }
      })
    )
  }
}
