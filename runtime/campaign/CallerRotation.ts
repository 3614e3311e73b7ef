/**
 * Which of a trunk's numbers a campaign's call shows: the least recently used one that has room for another call. The calls of each number are
 * counted along with the slots, so they are released with them, however a call ends. The order of use is kept in memory only and starts anew
 * with the process.
 */
import type { CallId } from "#core/Id.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { callerKey, type Slots, type SlotScope } from "#runtime/dispatch/Slots.ts"

/** Larger than any number of calls, and still an int4. */
const UNLIMITED = 1_000_000_000

/** The slots of calls whose number is not decided yet. */
const undecidedKey = ({ configurationId }: LiveTrunk): string => `undecided:${configurationId}`
const keyOf = ({ configurationId }: LiveTrunk, number: string | null | undefined): string => callerKey(configurationId, number ?? undefined)

/** A number that a call is to show, and the number's place in the order of use, which goes back to what it was if the call does not. */
export interface Assigned {
  /** Null where the trunk has none. */
  readonly number: string | null
  readonly use: number
  readonly useBefore: number
}

export class CallerRotation {
  readonly #slots: Slots["Service"]
  /** By the key of the number: larger is later. */
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

  /** The room that all numbers have together. Without any numbers, calls show none, and there is no limit. */
  scope(trunk: LiveTrunk): SlotScope {
    const room = () => trunk.callerIds().all.reduce((sum, number) => sum + this.#room(trunk, number), 0)
    return {
      key: undecidedKey(trunk),
      // A getter, because numbers come and go, and so do their calls.
      get limit() {
        return trunk.callerIds().all.length === 0 ? undefined : room()
      }
    }
  }

  /** There are numbers, but each carries as many calls as it may. */
  isExhausted(trunk: LiveTrunk): boolean {
    const { key, limit } = this.scope(trunk)
    return limit !== undefined && this.#slots.used(key) >= limit
  }

  /** A number for each of these calls, which hold slots. */
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

  /** The numbers that a retry may show again because its contact has seen them before, and the room of each. */
  usable(trunk: LiveTrunk): { readonly numbers: ReadonlyArray<string>; readonly rooms: ReadonlyArray<number> } {
    const numbers = trunk.callerIds().all
    return { numbers, rooms: numbers.map((number) => this.#room(trunk, number)) }
  }

  /** After the claim, which may have found fewer contacts, and some that see again what they have seen before: `shown`. */
  settle(
    trunk: LiveTrunk,
    callIds: ReadonlyArray<CallId>,
    assigned: ReadonlyArray<Assigned>,
    shown: ReadonlyMap<CallId, string | null>
  ): void {
    // The last first: what each leaves is how it was before.
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
