/**
 * Speaks the lines of a conversation: has their sentences synthesized as they arrive, plays them in order, and tells the conversation about each
 * line, in order: that it was heard, how much of it was heard, or that it cannot be spoken. Anything the callee has not heard is not reported as
 * said.
 */
import { Effect, type Fiber } from "effect"
import type { ConversationEvent } from "#core/agent/conversation/ConversationState.ts"
import { sampleRate } from "#core/audio/Mulaw.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import { makePlainSpeech } from "#core/voice/PlainSpeech.ts"
import type { WordMark } from "#core/voice/WordMarks.ts"
import type { Speaker } from "#runtime/conversation/ConversationActor.ts"
import type { Played, Playout } from "./Playout.ts"
import { characterMillis, GrowingPiece } from "./GrowingPiece.ts"
import { clauseIn, sentencesOf } from "./Sentences.ts"
import { heardText, type Piece } from "./HeardText.ts"
import type { TakePart } from "./Tts.ts"

const bytesPerMillis = sampleRate / 1000

/** A model that has more to say sends words at much shorter intervals. */
const stallMillis = 300

/** A sentence or a recording. */
export interface MadeSpeech {
  /** Whole frames, shared with other calls, so they must not be written to. */
  readonly speech: Uint8Array
  readonly text: string
}

/** The part of a line that the callee has heard. Times are the pacer's milliseconds. */
interface HeardLine {
  readonly text: string
  readonly from: number
  readonly until: number
}

interface SpeakerPorts {
  readonly playout: Playout
  /**
   * `aheadMillis`: how much is to be heard first. `part` receives speech that arrives in parts, which together form the result. Undefined if
   * nothing in the text can be said. Fails if it cannot be synthesized.
   */
  readonly speak: (text: string, aheadMillis: number, part: TakePart) => Effect.Effect<MadeSpeech | undefined, unknown>
  readonly record: (recording: RecordingName) => Effect.Effect<MadeSpeech, unknown>
  readonly fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly tell: (event: ConversationEvent) => void
  /** The first frame of a line has been sent. */
  readonly begun: (at: number) => void
  readonly heard: (line: HeardLine) => void
}

interface Sentence {
  /** Undefined while it is being synthesized; null if nothing in it can be said. */
  made: MadeSpeech | null | "failed" | undefined
  readonly characters: number
  /** Parts that have arrived while it is being synthesized and have not been handed over yet. */
  readonly parts: Array<Uint8Array>
  /** Undefined while no part has arrived; speech that is delivered whole has none. */
  piece: GrowingPiece | undefined
}

const unmade = (characters: number): Sentence => ({ made: undefined, characters, parts: [], piece: undefined })

class SpokenLine {
  readonly plain = makePlainSpeech()
  /** Plain text that does not form a whole sentence yet. */
  rest = ""
  /** In how many parts the text has arrived. */
  parts = 0
  /** The number of parts after which no further text arrived in time. */
  stalledAt: number | undefined
  isWhole = false
  /** A sentence could not be synthesized: the line ends before it. */
  isBroken = false
  readonly sentences: Array<Sentence> = []
  /** How many sentences have been handed to the playout, or have nothing to say. */
  handed = 0
  /** The pieces handed over; `unheard`: how many of them are not known to have been heard. */
  readonly pieces: Array<Piece> = []
  unheard = 0
  bytes = 0
  /** Where the line begins in the utterance, in bytes. */
  start = 0
  begunAt: number | undefined
  sentAt = 0
  readonly fibers: Array<Fiber.Fiber<void>> = []
  readonly id: number
  readonly isInterruptible: boolean

  constructor(id: number, isInterruptible: boolean) {
    this.id = id
    this.isInterruptible = isInterruptible
  }

  /** Whether nothing more of the line will be handed over. */
  isHandedOver(): boolean {
    return this.isWhole && this.handed >= this.sentences.length
  }
}

export class LineSpeaker implements Speaker {
  readonly #ports: SpeakerPorts
  /** Lines that have not been reported yet, in order. */
  #lines: Array<SpokenLine> = []
  /** The length of the utterance so far. */
  #bytes = 0
  #whenQuiet: Array<() => void> = []

  constructor(ports: SpeakerPorts) {
    this.#ports = ports
  }

