/** Acts each time that nothing has been written for a while: services close connections on which they hear nothing. */
export class KeepAlive {
  readonly #timer: NodeJS.Timeout
  #isQuiet = true

  /** `act` is called once for each interval in which nothing was written. */
  constructor(intervalMillis: number, act: () => void) {
    this.#timer = setInterval(() => {
      if (this.#isQuiet) act()
      this.#isQuiet = true
    }, intervalMillis)
  }

  wrote(): void {
    this.#isQuiet = false
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
