/**
 * Which of a trunk's numbers a campaign's call shows: the one that was used least recently, unless it carries as many calls as it may. What a
 * number carries is counted with the slots, so it is given back with them, whatever becomes of a call. The order is kept in memory alone:
 * after a restart it begins anew.
 */
import type { CallId } from "#core/Id.ts"
import type { LiveTrunk } from "../trunk/TrunkPool.ts"
import type { Slots, SlotScope } from "../Slots.ts"

/** Larger than any number of calls, and still an int4. */
const UNLIMITED = 1_000_000_000

/** Counts the calls of the trunk that show the number. */
export const callerKey = (configurationId: number, number: string | undefined): string => `caller:${configurationId}:${number ?? ""}`
/** Counts those of which that is not decided yet. */
const undecidedKey = ({ configurationId }: LiveTrunk): string => `undecided:${configurationId}`
const keyOf = ({ configurationId }: LiveTrunk, number: string | null | undefined): string => callerKey(configurationId, number ?? undefined)

export class CallerRotation {
  readonly #slots: Slots["Service"]
  /** By the key of the number: larger is later. */
  readonly #usedAt = new Map<string, number>()
  #uses = 0

  constructor(slots: Slots["Service"]) {
    this.#slots = slots
  }

  /** Calls that could still be placed with this number. */
  #room(trunk: LiveTrunk, number: string): number {
    const limit = trunk.callerIds().limits?.get(number)
    return limit === undefined ? UNLIMITED : Math.max(0, limit - this.#slots.used(keyOf(trunk, number)))
  }

  /** Room for one more number. Without any number, calls show none, as many as there are. */
  scope(trunk: LiveTrunk): SlotScope {
    const room = () => trunk.callerIds().all.reduce((sum, number) => sum + this.#room(trunk, number), 0)
    return {
      key: undecidedKey(trunk),
      // Asked whenever a slot is free: numbers come and go, and so do their calls.
      get limit() {
        return trunk.callerIds().all.length === 0 ? undefined : room()
      }
    }
  }

  /** There are numbers, and all carry as many calls as they may. */
  isExhausted(trunk: LiveTrunk): boolean {
    const { key, limit } = this.scope(trunk)
    return limit !== undefined && this.#slots.used(key) >= limit
  }

  /** A number for each of these calls, which hold slots; null where the trunk has none. */
  assign(trunk: LiveTrunk, callIds: ReadonlyArray<CallId>): ReadonlyArray<string | null> {
    return callIds.map((callId) => {
      let best: string | undefined
      for (const number of trunk.callerIds().all) {
        if (this.#room(trunk, number) > 0 && (best === undefined || this.#lastUse(trunk, number) < this.#lastUse(trunk, best)))
          best = number
      }
      this.#slots.move(callId, undecidedKey(trunk), keyOf(trunk, best))
      if (best !== undefined) this.#usedAt.set(keyOf(trunk, best), ++this.#uses)
      return best ?? null
    })
  }

  /** The numbers that a retry may prefer, because its contact has seen them before, each for so many calls more. */
  usable(trunk: LiveTrunk): { readonly numbers: ReadonlyArray<string>; readonly rooms: ReadonlyArray<number> } {
    const numbers = trunk.callerIds().all
    return { numbers, rooms: numbers.map((number) => this.#room(trunk, number)) }
  }

  /** What the claim has come to: a call may show another number than the one it was assigned, which is the next one's then. */
  settle(
    trunk: LiveTrunk,
    callIds: ReadonlyArray<CallId>,
    assigned: ReadonlyArray<string | null>,
    shown: ReadonlyMap<CallId, string | null>
  ): void {
    for (const [index, callId] of callIds.entries()) {
      const before = keyOf(trunk, assigned[index])
      const number = shown.get(callId)
      const after = keyOf(trunk, number)
      if (number !== undefined && before === after) continue
      this.#usedAt.set(before, 0)
      if (number === undefined) continue
      this.#slots.move(callId, before, after)
      this.#usedAt.set(after, ++this.#uses)
    }
  }

  #lastUse(trunk: LiveTrunk, number: string): number {
    return this.#usedAt.get(keyOf(trunk, number)) ?? 0
  }
}
