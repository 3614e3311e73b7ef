/**
 * Paces the audio of all calls: one timer for the process calls every stream once every 20 ms. A timer per call drifts by seconds (a thousand
 * calls then send 93 % of their frames); a wheel of ten slots with absolute deadlines does not.
 *
 * It reads a clock and sets a timer itself, because fibers are too slow for frames. `PacerTime` lets tests turn the wheel.
 */
import { lateMillis, type MediaLoad } from "#core/provider/MediaLimit.ts"
import { frameMillis } from "#core/audio/Mulaw.ts"

export interface PacerTime {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Calls `run` once, not before `delayMillis` have passed. The result cancels it. */
  readonly wake: (delayMillis: number, run: () => void) => () => void
}

export interface PacedStream {
  /** One frame is due. `now` is when it was due, in the pacer's milliseconds: 20 after the last one, plus any skipped frames. */
  readonly frame: (now: number) => void
  /** The process stalled: this many frames were not requested and will not be. */
  readonly skipped: (frames: number) => void
  /** `frame` or `skipped` threw, and the stream has been removed from the wheel. */
  readonly failed: (cause: unknown) => void
}

export interface FramePacer {
  readonly now: () => number
  /** Takes effect within a frame. The result leaves the wheel; it may be called again, and from within `frame`. */
  readonly join: (stream: PacedStream) => () => void
  readonly size: () => number
}

/** More slots mean that everything else in the process waits for less: a hundred calls are ten frames every 2 ms. */
const slots = 10
const slotMillis = frameMillis / slots
// Frames later than this are dropped instead of sent in a burst: carriers buffer little, and callees would hear the burst.
const stallMillis = 60
const reportMillis = 1000

export const systemTime: PacerTime = {
  now: () => performance.now(),
  wake: (delayMillis, run) => {
    const timer = setTimeout(run, delayMillis)
    return () => clearTimeout(timer)
  }
}

/** `report` is called once per second while there are streams. */
export const makeFramePacer = (time: PacerTime = systemTime, report: (load: MediaLoad) => void = () => {}): FramePacer =>
  new Wheel(time, report)

class Wheel implements FramePacer {
  readonly #time: PacerTime
  readonly #report: (load: MediaLoad) => void
  readonly #slots = Array.from({ length: slots }, () => new Set<PacedStream>())
  #size = 0
  #origin = 0
  // The next slot to run, counted since the origin; it is due at `origin + turn * slotMillis`.
  #turn = 0
  #sleep: (() => void) | undefined
  #isRunning = false
  // Since the last report, which was at `#reportedAt`.
  #framesDue = 0
  #framesLate = 0
  #reportedAt = 0

  constructor(time: PacerTime, report: (load: MediaLoad) => void) {
    this.#time = time
    this.#report = report
  }

  now(): number {
    return this.#time.now()
  }

  size(): number {
    return this.#size
  }

  join(stream: PacedStream): () => void {
    if (!this.#isRunning) this.#catchUp()
    // The first of the emptiest slots.
    let at = this.#turn
    for (let next = at + 1; next < this.#turn + slots; next++) if (this.#slot(next).size < this.#slot(at).size) at = next
    this.#slot(at).add(stream)
    this.#size++
    this.#rest()
    return () => this.#leave(at, stream)
  }

  #due(turn: number): number {
    return this.#origin + turn * slotMillis
  }

  #slot(turn: number): Set<PacedStream> {
    // The default is never used: the wheel has all of its slots.
    return this.#slots[turn % slots] ?? new Set<PacedStream>()
  }

  #leave(turn: number, stream: PacedStream): void {
    if (!this.#slot(turn).delete(stream)) return
    this.#size--
    if (this.#size > 0) return
    this.#sleep?.()
    this.#sleep = undefined
  }

  // A fault of one stream must not silence the others.
  #expel(turn: number, stream: PacedStream, cause: unknown): void {
    this.#leave(turn, stream)
    stream.failed(cause)
  }

  #run(turn: number, lateBy: number): void {
    const { size } = this.#slot(turn)
    this.#framesDue += size
    if (lateBy > lateMillis) this.#framesLate += size
    for (const stream of this.#slot(turn)) {
      try {
        stream.frame(this.#due(turn))
      } catch (cause) {
        this.#expel(turn, stream, cause)
      }
    }
  }

  #skip(turn: number, frames: number): void {
    this.#framesDue += frames * this.#slot(turn).size
    this.#framesLate += frames * this.#slot(turn).size
    for (const stream of this.#slot(turn)) {
      try {
        stream.skipped(frames)
      } catch (cause) {
        this.#expel(turn, stream, cause)
      }
    }
  }

  /** Skips whole rounds only, so that every stream misses the same number of frames and keeps its slot. */
  #skipStall(): void {
    const late = this.now() - this.#due(this.#turn)
    if (late <= stallMillis) return
    const rounds = Math.floor(late / frameMillis)
    for (let turn = 0; turn < slots; turn++) this.#skip(turn, rounds)
    this.#turn += rounds * slots
  }

  readonly #tick = (): void => {
    this.#sleep = undefined
    this.#isRunning = true
    this.#skipStall()
    // Bounded, so that sockets are read between two ticks even when the wheel is overloaded.
    for (let left = stallMillis / slotMillis; left > 0 && this.#size > 0; left--) {
      const lateBy = this.now() - this.#due(this.#turn)
      if (lateBy < 0) break
      this.#run(this.#turn, lateBy)
      this.#turn++
    }
    this.#isRunning = false
    this.#tell()
    this.#rest()
  }

  #tell(): void {
    const now = this.now()
    if (now < this.#reportedAt + reportMillis) return
    const load = { streams: this.#size, due: this.#framesDue, late: this.#framesLate }
    this.#reportedAt = now
    this.#framesDue = 0
    this.#framesLate = 0
    this.#report(load)
  }

  #rest(): void {
    if (this.#size === 0 || this.#isRunning) return
    let next = this.#turn
    while (this.#slot(next).size === 0) next++
    this.#sleep?.()
    this.#sleep = this.#time.wake(Math.max(0, this.#due(next) - this.now()), this.#tick)
  }

  /** The wheel sleeps while it is empty: a stream that joins starts in the present. */
  #catchUp(): void {
    if (this.#size === 0) {
      this.#origin = this.now()
      this.#turn = 0
      this.#reportedAt = this.#origin
    }
    while (this.#slot(this.#turn).size === 0 && this.#due(this.#turn) < this.now()) this.#turn++
  }
}
