/**
 * A call whose events come in the worst order: those up to the answer backwards and then again, all before the response to the originate; those
 * during the call twice; the last event first and twice; and after the end all events once more.
 */

/** The place of an event in the call: `ending` belongs to the end but is not the last event. */
export type Place = "before" | "answer" | "ending" | "end"

const replayMillis = 50

export class Disorder<Told> {
  /** Resolves when the response may be sent. */
  readonly answered: Promise<void>
  #settle: () => void = () => {}
  #tell: (event: Told) => void
  #placeOf: (event: Told) => Place
  #held: Array<Told> = []
  #story: Array<Told> = []
  #isUp = false

  constructor(tell: (event: Told) => void, placeOf: (event: Told) => Place) {
    this.#tell = tell
    this.#placeOf = placeOf
    this.answered = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  add(event: Told): void {
    const place = this.#placeOf(event)
    this.#story.push(event)
    if (this.#isUp && place !== "end" && place !== "ending") {
      this.#tell(event)
      this.#tell(event)
      return
    }
    this.#held.push(event)
    if (place === "answer") {
      this.#isUp = true
      this.#tellBackwards()
      for (const told of this.#story) this.#tell(told)
      this.#settle()
    }
    if (place === "end") {
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