  say(id: number, text: string, { isInterruptible, isLast }: Parameters<Speaker["say"]>[2]): void {
    const line = this.#lineOf(id, isInterruptible)
    if (line.isBroken) return
    line.rest += line.plain.push(text) + (isLast ? line.plain.end() : "")
    line.parts++
    const whole = this.#take(line, isLast)
    line.isWhole = isLast
    this.#makeAll(line, whole)
    if (line.parts === 1 && !isLast) line.fibers.push(this.#ports.fork(this.#watch(line)))
  }

  /**
   * Removes from the line what can be spoken already: whole sentences, or at first only a clause if the text arrives bit by bit and the callee
   * is waiting.
   */
  #take(line: SpokenLine, isLast: boolean): ReadonlyArray<string> {
    const { rest } = line
    const sentences = sentencesOf(rest)
    if (isLast) {
      line.rest = ""
      return sentences
    }
    const isAwaited = line.parts > 1 && line.sentences.length === 0 && line === this.#lines[0]
    const end = sentences.length === 1 && isAwaited ? clauseIn(rest) : undefined
    if (end !== undefined) {
      line.rest = rest.slice(end)
      return [rest.slice(0, end).replace(/\s+/g, " ").trim()]
    }
    if (sentences.length > 1) line.rest = `${sentences.at(-1) ?? ""}${/\s$/.test(rest) ? " " : ""}`
    return sentences.slice(0, -1)
  }

  play(id: number, recording: RecordingName, { isInterruptible }: Parameters<Speaker["play"]>[2]): void {
    const line = this.#lineOf(id, isInterruptible)
    line.isWhole = true
    const sentence = unmade(0)
    line.sentences.push(sentence)
    this.#make(line, sentence, this.#ports.record(recording))
  }

  readonly stop = (): void => {
    const { lines, played } = this.#drop(this.#ports.playout.stop())
    for (const line of lines) if (line.begunAt !== undefined) this.#reportCut(line, played)
  }

  /** The callee has silenced the agent, having heard this much of the utterance, or has hung up. */
  interrupted(played: Played | undefined): void {
    const dropped = this.#drop(played)
    for (const line of dropped.lines) {
      if (!line.isHandedOver() || line.bytes === 0 || heardBytes(line, dropped.played) < line.bytes)
        return this.#reportCut(line, dropped.played)
      this.#reportWhole(line)
    }
  }

  isInterruptible(): boolean {
    return this.#lines.every(({ isInterruptible }) => isInterruptible)
  }

  /** Ends once everything to be said has been heard, or never will be. */
  readonly quiet = Effect.callback<void>((resume) => {
    if (this.#lines.length === 0) return resume(Effect.void)
    this.#whenQuiet.push(() => resume(Effect.void))
    return undefined
  })

  #makeAll(line: SpokenLine, texts: ReadonlyArray<string>): void {
    const from = line.sentences.push(...texts.map(({ length }) => unmade(length))) - texts.length
    for (const [index, text] of texts.entries()) {
      const sentence = line.sentences[from + index]
      if (sentence === undefined) continue
      const part: TakePart = (speech, words) => this.#takePart(sentence, text, speech, words)
      this.#make(line, sentence, this.#ports.speak(text, this.#aheadMillisOf(sentence), part))
    }
    this.#play()
  }

