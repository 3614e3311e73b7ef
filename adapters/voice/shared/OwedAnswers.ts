/**
 * The answers that a recognizer owes to `finalize`. Each comes from its service, or is made up: at once if nothing new was written, and later if the
 * service stays silent for too long.
 */
export class OwedAnswers {
  readonly #patienceMillis: () => number
  readonly #makeUp: () => void
  #owed = 0
  /** Audio has been written since the service was last asked. */
  #isNew = false
  #isOver = false
  #timer: NodeJS.Timeout | undefined

  /** `patienceMillis`: how long the service may take for the next answer. */
  constructor(patienceMillis: () => number, makeUp: () => void) {
    this.#patienceMillis = patienceMillis
    this.#makeUp = makeUp
  }

  get count(): number {
    return this.#owed
  }

  /** There is audio that the service has not been asked about. */
  wrote(): void {
    this.#isNew = true
  }

  /** To be called for each `finalize`, after everything written has been sent. True if the service is to be asked. */
  ask(): boolean {
    if (this.#isOver) return false
    const isNew = this.#isNew
    this.#isNew = false
    if (isNew || this.#owed > 0) this.#owe()
    else this.#makeUp()
    return isNew
  }

  /** The service has answered. False if nothing was owed: then it says something of its own accord, or too late. */
  settle(): boolean {
    if (this.#owed === 0) return false
    this.#owed--
    this.#await()
    return true
  }

  /** The service shows that it is at work on the next answer, for which it may take as long as from the beginning. */
  renew(): void {
    this.#await()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#isOver = true
    this.#owed = 0
  }

  #owe(): void {
    this.#owed++
    if (this.#owed === 1) this.#await()
  }

  #await(): void {
    clearTimeout(this.#timer)
    if (this.#owed === 0) return
    this.#timer = setTimeout(() => {
      this.settle()
      this.#makeUp()
    }, this.#patienceMillis())
  }
}
