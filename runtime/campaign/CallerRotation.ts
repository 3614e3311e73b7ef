/**
 * Picks the caller ID of a campaign's call: the trunk's least recently used number that has room for another call. Calls per number are
 * counted along with the slots and released with them, however a call ends. The order of use is kept in memory only and starts over with
 * the process.
 */
import type { CallId } from "#core/Id.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { callerKey, type Slots, type SlotScope } from "#runtime/dispatch/Slots.ts"

/** Larger than any possible number of calls, but still an int4. */
const UNLIMITED = 1_000_000_000

/** The key of slots held by calls whose number is not decided yet. */
const undecidedKey = ({ configurationId }: LiveTrunk): string => `undecided:${configurationId}`
const keyOf = ({ configurationId }: LiveTrunk, number: string | null | undefined): string => callerKey(configurationId, number ?? undefined)

/** The number a call will show, and that number's previous place in the order of use, which is restored if the call is never sent. */
export interface Assigned {
  /** Null when the trunk has no numbers. */
  readonly number: string | null
  readonly use: number
  readonly useBefore: number
}

export class CallerRotation {
  readonly #slots: Slots["Service"]
  /** Keyed by number; a larger value means used more recently. */
  readonly #usedAt = new Map<string, number>()
  #uses = 0

  constructor(slots: Slots["Service"]) {
    this.#slots = slots
  }

  /** How many more calls this number may carry. */
  #room(trunk: LiveTrunk, number: string): number {
    const limit = trunk.callerIds().limits?.get(number)
    return limit === undefined ? UNLIMITED : Math.max(0, limit - this.#slots.used(keyOf(trunk, number)))
  }

  /** The combined room of all numbers. A trunk without numbers shows none and has no limit. */
  scope(trunk: LiveTrunk): SlotScope {
    const room = () => trunk.callerIds().all.reduce((sum, number) => sum + this.#room(trunk, number), 0)
    return {
      key: undecidedKey(trunk),
      // A getter, because the numbers and their calls change.
      get limit() {
        return trunk.callerIds().all.length === 0 ? undefined : room()
      }
    }
  }

  /** There are numbers, and all of them are at their limit. */
  isExhausted(trunk: LiveTrunk): boolean {
    const { key, limit } = this.scope(trunk)
    return limit !== undefined && this.#slots.used(key) >= limit
  }

  /** Assigns a number to each of these calls, which hold slots already. */
  assign(trunk: LiveTrunk, callIds: ReadonlyArray<CallId>): ReadonlyArray<Assigned> {
    return callIds.map((callId) => {
      let best: string | undefined
      for (const number of trunk.callerIds().all) {
        if (this.#room(trunk, number) > 0 && (best === undefined || this.#lastUse(trunk, number) < this.#lastUse(trunk, best)))
          best = number
      }
      this.#slots.move(callId, undecidedKey(trunk), keyOf(trunk, best))
      const number = best ?? null
      const useBefore = this.#lastUse(trunk, number)
      return { number, use: this.#use(trunk, number), useBefore }
    })
  }

  /** The numbers that a retry may show again, because its contact has seen them before, and the room of each. */
  usable(trunk: LiveTrunk): { readonly numbers: ReadonlyArray<string>; readonly rooms: ReadonlyArray<number> } {
    const numbers = trunk.callerIds().all
    return { numbers, rooms: numbers.map((number) => this.#room(trunk, number)) }
  }

  /** To be called after the claim, which may have returned fewer contacts, or contacts that keep the number they saw before (`shown`). */
  settle(
    trunk: LiveTrunk,
    callIds: ReadonlyArray<CallId>,
    assigned: ReadonlyArray<Assigned>,
    shown: ReadonlyMap<CallId, string | null>
  ): void {
    // In reverse order, so that each one restores the state that preceded it.
    for (const [index, { number, use, useBefore }] of [...assigned.entries()].reverse()) {
      const callId = callIds[index]
      if (callId === undefined || shown.get(callId) === number) continue
      if (this.#lastUse(trunk, number) === use) this.#usedAt.set(keyOf(trunk, number), useBefore)
    }
    for (const [index, callId] of callIds.entries()) {
      const number = shown.get(callId)
      const before = assigned[index]?.number
      if (number === undefined || number === before) continue
      this.#slots.move(callId, keyOf(trunk, before), keyOf(trunk, number))
      this.#use(trunk, number)
    }
  }

  #use(trunk: LiveTrunk, number: string | null): number {
    this.#usedAt.set(keyOf(trunk, number), ++this.#uses)
    return this.#uses
  }

  #lastUse(trunk: LiveTrunk, number: string | null): number {
    return this.#usedAt.get(keyOf(trunk, number)) ?? 0
  }
}
