/**
 * A call whose events come as no client wants them: those up to the answer backwards and then again, all before the response to the originate;
 * those during the call twice; the end first and twice; and after the end all events once more.
 */
type Told = { readonly type: string; readonly body: object }

const replayMillis = 50
const endings: ReadonlyArray<string> = ["ChannelHangupRequest", "StasisEnd", "ChannelDestroyed"]

export class Disorder {
  /** Resolves when the response may be sent at last. */
  readonly answered: Promise<void>
  #settle: () => void = () => {}
  #tell: (event: Told) => void
  #held: Array<Told> = []
  #story: Array<Told> = []
  #isUp = false

  constructor(tell: (event: Told) => void) {
    this.#tell = tell
    this.answered = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  add(event: Told): void {
    this.#story.push(event)
    if (this.#isUp && !endings.includes(event.type)) {
      this.#tell(event)
      this.#tell(event)
      return
    }
    this.#held.push(event)
    if (event.type === "StasisStart") {
      this.#isUp = true
      this.#tellBackwards()
      for (const told of this.#story) this.#tell(told)
      this.#settle()
    }
    if (event.type === "ChannelDestroyed") {
      this.#tellBackwards()
      this.#tell(event)
      this.#settle()
      const replay = () => {
        for (const told of this.#story) this.#tell(told)
      }
      setTimeout(replay, replayMillis).unref()
    }
  }

  #tellBackwards(): void {
    for (const told of this.#held.toReversed()) this.#tell(told)
    this.#held = []
  }
}
