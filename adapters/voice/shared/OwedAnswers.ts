/** The answers that a recognizer owes to `finalize`: each comes from its service, or is made up if the service stays silent for too long. */
export class OwedAnswers {
  readonly #patienceMillis: () => number
  readonly #makeUp: () => void
  #owed = 0
  #timer: NodeJS.Timeout | undefined

  /** `patienceMillis`: how long the service may take for the next answer. */
  constructor(patienceMillis: () => number, makeUp: () => void) {
    this.#patienceMillis = patienceMillis
    this.#makeUp = makeUp
  }

  get count(): number {
    return this.#owed
  }

  ask(): void {
    this.#owed++
    if (this.#owed === 1) this.#await()
  }

  /** The service has answered. False if nothing was owed: then it says something of its own accord, or too late. */
  settle(): boolean {
    if (this.#owed === 0) return false
    this.#owed--
    this.#await()
    return true
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#owed = 0
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