  /** If the end of a sentence does not arrive, says what there is rather than nothing. */
  readonly #watch = Effect.fnUntraced(function* (this: LineSpeaker, line: SpokenLine) {
    while (!line.isWhole) {
      const { parts } = line
      yield* Effect.sleep(stallMillis)
      const { rest } = line
      const isStalled = parts === line.parts && !line.isWhole && line === this.#lines[0]
      if (!isStalled || line.handed < line.sentences.length || this.#ports.playout.isUnheard()) continue
      line.stalledAt = parts
      // Only whole words, if there are any.
      const end = /[\s.!?]$/.test(rest) ? rest.length : rest.lastIndexOf(" ") + 1 || rest.length
      line.rest = rest.slice(end)
      this.#makeAll(line, sentencesOf(rest.slice(0, end)))
    }
  })

  #lineOf(id: number, isInterruptible: boolean): SpokenLine {
    const known = this.#lines.find((line) => line.id === id)
    if (known !== undefined) return known
    const line = new SpokenLine(id, isInterruptible)
    this.#lines.push(line)
    return line
  }

  /** Roughly how much is still to be heard before the sentence. */
  #aheadMillisOf(sentence: Sentence): number {
    let characters = 0
    for (const { handed, sentences } of this.#lines) {
      for (let index = handed; index < sentences.length && sentences[index] !== sentence; index++)
        characters += sentences[index]?.characters ?? 0
    }
    const handedOver = (this.#bytes - (this.#ports.playout.played()?.bytes ?? 0)) / bytesPerMillis
    return handedOver + characters * characterMillis
  }

  #make(line: SpokenLine, sentence: Sentence, work: Effect.Effect<MadeSpeech | undefined, unknown>): void {
    const settled = (made: Sentence["made"]) =>
      Effect.sync(() => {
        sentence.made = made
        this.#play()
      })
    line.fibers.push(
      this.#ports.fork(
        Effect.matchCauseEffect(work, {
          onFailure: () => settled("failed"),
          onSuccess: (made) => settled(made ?? null)
        })
      )
    )
  }

  #takePart(sentence: Sentence, text: string, speech: Uint8Array, words: ReadonlyArray<WordMark>): void {
    sentence.piece ??= new GrowingPiece(text, words)
    sentence.piece.add(speech)
    sentence.parts.push(speech)
    this.#play()
  }

  /** Hands over finished speech, in order. */
  #play(): void {
    for (const line of this.#lines) {
      this.#handOver(line)
      if (!line.isHandedOver()) break
      this.#ports.playout.finish(this.#ports.playout.epoch(), ignored)
    }
    this.#report()
  }

  #handOver(line: SpokenLine): void {
    while (line.handed < line.sentences.length) {
      const sentence = line.sentences[line.handed]
      if (sentence === undefined) return
      const { made, parts, piece } = sentence
      if (piece !== undefined) for (const part of parts.splice(0)) this.#append(line, part, piece)
      if (made === undefined) return
      if (made === "failed") return this.#break(line)
      line.handed++
      piece?.end()
      if (made !== null && piece === undefined && made.speech.length > 0)
        this.#append(line, made.speech, { text: made.text, bytes: made.speech.length })
    }
    // The callee would hear nothing of it.
    if (line.stalledAt === line.parts && line.pieces.length === 0) this.#break(line)
  }

  #append(line: SpokenLine, speech: Uint8Array, piece: Piece): void {
    const { playout } = this.#ports
    if (line.pieces.length === 0) line.start = this.#bytes
    if (line.pieces.at(-1) !== piece) line.pieces.push(piece)
    line.bytes += speech.length
    line.unheard++
    this.#bytes += speech.length
    playout.append(playout.epoch(), speech, {
      begun: (at) => {
        if (line.begunAt !== undefined) return
        line.begunAt = at
        this.#ports.begun(at)
      },
      sent: (at) => {
        line.sentAt = at
      },
      played: () => {
        line.unheard--
        this.#report()
      }
    })
  }

  /** Nothing is left out in the middle: what was said before stays said. */
  #break(line: SpokenLine): void {
    line.isBroken = line.isWhole = true
    line.sentences.length = line.handed
    for (const fiber of line.fibers) fiber.interruptUnsafe()
  }

  #report(): void {
    while (true) {
      const [line] = this.#lines
      if (line === undefined || !line.isHandedOver() || line.unheard > 0) break
      this.#lines.shift()
      if (line.pieces.length === 0) this.#ports.tell({ _tag: "LineFailed", line: line.id })
      else this.#reportWhole(line)
    }
    if (this.#lines.length === 0) for (const wake of this.#whenQuiet.splice(0)) wake()
  }

  #reportWhole(line: SpokenLine): void {
    const { heard, tell } = this.#ports
    const { begunAt, sentAt } = line
    const text = heardText(line.pieces, line.bytes)
    heard({ text, from: begunAt ?? sentAt, until: sentAt })
    if (!line.isBroken) return tell({ _tag: "LineSpoken", line: line.id })
    // Reported as an interruption by nobody, so that the agent finds other words for what was not heard.
    tell({ _tag: "LineInterrupted", line: line.id, heard: text })
    tell({ _tag: "CalleeTurn", text: "" })
  }

  #reportCut(line: SpokenLine, played: Played | undefined): void {
    const text = heardText(line.pieces, heardBytes(line, played))
    const until = played?.until ?? line.sentAt
    if (text !== "") this.#ports.heard({ text, from: line.begunAt ?? until, until })
    this.#ports.tell({ _tag: "LineInterrupted", line: line.id, heard: text })
  }

  #drop(played: Played | undefined): { readonly lines: ReadonlyArray<SpokenLine>; readonly played: Played | undefined } {
    const lines = this.#lines
    this.#lines = []
    this.#bytes = 0
    for (const { fibers } of lines) for (const fiber of fibers) fiber.interruptUnsafe()
    for (const wake of this.#whenQuiet.splice(0)) wake()
    return { lines, played }
  }
}

const heardBytes = ({ bytes, start }: SpokenLine, played: Played | undefined): number =>
  Math.max(0, Math.min(bytes, (played?.bytes ?? 0) - start))

const ignored = () => {}
