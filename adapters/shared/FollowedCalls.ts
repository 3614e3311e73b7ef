/** The calls whose end is awaited, at a carrier whose callbacks are not proof of it: calls that have been silent for a while are looked up. */
import type { Clock } from "effect"
import type { CallId } from "#core/Id.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { nowOf } from "#core/SteadyTime.ts"

const SILENCE_MILLIS = 15_000
/** Beyond this number, only the engine's own looks notice an end. */
const MOST_CALLS = 10_000

interface Followed {
  readonly call: CallRef
  readonly heardAt: number
}

export class FollowedCalls {
  readonly #clock: Clock.Clock
  readonly #calls = new Map<CallId, Followed>()

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  /** There is a sign that the call is up. */
  heard(call: CallRef): void {
    this.#follow(call, nowOf(this.#clock))
  }

  /** The call may be over, so it is looked up next. */
  suspect(call: CallRef): void {
    this.#follow(call, Number.NEGATIVE_INFINITY)
  }

  ended({ callId }: CallRef): void {
    this.#calls.delete(callId)
  }

  /** The call that has been silent for the longest time, if that is long enough. */
  silent(): CallRef | undefined {
    const latest = nowOf(this.#clock) - SILENCE_MILLIS
    let oldest: Followed | undefined
    for (const one of this.#calls.values()) if (one.heardAt <= (oldest?.heardAt ?? latest)) oldest = one
    return oldest?.call
  }

  #follow(call: CallRef, heardAt: number): void {
    if (call.providerCallId === undefined || (this.#calls.size >= MOST_CALLS && !this.#calls.has(call.callId))) return
    this.#calls.set(call.callId, { call, heardAt })
  }
}
