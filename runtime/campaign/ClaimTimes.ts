/** How long claims take on this database's disk: contacts are claimed and marked that much before their moments. */

/** Claims that are remembered. */
const REMEMBERED = 100
/** Before there was one. */
const FIRST_MILLIS = 20
/** No claim is made longer before its moment than this, however slow the disk is. */
const LONGEST_MILLIS = 250
/** Even where claims are quick: now and then a disk, or a busy database, takes its time. */
const LEAST_LEAD_MILLIS = 250

export class ClaimTimes {
  readonly #millis: Array<number> = []

  took(millis: number): void {
    this.#millis.push(Math.min(millis, LONGEST_MILLIS))
    if (this.#millis.length > REMEMBERED) this.#millis.shift()
  }
  /** No claim has come back sooner. */
  get shortest(): number {
    return this.#millis.length === 0 ? 0 : Math.min(...this.#millis)
  }
  /** A claim is expected to be back by then. */
  get longest(): number {
    return this.#millis.length === 0 ? FIRST_MILLIS : Math.max(...this.#millis)
  }
  /** How long before its moment a contact is claimed. */
  get lead(): number {
    return Math.max(this.longest, LEAST_LEAD_MILLIS)
  }
}
