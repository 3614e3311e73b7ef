/**
 * What the agent says, piece by piece as it is made, and how much of it the callee has heard: what was sent, minus what the carrier has not
 * played yet. An utterance is identified by its epoch. Anything that stops it starts the next epoch, and pieces of earlier epochs are dropped.
 * Plain callbacks; allocates nothing per frame.
 */
import { frameMillis, frameSize, sampleRate, silence } from "#core/audio/Mulaw.ts"
import type { MediaStream } from "#core/provider/Media.ts"

/** How much of an utterance the callee has heard, and when, in the pacer's milliseconds. */
export interface Played {
  readonly from: number
  /** When its last frame so far was sent. */
  readonly until: number
  /** Counted over all pieces of the utterance, in order. */
  readonly bytes: number
}

interface PieceHooks {
  /** The first frame of the piece was sent. Called once. */
  readonly begun?: (at: number) => void
  /** The last frame was sent; called again if audio that the carrier had not played is sent again. */
  readonly sent?: (at: number) => void
  /** The callee has heard all of it. Called at most once. */
  readonly played?: () => void
}

interface Piece {
  readonly name: string
  readonly speech: Uint8Array
  readonly hooks: PieceHooks
  /** When there was something to send. A frame that is late was due before that. */
  readonly madeAt: number
  /** Where it ends in its utterance, in bytes. */
  readonly end: number
  hasBegun: boolean
  /** When its first sample was sent, or would have been without the pauses in between. */
  startedAt: number | undefined
  /** When its last frame was sent, and the carrier was asked to report it. */
  sentAt: number | undefined
  /** The tick at which it counts as played without a mark; undefined: a mark will report it. */
  dueTick: number | undefined
}

/** Half a second: longer than any carrier buffers of a stream sent in real time. */
const unmarkedTicks = 25
/** How often, while the agent speaks, a mark is sent to measure how far behind the carrier is. */
const probeMillis = 1000
/** A carrier that takes longer to report a mark does not report marks; after a while the adapter does so in its place. */
const longestDelayMillis = 1000
const bytesPerMillis = sampleRate / 1000

interface Probe {
  readonly name: string
  readonly at: number
  /** How much of the utterance had been sent. */
  readonly bytes: number
}

export class Playout {
  readonly #now: () => number
  readonly #frame = new Uint8Array(frameSize)
  #media: MediaStream | undefined
  #epoch = 1
  #names = 0
  /** Pieces not known to have been played, in order. Those before `#reading` have been sent, and that one up to `#at`. */
  readonly #pieces: Array<Piece> = []
  #reading = 0
  #at = 0
  #isPaused = false
  /** Bytes of the utterance that have been appended, sent, and known to be played. */
  #end = 0
  #sent = 0
  #heard = 0
  #from = 0
  #until = 0
  #ticks = 0
  /** Called once the whole utterance has been played; undefined while more pieces may come. */
  #finished: (() => void) | undefined
  /** The time from sending a frame until the carrier reports that it was played. */
  #delayMillis = 0
  /** The mark that will measure the delay next, until the carrier has answered it. */
  #probe: Probe | undefined
  #probedAt = Number.NEGATIVE_INFINITY
  #isAnswering = true

