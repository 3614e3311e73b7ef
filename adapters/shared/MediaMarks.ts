/**
 * Which marks have been played. Some carriers tell; where they do not, or do not in time, a clock of what has been sent stands in: the carrier plays
 * it in real time, one frame after the other.
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
/** How much later than by our clock a carrier may tell that a mark was played: it may have begun to play late, and paused. */
const GRACE_MILLIS = 2000

interface Pending {
  readonly id: string
  readonly name: string
  readonly due: number
}

interface MarkOptions {
  readonly report: (name: string, how: "played" | "cleared") => void
  /** Puts a mark into what is being sent. False: it could not be sent. Undefined: this carrier tells nothing. */
  readonly send: ((id: string) => boolean) | undefined
  readonly time?: MarkTime
}

export class MediaMarks {
  readonly #report: MarkOptions["report"]
  readonly #send: MarkOptions["send"]
  readonly #time: MarkTime
  readonly #pending: Array<Pending> = []
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
    // The carrier is given an id of our own, so that the echo of a mark that was cleared is never taken for a later mark of the same name.
    const id = String(++this.#last)
    if (this.#send?.(id) === false) return false
    const due = Math.max(this.#playedAt, this.#time.now()) + (this.#send === undefined ? 0 : GRACE_MILLIS)
    this.#pending.push({ id, name, due })
    this.#arm()
    return true
  }

  /** The carrier says that it has played this mark. So it has played those before it. Others than ours, and cleared ones, are ignored. */
  told(id: string): void {
    const at = this.#pending.findIndex((mark) => mark.id === id)
    if (at >= 0) this.#settle(at + 1, "played")
  }

  /** What has not been played will not be. */
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
    this.#stop = next && this.#time.wake(Math.max(0, next.due - this.#time.now()), () => this.#passed())
  }

  #passed(): void {
    const now = this.#time.now()
    const left = this.#pending.findIndex(({ due }) => due > now)
    this.#settle(left < 0 ? this.#pending.length : left, "played")
  }
}
