/**
 * The media plane of one call: at each tick it sends a frame, takes a frame, and records both. Uses plain callbacks, and allocates nothing per
 * frame except the view that is sent.
 */
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import { type Amd, type AmdVerdict, makeAmd } from "./Amd.ts"
import { comfortNoise } from "./ComfortNoise.ts"
import type { FramePacer, PacedStream } from "./FramePacer.ts"
import { makeMessageMoment, type MessageMoment, type Moment } from "./MessageMoment.ts"
import { type Inbound, makeInbound } from "./Inbound.ts"
import { frameMillis, frameSize, silence } from "#core/audio/Mulaw.ts"
import type { Recording } from "./Recording.ts"

interface VoiceLineEvents {
  /** `isBeeping`: the machine was detected by a beep that is still going on. */
  readonly verdict: (verdict: AmdVerdict, isBeeping: boolean) => void
  readonly moment: (moment: Moment) => void
  /** The last frame of speech has been sent. */
  readonly spoken: () => void
  /** The callee has not heard this many frames: the process stalled, or the other side had no room for them. */
  readonly skipped: (frames: number) => void
  /** The stream has ended: nothing is sent or recorded until there is another one. */
  readonly closed: (how: MediaEnd, why: string) => void
  readonly failed: (cause: unknown) => void
}

/** How much has been said, and when, in the pacer's milliseconds. */
interface Spoken {
  readonly from: number
  readonly until: number
  /** Counted in everything that was passed to `say` since the start or the last `hush`, in that order. */
  readonly bytes: number
}

interface VoiceLine {
  /** Takes whole frames. They are sent from the next tick on, or after the speech that is still queued. */
  readonly say: (speech: Uint8Array) => void
  /** No more speech will follow: `spoken` is emitted when the last frame has been sent. */
  readonly saidAll: () => void
  /** Drops queued speech and forgets what was said: counting starts again with the next speech. */
  readonly hush: () => void
  /** Has `moment` emitted once, when the message can start or is given up. */
  readonly awaitMoment: (isBeeping: boolean) => void
  /** How much has been said so far; undefined before the first frame. */
  readonly spoken: () => Spoken | undefined
  /** Number of frames sent. */
  readonly sent: () => number
  /** Goes on over another stream, with the next frame of what is being said. */
  readonly resume: (media: MediaStream) => void
  /** No frame goes in or out after this. */
  readonly hangUp: () => void
}

interface VoiceLineOptions {
  readonly recording: Recording | undefined
  readonly detectMachine: boolean
}

const quiet = new Uint8Array(frameSize).fill(silence)

export const openLine = (media: MediaStream, pacer: FramePacer, events: VoiceLineEvents, options: VoiceLineOptions): VoiceLine => {
  const line = new Line(pacer, events, options)
  line.resume(media)
  return line
}

class Line implements VoiceLine, PacedStream {
  readonly #pacer: FramePacer
  readonly #events: VoiceLineEvents
  readonly #recording: Recording | undefined
  readonly #inbound: Inbound | undefined
  #amd: Amd | undefined
  #moment: MessageMoment | undefined
  #media: MediaStream | undefined
  /** Leaves the pacer; undefined while there is no stream. */
  #leave: (() => void) | undefined
  #isOver = false
  /** When the last stream ended, in the pacer's milliseconds. */
  #stoppedAt: number | undefined
  #ticks = 0
  /** Frames that the other side had no room for. */
  #dropped = 0
  /** Queued speech; the first entry is played from `#at` on. */
  readonly #speech: Array<Uint8Array> = []
  #at = 0
  #isAll = false
  #bytes = 0
  #from = 0
  #until = 0

  constructor(pacer: FramePacer, events: VoiceLineEvents, { detectMachine, recording }: VoiceLineOptions) {
    this.#pacer = pacer
    this.#events = events
    this.#recording = recording
    this.#amd = detectMachine ? makeAmd() : undefined
    this.#inbound = detectMachine || recording !== undefined ? makeInbound() : undefined
  }

  resume(media: MediaStream): void {
    if (this.#isOver) return
    this.#media = media
    if (this.#leave === undefined) {
      this.#leave = this.#pacer.join(this)
      this.#recordGap()
    }
    media.listen({
      frame: (frame) => this.#inbound?.put(frame),
      closed: (how, why) => {
        if (media !== this.#media || this.#isOver) return
        this.#stop()
        this.#events.closed(how, why)
      }
    })
  }

  hangUp(): void {
    this.#isOver = true
    this.#stop()
  }

  #stop(): void {
    if (this.#leave !== undefined) this.#stoppedAt = this.#pacer.now()
    this.#leave?.()
    this.#leave = undefined
  }

  /** Between two streams nobody spoke, so that the recording stays as long as the call. */
  #recordGap(): void {
    if (this.#stoppedAt === undefined) return
    this.#recording?.skip(Math.floor((this.#pacer.now() - this.#stoppedAt) / frameMillis))
  }

  say(speech: Uint8Array): void {
    if (speech.length > 0) this.#speech.push(speech)
  }

  saidAll(): void {
    this.#isAll = true
  }

  hush(): void {
    this.#speech.length = 0
    this.#at = 0
    this.#bytes = 0
    this.#isAll = false
  }

  awaitMoment(isBeeping: boolean): void {
    this.#amd = undefined
    this.#moment = makeMessageMoment(isBeeping)
  }

  spoken(): Spoken | undefined {
    return this.#bytes === 0 ? undefined : { from: this.#from, until: this.#until, bytes: this.#bytes }
  }

  sent(): number {
    return this.#ticks - this.#dropped
  }

  frame(now: number): void {
    this.#ticks++
    const speech = this.#speech[0]
    const out = speech === undefined ? comfortNoise(this.#ticks) : this.#nextOf(speech, now)
    if (this.#media?.send(out) !== true) this.#drop()
    const heard = this.#inbound?.take()
    this.#recording?.push(heard, out)
    if (this.#amd !== undefined) this.#detect(this.#amd, heard, now)
    else if (this.#moment !== undefined) this.#await(this.#moment, heard ?? quiet, now)
    if (this.#isAll && this.#speech.length === 0) this.#allSpoken()
  }

  skipped(frames: number): void {
    this.#media?.skip(frames)
    this.#recording?.skip(frames)
    this.#events.skipped(frames)
  }

  #drop(): void {
    this.#dropped++
    this.#events.skipped(1)
  }

  failed(cause: unknown): void {
    this.#isOver = true
    this.#leave = undefined
    this.#events.failed(cause)
  }

  #nextOf(speech: Uint8Array, now: number): Uint8Array {
    if (this.#bytes === 0) this.#from = now
    this.#until = now
    const frame = speech.subarray(this.#at, this.#at + frameSize)
    this.#at += frameSize
    this.#bytes += frameSize
    if (this.#at < speech.length) return frame
    this.#speech.shift()
    this.#at = 0
    return frame
  }

  #allSpoken(): void {
    this.#isAll = false
    if (this.#bytes > 0) this.#events.spoken()
  }

  #detect(amd: Amd, frame: Uint8Array | undefined, now: number): void {
    const verdict = amd.push(frame, now)
    if (verdict === undefined) return
    this.#amd = undefined
    this.#events.verdict(verdict, amd.heardBeep())
  }

  #await(moment: MessageMoment, frame: Uint8Array, now: number): void {
    const settled = moment.push(frame, now)
    if (settled === undefined) return
    this.#moment = undefined
    this.#events.moment(settled)
  }
}