  /** `now` is the pacer's clock. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Continues over this stream, with the next sample that has not been sent. */
  over(media: MediaStream): void {
    this.#media = media
    this.#isAnswering = true
    this.#delayMillis = 0
    this.#probe = undefined
    // The marks were lost with the previous stream.
    for (let index = 0; index < this.#reading; index++) this.#expectUnmarked(index)
  }

  epoch(): number {
    return this.#epoch
  }

  /**
   * Adds speech to the utterance: whole frames, which must not change afterwards. False if the utterance was stopped and the piece is dropped.
   */
  append(epoch: number, speech: Uint8Array, hooks: PieceHooks = {}): boolean {
    if (epoch !== this.#epoch) return false
    this.#end += speech.length
    this.#pieces.push({
      name: String(++this.#names),
      speech,
      hooks,
      madeAt: this.#now(),
      end: this.#end,
      hasBegun: false,
      startedAt: undefined,
      sentAt: undefined,
      dueTick: undefined
    })
    return true
  }

  /**
   * No more pieces will follow. `played` is called at the next tick after the callee has heard all of them, and never if the utterance is
   * stopped first.
   */
  finish(epoch: number, played: () => void): void {
    if (epoch === this.#epoch) this.#finished = played
  }

  /** Silences the agent, drops the rest, and starts the next epoch. Returns what was heard; undefined if nothing was. */
  stop(): Played | undefined {
    const played = this.played()
    this.#clear()
    this.#epoch++
    this.#pieces.length = 0
    this.#finished = undefined
    this.#reading = this.#at = this.#end = this.#sent = this.#heard = 0
    this.#isPaused = false
    return played
  }

  /** Silences the agent until `resume`, which continues with the first sample that was not heard. */
  pause(): void {
    if (this.#isPaused) return
    const heard = this.played()?.bytes ?? 0
    this.#clear()
    this.#isPaused = true
    while ((this.#pieces[0]?.end ?? Number.POSITIVE_INFINITY) <= heard) this.#settleFirst()
    const first = this.#pieces[0]
    this.#reading = 0
    this.#at = first === undefined ? 0 : heard - (first.end - first.speech.length)
    this.#sent = this.#heard = heard
    for (const piece of this.#pieces) piece.startedAt = piece.sentAt = piece.dueTick = undefined
  }

  resume(): void {
    this.#isPaused = false
  }

  /** How much of the utterance has been heard so far; undefined before its first frame. */
  played(): Played | undefined {
    if (this.#sent === 0) return undefined
    // A frame has been played once the delay after it was sent has passed.
    const sentUntil = this.#now() - this.#delay() + frameMillis
    let bytes = this.#heard
    for (let index = 0; index <= this.#reading; index++) {
      const piece = this.#pieces[index]
      if (piece?.startedAt === undefined) break
      const heard = Math.floor((sentUntil - piece.startedAt) * bytesPerMillis)
      bytes = Math.max(bytes, Math.min(this.#sent, piece.end, piece.end - piece.speech.length + heard))
    }
    return { from: this.#from, until: this.#until, bytes }
  }

  /** Whether there is speech to send now. */
  isSpeaking(): boolean {
    return !this.#isPaused && this.#reading < this.#pieces.length
  }

  /** Whether there is speech that the callee is not known to have heard. */
  isUnheard(): boolean {
    return this.#pieces.length > 0
  }

  /** How much speech of the utterance is still to be heard; infinite while more pieces may come. */
  leftMillis(): number {
    return this.#finished === undefined ? Number.POSITIVE_INFINITY : (this.#end - (this.played()?.bytes ?? 0)) / bytesPerMillis
  }

  /** The next frame of speech, valid until the next call; undefined if there is none to send. */
  take(now: number): Uint8Array | undefined {
    if (!this.isSpeaking()) return undefined
    if (this.#sent === 0) this.#from = now
    this.#until = now
    let filled = 0
    while (filled < frameSize && this.#reading < this.#pieces.length) filled = this.#copy(filled, now)
    this.#sent += filled
    if (filled < frameSize) this.#frame.fill(silence, filled)
    return this.#frame
  }

  /** Called at each tick, after its frame has been sent. */
  tick(now: number): void {
    this.#ticks++
    for (let index = 0; index < this.#reading; index++) this.#mark(index, now)
    if (this.isSpeaking() && now >= this.#probedAt + probeMillis) this.#sendProbe(now)
    this.#settleDue()
    if (this.#pieces.length === 0) this.#tellFinished()
  }

  #settleDue(): void {
    let first = this.#pieces[0]
    while (first?.dueTick !== undefined && first.dueTick <= this.#ticks) {
      this.#settleFirst()
      first = this.#pieces[0]
    }
  }

  /** This many frames were not sent, because the process stalled; the speech continues that much later. */
  skipped(frames: number): void {
    const piece = this.#pieces[this.#reading]
    if (piece?.startedAt !== undefined) piece.startedAt += frames * frameMillis
  }

  /** The carrier reports a mark of this stream. */
  marked(name: string, how: "played" | "cleared"): void {
    if (how === "cleared") return
    if (this.#probe?.name === name) {
      this.#measure(this.#probe.at)
      this.#heard = Math.max(this.#heard, this.#probe.bytes)
      this.#probe = undefined
    }
    const at = this.#pieces.findIndex((piece) => piece.name === name)
    const sentAt = this.#pieces[at]?.sentAt
    if (sentAt === undefined) return
    this.#measure(sentAt)
    for (let settled = 0; settled <= at; settled++) this.#settleFirst()
  }

  /** Copies as much of the current piece as there is room for, and returns how much of the frame is filled. */
  #copy(from: number, now: number): number {
    const piece = this.#pieces[this.#reading]
    if (piece === undefined) return frameSize
    const { speech } = piece
    piece.startedAt ??= now + (from - this.#at) / bytesPerMillis
    if (!piece.hasBegun) {
      piece.hasBegun = true
      piece.hooks.begun?.(Math.max(now, piece.madeAt))
    }
    const frame = this.#frame
    const at = this.#at
    const length = Math.min(frameSize - from, speech.length - at)
    for (let index = 0; index < length; index++) frame[from + index] = speech[at + index] ?? silence
    this.#at += length
    if (this.#at >= speech.length) {
      this.#reading++
      this.#at = 0
    }
    return from + length
  }

  /** Asks to be told when a piece that has just been sent has been played. */
  #mark(index: number, now: number): void {
    const piece = this.#pieces[index]
    if (piece === undefined || piece.sentAt !== undefined) return
    piece.sentAt = now
    piece.hooks.sent?.(now)
    if (this.#media?.mark(piece.name) !== true) this.#expectUnmarked(index)
  }

  #expectUnmarked(index: number): void {
    const piece = this.#pieces[index]
    if (piece !== undefined) piece.dueTick ??= this.#ticks + unmarkedTicks
  }

  #sendProbe(now: number): void {
    if (this.#probe !== undefined) this.#isAnswering = false
    if (!this.#isAnswering) return
    const name = String(++this.#names)
    this.#probedAt = now
    this.#probe = this.#media?.mark(name) === true ? { name, at: now, bytes: this.#sent } : undefined
  }

  #measure(sentAt: number): void {
    const delay = this.#now() - sentAt
    if (delay <= longestDelayMillis) this.#delayMillis = Math.max(0, delay)
  }

  /** The carrier's delay: at least as long as it has kept us waiting for the current mark. */
  #delay(): number {
    const first = this.#pieces[0]
    const askedAt = first?.dueTick === undefined ? first?.sentAt : undefined
    const waited = this.#now() - Math.min(askedAt ?? Number.POSITIVE_INFINITY, this.#probe?.at ?? Number.POSITIVE_INFINITY)
    if (waited > longestDelayMillis) this.#isAnswering = false
    return this.#isAnswering ? Math.max(this.#delayMillis, waited + frameMillis) : 0
  }

  /** Pending marks are then reported as cleared, or not at all. */
  #clear(): void {
    this.#probe = undefined
    this.#probedAt = Number.NEGATIVE_INFINITY
    if (this.#heard < this.#sent) this.#media?.clear()
  }

  #settleFirst(): void {
    const piece = this.#pieces.shift()
    if (piece === undefined) return
    this.#reading = Math.max(0, this.#reading - 1)
    this.#heard = Math.max(this.#heard, piece.end)
    piece.hooks.played?.()
  }

  #tellFinished(): void {
    const finished = this.#finished
    this.#finished = undefined
    finished?.()
  }
}
