/** What emulated recognizers find in the audio of one connection. */
import { decode } from "#core/audio/Mulaw.ts"
import type { MarkedSpeech } from "#test/emulators/shared/MarkedSpeech.ts"

const frameSamples = 160
const frameSeconds = 0.02

/** Times are in seconds of the connection's audio. */
export interface Result {
  readonly text: string
  readonly from: number
  readonly until: number
  readonly isFinal: boolean
  /** It was asked for. */
  readonly isForced: boolean
}

const framesOf = (samples: Int16Array): ReadonlyArray<Int16Array> =>
  Array.from({ length: Math.floor(samples.length / frameSamples) }, (_, at) => samples.subarray(at * frameSamples, (at + 1) * frameSamples))

/** In frames. */
export const linearIn = (data: Buffer): ReadonlyArray<Int16Array> =>
  framesOf(Int16Array.from({ length: Math.floor(data.length / 2) }, (_, at) => data.readInt16LE(at * 2)))
export const mulawIn = (data: Buffer): ReadonlyArray<Int16Array> => framesOf(decode(data))

interface EarOptions {
  readonly hasInterim: boolean
  /** After how much silence a result is final, unless only when it is asked for. */
  readonly endpointFrames?: number
}

export class Ear {
  readonly #speech: MarkedSpeech
  readonly #options: EarOptions
  readonly #tell: (result: Result) => void
  #frames = 0
  #texts: Array<string> = []
  /** What is being said, as far as its beginning has been heard. */
  #said = ""
  #from = 0
  #until = 0
  #newFrames = 0

  constructor(speech: MarkedSpeech, options: EarOptions, tell: (result: Result) => void) {
    this.#speech = speech
    this.#options = options
    this.#tell = tell
  }

  /** How much it has heard since it was last asked. */
  get newFrames(): number {
    return this.#newFrames
  }

  /** Returns the number of frames. */
  hear(frames: ReadonlyArray<Int16Array>): number {
    this.#newFrames += frames.length
    for (const samples of frames) this.#frame(samples)
    return frames.length
  }

  #frame(samples: Int16Array): void {
    const { endpointFrames = Number.POSITIVE_INFINITY, hasInterim } = this.#options
    const text = this.#speech.textIn(samples)
    const isGoingOn = text === "" || text === this.#said
    if (text !== undefined) this.#said = text
    this.#frames++
    if (text === undefined) {
      if (this.#texts.length > 0 && this.#frames * frameSeconds - this.#until >= endpointFrames * frameSeconds) this.finish(false)
      return
    }
    if (this.#texts.length === 0) this.#from = (this.#frames - 1) * frameSeconds
    this.#until = this.#frames * frameSeconds
    if (isGoingOn) return
    this.#texts.push(text)
    if (hasInterim) this.#tell({ text: this.#texts.join(" "), from: this.#from, until: this.#until, isFinal: false, isForced: false })
  }

  finish(isForced: boolean): void {
    if (isForced) this.#newFrames = 0
    const now = this.#frames * frameSeconds
    const isHeard = this.#texts.length > 0
    this.#tell({
      text: this.#texts.join(" "),
      from: isHeard ? this.#from : now,
      until: isHeard ? this.#until : now,
      isFinal: true,
      isForced
    })
    this.#texts = []
  }
}

/** Silence after which the end of a turn is expected, and sure. */
const [eagerFrames, sureFrames] = [5, 13]

export type TurnSign = "start" | "update" | "eager" | "resume" | "end"

/** Finds turns. One in which nothing was said does not begin, and so does not end. */
export class TurnEar {
  readonly #speech: MarkedSpeech
  readonly #tell: (sign: TurnSign, text: string) => void
  #texts: Array<string> = []
  /** What is being said, as far as its beginning has been heard. */
  #said = ""
  #silence = 0

  /** `tell` is given the text of the turn so far. */
  constructor(speech: MarkedSpeech, tell: (sign: TurnSign, text: string) => void) {
    this.#speech = speech
    this.#tell = tell
  }

  /** Returns the number of frames. */
  hear(frames: ReadonlyArray<Int16Array>): number {
    for (const samples of frames) this.#frame(samples)
    return frames.length
  }

  #frame(samples: Int16Array): void {
    const text = this.#speech.textIn(samples)
    const isGoingOn = text === "" || text === this.#said
    if (text !== undefined) this.#said = text
    if (text === undefined) {
      this.#silence++
      if (this.#texts.length > 0 && this.#silence === eagerFrames) this.#sign("eager")
      if (this.#silence === sureFrames) this.finish()
      return
    }
    if (this.#texts.length > 0 && this.#silence >= eagerFrames) this.#sign("resume")
    this.#silence = 0
    if (isGoingOn) return
    this.#texts.push(text)
    this.#sign(this.#texts.length === 1 ? "start" : "update")
  }

  finish(): void {
    if (this.#texts.length === 0) return
    this.#sign("end")
    this.#texts = []
  }

  #sign(sign: TurnSign): void {
    this.#tell(sign, this.#texts.join(" "))
  }
}
