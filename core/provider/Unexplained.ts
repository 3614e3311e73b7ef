/**
 * Refusals in words that the adapter does not know. What carriers really write is not documented, so no table of words is complete: evidence
 * decides whose fault such a refusal is.
 *
 *     the configuration has placed a call -> the number's; after ten different numbers in a row, the configuration's
 *     it has not                          -> nobody's yet: the next contacts are tried first, and this one again afterwards;
 *                                            after three different numbers in a row in the same words, the configuration's;
 *                                            the number's, if it is refused once more although there were no three
 */

/** `later`: it is not known yet whose fault it is. */
export type Blame = "number" | "later" | "configuration"

const IN_A_ROW = 10
const IN_A_ROW_UNPROVEN = 3
/** So that words that differ with each number do not fill the memory. */
const MOST_TRIED = 10_000

export class Unexplained {
  #isProven: boolean
  /** The words of the current row of refusals, and its numbers. */
  #words = ""
  readonly #row = new Set<string>()
  /** Numbers that were refused before anything was proven. */
  readonly #tried = new Set<string>()

  /** `isProven`: this version of the configuration has placed a call, perhaps in an earlier life of the engine. */
  constructor(isProven: boolean) {
    this.#isProven = isProven
  }

  /** A call was placed. Returns whether it is the first that proves the configuration. */
  placed(): boolean {
    const isFirst = !this.#isProven
    this.#isProven = true
    this.forget()
    return isFirst
  }

  /** The provider has refused a number in words that are known, which ends a row. */
  explained(): void {
    this.#row.clear()
  }

  /** A person may have removed the cause. */
  forget(): void {
    this.#row.clear()
    this.#tried.clear()
  }

  /** `detail`: the provider's words, in which digits tell numbers apart and not reasons. */
  blame(number: string, detail: string): Blame {
    const words = detail.replaceAll(/\d+/g, "#")
    // A proven configuration that refuses everything for changing reasons is as useless.
    if (!this.#isProven && words !== this.#words) this.#row.clear()
    this.#words = words
    this.#row.add(number)
    if (this.#row.size >= (this.#isProven ? IN_A_ROW : IN_A_ROW_UNPROVEN)) {
      this.forget()
      return "configuration"
    }
    if (this.#isProven || this.#tried.has(number) || this.#tried.size >= MOST_TRIED) return "number"
    this.#tried.add(number)
    return "later"
  }
}
