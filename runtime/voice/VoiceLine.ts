/**
 * The media plane of one call: at each tick it sends a frame, takes a frame, and records both. Uses plain callbacks, and allocates nothing per
 * frame.
 */
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import { type Amd, type AmdVerdict, makeAmd } from "./Amd.ts"
import { comfortNoise } from "./ComfortNoise.ts"
import type { FramePacer, PacedStream } from "./FramePacer.ts"
import type { FrameListener } from "./FrameListener.ts"
import { makeMessageMoment, type MessageMoment, type Moment } from "./MessageMoment.ts"
import { type Arrivals, type Inbound, makeInbound } from "./Inbound.ts"
import { frameMillis } from "#core/audio/Mulaw.ts"
import { makePcmFrame, type PcmFrame } from "#core/audio/PcmFrame.ts"
import { Playout } from "./Playout.ts"
import type { Recording } from "./Recording.ts"

interface VoiceLineEvents {
  /** `isBeeping`: the machine was detected by a beep that is still going on. */
  readonly verdict: (verdict: AmdVerdict, isBeeping: boolean) => void
  readonly moment: (moment: Moment) => void
  /** The callee did not hear this many frames: the process stalled, or the other side had no room for them. */
  readonly skipped: (frames: number) => void
  /** The stream has ended: nothing is sent or recorded until there is another one. */
  readonly closed: (how: MediaEnd, why: string) => void
  readonly failed: (cause: unknown) => void
}

interface VoiceLine {
  /** What the agent says. */
  readonly playout: Playout
  /** Emits `moment` once, when the message can start or is given up. */
  readonly awaitMoment: (isBeeping: boolean) => void
  /** Number of frames sent. */
  readonly sent: () => number
  /** Continues over another stream, with the next frame of what is being said. */
  readonly resume: (media: MediaStream) => void
  /** No frame goes in or out after this. */
  readonly hangUp: () => void
}

interface VoiceLineOptions {
  readonly recording: Recording | undefined
  readonly detectMachine: boolean
  /** In the order in which they hear each frame. When no frame arrives, they hear silence. */
  readonly listeners?: (playout: Playout) => ReadonlyArray<FrameListener>
}

const quiet = makePcmFrame()
/** After this many ticks without a frame from the callee, the line counts as silent: some carriers do not send silence. */
const mostTicksUnheard = 3

export const openLine = (media: MediaStream, pacer: FramePacer, events: VoiceLineEvents, options: VoiceLineOptions): VoiceLine => {
  const line = new Line(pacer, events, options)
  line.resume(media)
  return line
}

class Line implements VoiceLine, PacedStream {
  readonly #pacer: FramePacer
  readonly #events: VoiceLineEvents
  readonly #recording: Recording | undefined
  /** Undefined if nobody listens to the callee. */
  readonly #inbound: Inbound | undefined
  readonly #arrivals: Arrivals | undefined
  readonly #listeners: ReadonlyArray<FrameListener>
  #amd: Amd | undefined
  #moment: MessageMoment | undefined
  #media: MediaStream | undefined
  /** Leaves the pacer; undefined while there is no stream. */
  #leave: (() => void) | undefined
  #isOver = false
  /** When the last stream ended, in the pacer's milliseconds. */
  #stoppedAt: number | undefined
  #ticks = 0
  /** Ticks since the last frame from the callee. */
  #ticksUnheard = 0
  /** Frames that the other side had no room for. */
  #dropped = 0
  readonly playout: Playout

  constructor(pacer: FramePacer, events: VoiceLineEvents, { detectMachine, listeners, recording }: VoiceLineOptions) {
    this.#pacer = pacer
    this.#events = events
    this.#recording = recording
    this.playout = new Playout(() => pacer.now())
    this.#amd = detectMachine ? makeAmd() : undefined
    this.#listeners = listeners?.(this.playout) ?? []
    const inbound = detectMachine || recording !== undefined || this.#listeners.length > 0 ? makeInbound() : undefined
    this.#inbound = inbound
    this.#arrivals = inbound?.arrivals()
    if (inbound !== undefined) recording?.hear(inbound.arrivals())
  }

  resume(media: MediaStream): void {
    if (this.#isOver) return
    this.#media = media
    this.playout.over(media)
    if (this.#leave === undefined) {
      this.#leave = this.#pacer.join(this)
      this.#recordGap()
    }
    media.listen({
      frame: (codes) => {
        if (media === this.#media && !this.#isOver) this.#hear(codes)
      },
      marked: (name, how) => {
        if (media === this.#media) this.playout.marked(name, how)
      },
      closed: (how, why) => {
        if (media !== this.#media || this.#isOver) return
        this.#stop()
        this.#events.closed(how, why)
      }
    })
  }

  hangUp(): void {
    this.#stop()
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const listener of this.#listeners) listener.close?.()
  }

  #stop(): void {
    if (this.#leave !== undefined) this.#stoppedAt = this.#pacer.now()
    this.#leave?.()
    this.#leave = undefined
  }

  /** Nobody spoke between two streams: adds silence, so that the recording stays as long as the call. */
  #recordGap(): void {
    if (this.#stoppedAt === undefined) return
    this.#recording?.skip(Math.floor((this.#pacer.now() - this.#stoppedAt) / frameMillis))
  }

  awaitMoment(isBeeping: boolean): void {
    this.#amd = undefined
    this.#moment = makeMessageMoment(isBeeping)
  }

  sent(): number {
    return this.#ticks - this.#dropped
  }

  frame(now: number): void {
    this.#ticks++
    const out = this.playout.take(now) ?? comfortNoise(this.#ticks)
    if (this.#media?.send(out) !== true) this.#drop()
    if (++this.#ticksUnheard > mostTicksUnheard) this.#listen(undefined, now)
    const heard = this.#arrivals?.take()
    this.#recording?.push(out)
    this.playout.tick(now)
    for (const listener of this.#listeners) listener.tick?.(now, out, heard)
  }

  skipped(frames: number): void {
    this.#media?.skip(frames)
    this.playout.skipped(frames)
    this.#recording?.skip(frames)
    this.#events.skipped(frames)
  }

  #drop(): void {
    this.#dropped++
    this.#events.skipped(1)
  }

  failed(cause: unknown): void {
    this.#end()
    this.#leave = undefined
    this.#events.failed(cause)
  }

  #hear(codes: Uint8Array): void {
    this.#ticksUnheard = 0
    const frame = this.#inbound?.put(codes)
    if (frame !== undefined) this.#listen(frame, this.#pacer.now())
  }

  /** Called for each frame that arrives, in order: after a stall, more than one arrives per tick. Undefined if none arrived. */
  #listen(frame: PcmFrame | undefined, now: number): void {
    // We may be in a callback of the socket, where an exception would end the process.
    try {
      for (const listener of this.#listeners) listener.hear(frame ?? quiet)
      if (this.#amd !== undefined) this.#detect(this.#amd, frame, now)
      else if (this.#moment !== undefined) this.#await(this.#moment, frame ?? quiet, now)
    } catch (cause) {
      this.#stop()
      this.failed(cause)
    }
  }

  #detect(amd: Amd, frame: PcmFrame | undefined, now: number): void {
    const verdict = amd.push(frame, now)
    if (verdict === undefined) return
    this.#amd = undefined
    this.#events.verdict(verdict, amd.heardBeep())
  }

  #await(moment: MessageMoment, frame: PcmFrame, now: number): void {
    const settled = moment.push(frame, now)
    if (settled === undefined) return
    this.#moment = undefined
    this.#events.moment(settled)
  }
}
