/**
 * Claims that never leave contacts behind. A claim runs in its own fiber, so that its reply is received even if the caller is gone; if the
 * caller was interrupted or the reply was lost, everything claimed is given back. A claimed contact is given back only after its call has been
 * withheld in the local journal, so that it is certain never to be sent.
 */
import { Cause, Clock, Effect, Fiber, FiberSet } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { CallId } from "#core/Id.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { persist } from "#runtime/postgres/persist.ts"

/** How long a claim whose reply was lost may still be running in the database; after that, the sweep handles it. */
const LATE_CLAIM = "10 seconds"
/** How long a stopping node waits for unused claims to be given back. */
const STOP_TIMEOUT = "5 seconds"

interface GuardedClaims {
  readonly local: LocalJournal["Service"]
  readonly store: AttemptStore["Service"]
  readonly fibers: FiberSet.FiberSet<unknown, unknown>
  readonly fork: (work: Effect.Effect<unknown>) => void
}

export const makeGuardedClaims = Effect.gen(function* () {
  const fibers = yield* FiberSet.make<unknown, unknown>()
  yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(fibers), STOP_TIMEOUT))
  const claims: GuardedClaims = {
    local: yield* LocalJournal,
    store: yield* AttemptStore,
    fibers,
    fork: yield* FiberSet.runtime(fibers)()
  }
  return claims
})

/** Runs `claim`, which claims contacts under these ids. `returned` is called once claimed contacts have been given back. */
export const guarded = <A, E>(claims: GuardedClaims, callIds: ReadonlyArray<CallId>, claim: Effect.Effect<A, E>, returned: () => void) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(FiberSet.run(claims.fibers, claim), (claiming) =>
      Effect.onExit(restore(Fiber.join(claiming)), (exit) => {
        const isLost = exit._tag === "Failure" && (Cause.hasDies(exit.cause) || Cause.hasInterrupts(exit.cause))
        if (isLost) unclaim(claims, callIds, returned, Effect.timeoutOption(Fiber.await(claiming), LATE_CLAIM))
        return Effect.void
      })
    )
  )

export const unclaim = (
  claims: GuardedClaims,
  callIds: ReadonlyArray<CallId>,
  returned: () => void,
  after: Effect.Effect<unknown> = Effect.void
): void => {
  const withheld = callIds.filter(claims.local.withhold)
  claims.fork(Effect.andThen(after, giveBack(claims, withheld)).pipe(Effect.andThen(Effect.sync(returned))))
}

/** Like `unclaim`, for calls of a call node that is certain never to have sent them. This process may have allowed it to. */
export const unclaimElsewhere = (claims: GuardedClaims, callIds: ReadonlyArray<CallId>, returned: () => void): void =>
  void claims.fork(Effect.andThen(giveBack(claims, callIds), Effect.sync(returned)))

const giveBack = Effect.fnUntraced(function* ({ local, store }: GuardedClaims, callIds: ReadonlyArray<CallId>) {
  const at = yield* Clock.currentTimeMillis
  for (const callId of callIds) {
    // A missing row is no error: a claim may find fewer contacts than it asked for.
    yield* persist(store.undo(callId, { at, breakerEntry: false }))
    local.settled(callId)
  }
})
