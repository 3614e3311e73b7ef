/** Holds back what may not happen yet. */

export class Gate {
  /** Undefined while it is open. */
  #held: Array<() => void> | undefined

  get held(): number {
    return this.#held?.length ?? 0
  }

  close(on: boolean): void {
    const held = this.#held ?? []
    this.#held = on ? held : undefined
    if (!on) for (const run of held) run()
  }

  pass(run: () => void): void {
    if (this.#held === undefined) run()
    else this.#held.push(run)
  }
}
