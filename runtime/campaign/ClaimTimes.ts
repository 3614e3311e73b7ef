/** How long claims take on this database, and how far ahead of their dial time contacts are claimed. */

/** Number of claims remembered. */
const REMEMBERED = 100
/** Assumed before the first claim. */
const FIRST_MILLIS = 20
/**
 * How far ahead of its dial time a contact is claimed: no further, however slow the disk, and no less, however fast, because a disk or a busy database
 * occasionally stalls.
 */
export const CLAIM_LEAD_MILLIS = 250

export class ClaimTimes {
  readonly #millis: Array<number> = []

  took(millis: number): void {
    this.#millis.push(Math.min(millis, CLAIM_LEAD_MILLIS))
    if (this.#millis.length > REMEMBERED) this.#millis.shift()
  }
  /** The quickest remembered claim. */
  get shortest(): number {
    return this.#millis.length === 0 ? 0 : Math.min(...this.#millis)
  }
  /** The slowest remembered claim; the next one is expected to take no longer. */
  get longest(): number {
    return this.#millis.length === 0 ? FIRST_MILLIS : Math.max(...this.#millis)
  }
}
