/**
 * Calls that were written off without ever having been seen. They are recorded as `unknown`, and nothing waits for them. While such a call may
 * still appear, it keeps its slot, so that the limits hold even if it does.
 */
import { Clock, Effect, Schedule } from "effect"
import type { CallId, CampaignId } from "#core/Id.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"

/** The longest time after its request that a call may still appear: by then a provider has given up on anything it was still holding. */
export const LONGEST_DOUBT_MILLIS = 600_000
const CHECK = "1 second"

export interface Doubt {
  readonly ref: CallRef
  readonly campaignId: CampaignId | undefined
  readonly sentAt: SteadyTime.SteadyMillis
  readonly ringTimeoutSeconds: number
  readonly trunk: LiveTrunk
}

export interface Doubts {
  /** The call already holds its slot, which is released when the doubt ends. */
  readonly hold: (doubt: Doubt) => void
  readonly has: (callId: string) => boolean
  readonly get: (callId: string) => Doubt | undefined
  readonly all: () => Iterable<Doubt>
  /** Ends a doubt: the call has been refused, or has come and gone, so it cannot appear any more. */
  readonly end: (callId: string) => void
}

/** `isAlive` tells whether a call has appeared and is being hung up. `ended` is called once the slot has been released. */
export const makeDoubts = Effect.fnUntraced(function* (isAlive: (doubt: Doubt) => boolean, ended: (callId: CallId) => void) {
  const slots = yield* Slots
  const clock = yield* Clock.Clock
  const doubts = new Map<string, Doubt>()

  const end = (callId: string) => {
    const doubt = doubts.get(callId)
    if (doubt === undefined) return
    doubts.delete(callId)
    slots.release(callId)
    ended(doubt.ref.callId)
  }
  const isOver = (doubt: Doubt) => {
    const { ref, ringTimeoutSeconds, sentAt, trunk } = doubt
    if (isAlive(doubt)) return false
    const ageMillis = SteadyTime.nowOf(clock) - sentAt
    return ageMillis >= LONGEST_DOUBT_MILLIS || trunk.trunk.mayAppear?.({ ageMillis, call: ref, ringTimeoutSeconds }) === false
  }
  yield* Effect.sync(() => {
    for (const doubt of [...doubts.values()]) if (isOver(doubt)) end(doubt.ref.callId)
  }).pipe(
    Effect.catchCause((cause) => Effect.logError("calls in doubt could not be checked", cause)),
    Effect.repeat(Schedule.spaced(CHECK)),
    Effect.forkScoped
  )

  const made: Doubts = {
    hold: (doubt) => {
      doubts.set(doubt.ref.callId, doubt)
    },
    has: (callId) => doubts.has(callId),
    get: (callId) => doubts.get(callId),
    all: () => doubts.values(),
    end
  }
  return made
})
