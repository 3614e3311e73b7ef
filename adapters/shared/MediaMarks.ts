/**
 * Which marks have been played. Some carriers report it; if they do not, or not in time, a clock computes it from what has been sent, because
 * the carrier plays that in real time, one frame after the other.
 */
import { frameMillis } from "#core/audio/Mulaw.ts"

/** Monotonic milliseconds, and a timer whose result cancels it. */
export interface MarkTime {
  readonly now: () => number
  readonly wake: (delayMillis: number, run: () => void) => () => void
}

const systemTime: MarkTime = {
  now: () => performance.now(),
  wake: (delayMillis, run) => {
    const timer = setTimeout(run, delayMillis)
    return () => clearTimeout(timer)
  }
}

/** More than a conversation ever has. */
const MOST_PENDING = 64
/** How much later than our clock a carrier may report that a mark was played: it may have begun late, and paused. */
const GRACE_MILLIS = 2000
/** A carrier that was late for a mark may fall further behind: it gets this many times as long for the next ones. */
const GRACE_GROWTH = 2
const LONGEST_GRACE_MILLIS = 20_000

interface Pending {
  readonly id: string
  readonly name: string
  /** When it will have been played, by our clock. */
  readonly expectedAt: number
}

interface MarkOptions {
  readonly report: (name: string, how: "played" | "cleared") => void
  /** Inserts a mark into the outgoing audio. False: it could not be sent. Undefined: this carrier does not report marks. */
  readonly send: ((id: string) => boolean) | undefined
  readonly time?: MarkTime
}

export class MediaMarks {
  readonly #report: MarkOptions["report"]
  readonly #send: MarkOptions["send"]
  readonly #time: MarkTime
  readonly #pending: Array<Pending> = []
  /** Marks for which the clock has spoken, in order. */
  readonly #overdue: Array<Pending> = []
  /** How late the carrier's last report was. */
  #lateMillis = 0
  #last = 0
  /** When everything sent so far will have been played. */
  #playedAt = 0
  #stop: (() => void) | undefined

  constructor({ report, send, time = systemTime }: MarkOptions) {
    this.#report = report
    this.#send = send
    this.#time = time
  }

  /** A frame has been sent. */
  sent(): void {
    this.#playedAt = Math.max(this.#playedAt, this.#time.now()) + frameMillis
  }

  mark(name: string): boolean {
    if (this.#pending.length >= MOST_PENDING) return false
    // The carrier gets our own id, so that the echo of a cleared mark is never mistaken for a later mark of the same name.
    const id = String(++this.#last)
    if (this.#send?.(id) === false) return false
    this.#pending.push({ id, name, expectedAt: Math.max(this.#playedAt, this.#time.now()) })
    this.#arm()
    return true
  }

  /** The carrier says that it has played this mark, and so all earlier ones. Cleared marks, and marks that are not ours, are ignored. */
  told(id: string): void {
    const isIt = (mark: Pending) => mark.id === id
    const at = this.#pending.findIndex(isIt)
    const mark = this.#pending[at] ?? this.#overdue.find(isIt)
    if (mark !== undefined) this.#lateMillis = Math.max(0, this.#time.now() - mark.expectedAt)
    if (at >= 0) this.#settle(at + 1, "played")
    else if (mark !== undefined) this.#arm()
  }

  /** The audio was cleared: all pending marks are reported as such. */
  clear(): void {
    this.#playedAt = 0
    this.#settle(this.#pending.length, "cleared")
  }

  /** Nothing is reported after this. */
  close(): void {
    this.#pending.length = 0
    this.#arm()
  }

  #settle(count: number, how: "played" | "cleared"): void {
    const settled = this.#pending.splice(0, count)
    this.#arm()
    for (const { name } of settled) this.#report(name, how)
  }

  #arm(): void {
    this.#stop?.()
    const [next] = this.#pending
    this.#stop = next && this.#time.wake(Math.max(0, this.#dueAt(next) - this.#time.now()), () => this.#passed())
  }

  /** When the mark counts as played without a report. */
  #dueAt({ expectedAt }: Pending): number {
    if (this.#send === undefined) return expectedAt
    return expectedAt + Math.min(LONGEST_GRACE_MILLIS, GRACE_MILLIS + GRACE_GROWTH * this.#lateMillis)
  }

  #passed(): void {
    const now = this.#time.now()
    const left = this.#pending.findIndex((mark) => this.#dueAt(mark) > now)
    const passed = left < 0 ? this.#pending.length : left
    this.#overdue.push(...this.#pending.slice(0, passed))
    this.#overdue.splice(0, this.#overdue.length - MOST_PENDING)
    this.#settle(passed, "played")
  }
}
