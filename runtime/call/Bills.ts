/**
 * Asks for the prices of ended calls, from carriers that add them to the call's record some time later. Requests still pending when the process
 * ends are dropped: the carrier's own invoice has those prices.
 */
import { Clock, Effect, Schedule } from "effect"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { type CallCost, costIn } from "#core/provider/CallCost.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"

/** Carriers rate a call within seconds or minutes of its end. */
const ASKED_AFTER_MILLIS = [15_000, 60_000, 300_000, 1_800_000] as const
/** Per second. Kept low because calls in progress come first. */
const MOST_AT_ONCE = 5
/** Beyond this many, the newest calls are not asked for. */
const MOST = 20_000
const CHECK = "1 second"
const REQUEST_TIMEOUT = "10 seconds"

interface Unbilled {
  readonly ref: CallRef
  readonly trunk: LiveTrunk
  dueAt: SteadyTime.SteadyMillis
  asked: number
}

export interface Bills {
  /** The call has ended, and its carrier adds prices to call records. */
  readonly ended: (ref: CallRef, trunk: LiveTrunk) => void
  /** The carrier has reported what the call cost. */
  readonly record: (ref: Pick<CallRef, "callId">, cost: CallCost) => Effect.Effect<void>
}

export const makeBills = Effect.gen(function* () {
  const store = yield* LateCallStore
  const clock = yield* Clock.Clock
  const waiting = new Set<Unbilled>()
  const record: Bills["record"] = ({ callId }, cost) =>
    store.bill(callId, cost).pipe(
      Effect.sandbox,
      Effect.retry(Schedule.spaced("5 seconds").pipe(Schedule.upTo({ duration: "10 minutes" }))),
      Effect.catchCause((cause) => Effect.logWarning("what a call cost could not be recorded", cause)),
      Effect.annotateLogs({ callId })
    )
  const ask = Effect.fnUntraced(function* (call: Unbilled) {
    const look = yield* call.trunk.trunk.lookup(call.ref).pipe(
      Effect.timeout(REQUEST_TIMEOUT),
      Effect.catch(() => Effect.undefined)
    )
    const cost = costIn(look?.told ?? [])
    if (cost !== undefined) {
      waiting.delete(call)
      return yield* record(call.ref, cost)
    }
    const pause = ASKED_AFTER_MILLIS[++call.asked]
    if (pause === undefined) waiting.delete(call)
    else call.dueAt = SteadyTime.nowOf(clock) + pause
  })
  yield* Effect.suspend(() => {
    const now = SteadyTime.nowOf(clock)
    const due: Array<Unbilled> = []
    for (const call of waiting) {
      if (call.dueAt <= now) due.push(call)
      if (due.length === MOST_AT_ONCE) break
    }
    return Effect.forEach(due, ask, { concurrency: "unbounded", discard: true })
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("prices of calls could not be asked for", cause)),
    Effect.repeat(Schedule.spaced(CHECK)),
    Effect.forkScoped
  )
  const bills: Bills = {
    ended: (ref, trunk) => {
      if (waiting.size < MOST) waiting.add({ ref, trunk, dueAt: SteadyTime.nowOf(clock) + ASKED_AFTER_MILLIS[0], asked: 0 })
    },
    record
  }
  return bills
})
