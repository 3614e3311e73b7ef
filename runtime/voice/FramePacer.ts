/**
 * The beat of all calls: every stream is called once in 20 ms, by one timer for the process. A timer per call drifts by seconds (a
 * thousand calls then send 93 % of their frames); a wheel of ten slots with absolute deadlines does not.
 *
 * The only file that reads a clock and sets a timer itself: frames are no place for fibers. `PacerTime` lets tests turn the wheel.
 */
import { lateMillis, type MediaLoad } from "#core/provider/MediaLimit.ts"
import { frameMillis } from "./Mulaw.ts"

export interface PacerTime {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Calls back once, not before `delayMillis`. The result takes it back. */
  readonly wake: (delayMillis: number, run: () => void) => () => void
}

export interface PacedStream {
  /** One frame is due. `now` is when it was due, in the pacer's milliseconds: 20 more than the last, plus what was skipped. */
  readonly frame: (now: number) => void
  /** The process stood still: that many frames were not, and will not be, asked for. */
  readonly skipped: (frames: number) => void
  /** `frame` or `skipped` threw; the stream is out of the wheel. */
  readonly failed: (cause: unknown) => void
}

export interface FramePacer {
  readonly now: () => number
  /** Takes effect within a frame. The result leaves; it may be called again, and from within `frame`. */
  readonly join: (stream: PacedStream) => () => void
  readonly size: () => number
}

/** The more, the shorter is what everything else in the process waits for: a hundred calls are ten frames in 2 ms. */
const slots = 10
const slotMillis = frameMillis / slots
// Beyond this, what is late is dropped instead of burst: carriers keep little buffer, and callees hear the heap.
const stallMillis = 60
const reportMillis = 1000

export const systemTime: PacerTime = {
  now: () => performance.now(),
  wake: (delayMillis, run) => {
    const timer = setTimeout(run, delayMillis)
    return () => clearTimeout(timer)
  }
}

/** `report` is told once in a second in which there are streams. */
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
    // Of the emptiest slots, the one that comes first.
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
    // The default is never taken: the wheel has all of its slots.
    return this.#slots[turn % slots] ?? new Set<PacedStream>()
  }

  #leave(turn: number, stream: PacedStream): void {
    if (!this.#slot(turn).delete(stream)) return
    this.#size--
    if (this.#size > 0) return
    this.#sleep?.()
    this.#sleep = undefined
  }

  // One stream's fault is not the others' silence.
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

  /** Whole rounds only, so that each stream misses the same and keeps its place among the others. */
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
    // Bounded, so that an overloaded wheel still lets the sockets be read between two ticks.
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

  /** Empty slots that were slept through are over: a stream that joins starts in the present. */
  #catchUp(): void {
    if (this.#size === 0) {
      this.#origin = this.now()
      this.#turn = 0
      this.#reportedAt = this.#origin
    }
    while (this.#slot(this.#turn).size === 0 && this.#due(this.#turn) < this.now()) this.#turn++
  }
}
