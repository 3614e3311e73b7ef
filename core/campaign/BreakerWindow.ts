/**
 * The circuit breaker's window in memory, so that the end of a call is judged before its slot goes to the next call. The database decides: a
 * trip here only holds back further calls until the record has been judged. A window covers one breaker epoch.
 *
 *     watching --an end trips it--> tripped --the record trips as well--> (the campaign is paused)
 *                                      '--the record does not---> watching, with the entries on record
 */
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { type BreakerConfig, isTripped } from "./CircuitBreaker.ts"

export interface BreakerEntry {
  readonly callId: string
  readonly at: SteadyMillis
  readonly failure: boolean
}

export class BreakerWindow {
  readonly #config: BreakerConfig
  /** The entries on record, oldest first. Those before `#first` have left the window. */
  #recorded: Array<Omit<BreakerEntry, "callId">> = []
  #first = 0
  /** The failures among the recorded entries in the window. */
  #failures = 0
  /** Ends that are not on record yet. */
  readonly #pending = new Map<string, BreakerEntry>()
  #newest = Number.NEGATIVE_INFINITY
  #tripped = false

  /** `recorded`: the entries of this epoch in the database. */
  constructor(config: BreakerConfig, recorded: ReadonlyArray<BreakerEntry>) {
    this.#config = config
    this.#load(recorded)
  }

  /** No call may leave until the record has been judged. */
  get isTripped(): boolean {
    return this.#tripped
  }
  /** All ends are on record, so the database can tell whether the breaker trips. */
  get isSettled(): boolean {
    return this.#pending.size === 0
  }
  /** When the newest call ended. */
  get newest(): SteadyMillis {
    return this.#newest
  }

  /** A call has ended. */
  ended(entry: BreakerEntry): void {
    if (this.#pending.has(entry.callId)) return
    this.#pending.set(entry.callId, entry)
    this.#newest = Math.max(this.#newest, entry.at)
    this.#judge()
  }

  /** The end has been recorded, as a breaker entry or not, or will never be recorded. */
  recorded(callId: string, isEntry: boolean): void {
    const entry = this.#pending.get(callId)
    if (entry === undefined) return
    this.#pending.delete(callId)
    if (isEntry) this.#add(entry)
    // Without this entry, the window may be below the threshold again.
    else if (this.#tripped) this.#tripped = this.#isTripped()
  }

  /** The record as it is now does not trip the breaker. */
  overruled(recorded: ReadonlyArray<BreakerEntry>): void {
    this.#load(recorded)
    this.#tripped = false
  }

  #load(recorded: ReadonlyArray<BreakerEntry>): void {
    this.#recorded = []
    this.#first = 0
    this.#failures = 0
    for (const entry of recorded) if (!this.#pending.has(entry.callId)) this.#add(entry)
  }
  #add({ at, failure }: BreakerEntry): void {
    // Ends are recorded out of order: this one belongs at most a few places from the end.
    let place = this.#recorded.length
    while (place > this.#first && (this.#recorded[place - 1]?.at ?? at) > at) place--
    this.#recorded.splice(place, 0, { at, failure })
    if (failure) this.#failures++
    this.#newest = Math.max(this.#newest, at)
  }
  #judge(): void {
    if (this.#isTripped()) this.#tripped = true
  }
  #isTripped(): boolean {
    const from = this.#newest - this.#config.windowSeconds * 1000
    this.#forget(from)
    let total = this.#recorded.length - this.#first
    let failures = this.#failures
    for (const { at, failure } of this.#pending.values()) {
      if (at <= from) continue
      total++
      if (failure) failures++
    }
    return isTripped({ config: this.#config, failures, total })
  }
  #forget(from: SteadyMillis): void {
    for (let oldest = this.#recorded[this.#first]; oldest !== undefined && oldest.at <= from; oldest = this.#recorded[this.#first]) {
      this.#first++
      if (oldest.failure) this.#failures--
    }
    if (this.#first < this.#recorded.length / 2) return
    this.#recorded = this.#recorded.slice(this.#first)
    this.#first = 0
  }
}
