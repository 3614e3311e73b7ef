/**
 * Readings one after another, with a pause between them: a campaign with many calls a second costs the engine one request a second and part of a page,
 * and a page that nobody sees costs it none. What is wanted several times while one runs is read once more. Pauses end at full seconds by the clock, so that
 * the pages of an organization ask at the same time, and the engine answers them together.
 */
import { now } from "./clock.ts"

const PAUSE_MILLIS = 1000
/** By so much later does this page ask, up to a tenth of a second: not all of them ask in the same millisecond. It depends on when the page was opened. */
const ownMillis = now() % 100

export class Paced {
  readonly #read: (isOver: () => boolean) => Promise<void>
  readonly #pauseMillis: number
  readonly #seen: () => Promise<void>
  #isRunning = false
  #isWanted = false
  /** Somebody waits for what has been wanted since the last reading began. */
  #isUrgent = false
  #isOver = false
  #endPause = () => {}

  /** `seen` resolves while somebody can see the page. */
  constructor(read: (isOver: () => boolean) => Promise<void>, seen: () => Promise<void>, pauseMillis = PAUSE_MILLIS) {
    this.#read = read
    this.#pauseMillis = pauseMillis
    this.#seen = seen
  }

  want(): void {
    this.#isWanted = true
    if (!this.#isRunning) void this.#run()
  }

  /** Without the pause: somebody waits for what they have just done. */
  wantNow(): void {
    this.#isUrgent = true
    this.want()
    this.#endPause()
  }

  end(): void {
    this.#isOver = true
    this.#endPause()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#isWanted && !this.#isOver) {
      await this.#seen()
      this.#isWanted = false
      this.#isUrgent = false
      if (!this.#isOver) await this.#read(() => this.#isOver)
      if (!this.#isOver && !this.#isUrgent) await this.#pause()
    }
    this.#isRunning = false
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const millis = this.#pauseMillis - (now() % this.#pauseMillis) + ownMillis
      const waiting = setTimeout(resolve, millis)
      this.#endPause = () => {
        clearTimeout(waiting)
        resolve()
      }
    })
  }
}
