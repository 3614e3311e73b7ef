/** How long claims take on this database: contacts are claimed that much ahead of their dial time. */

/** Number of claims remembered. */
const REMEMBERED = 100
/** Assumed before the first claim. */
const FIRST_MILLIS = 20
/** No claim is made further ahead than this, however slow the disk. */
const LONGEST_MILLIS = 250
/** Contacts are claimed at least this far ahead, even if claims are quick: a disk or a busy database stalls now and then. */
const LEAST_LEAD_MILLIS = 250

export class ClaimTimes {
  readonly #millis: Array<number> = []

  took(millis: number): void {
    this.#millis.push(Math.min(millis, LONGEST_MILLIS))
    if (this.#millis.length > REMEMBERED) this.#millis.shift()
  }
  /** The quickest remembered claim. */
  get shortest(): number {
    return this.#millis.length === 0 ? 0 : Math.min(...this.#millis)
  }
  /** The slowest remembered claim: the next one is expected to take no longer. */
  get longest(): number {
    return this.#millis.length === 0 ? FIRST_MILLIS : Math.max(...this.#millis)
  }
  /** How far ahead of its dial time a contact is claimed. */
  get lead(): number {
    return Math.max(this.longest, LEAST_LEAD_MILLIS)
  }
}
