/**
 * Records what happens to calls. However long the database is away (a restart, a failover), calls go on, and their records catch up. Until then
 * what is known of a call is kept in memory and in the local journal, where the next process finds it.
 */
import { Cause, Clock, Context, Effect, Fiber, FiberSet, Layer, Schedule, Semaphore } from "effect"
import type { Attempt, AttemptEnd, ContactFate, LeftAttempt, NewAttempt } from "#core/call/Attempt.ts"
import type { Claim, Claimed } from "#core/call/AttemptBeginning.ts"
import { AttemptStore, type Decided, type Finished } from "#core/call/AttemptStore.ts"
import { CallState } from "#core/call/Call.ts"
import type { CallUnsettled } from "#core/call/CallRequest.ts"
import type { CallNotPlaced, SingleCall } from "#core/call/Dialer.ts"
import type { NumberInCall } from "#core/call/NumberHold.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { decide, type RetryConfig } from "#core/campaign/RetryPolicy.ts"
import type { CallId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { Undone } from "#runtime/journal/FormerJournals.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { sqlFailuresOf } from "#runtime/postgres/sqlState.ts"
import type { LiveCall } from "./LiveCall.ts"
import type { Recorded } from "./Recorded.ts"
import { bareEnd, endOf } from "./RunReport.ts"

const { Ended } = CallState.cases

/** Ends of a campaign wait for each other at its row: this leaves connections to the calls that take their place. */
const ENDS_AT_ONCE = 6
/** How long a claim whose reply was lost may still be running in the database; after that, the sweep takes care of it. */
const LATE_CLAIM = "10 seconds"
/** How long a stopping node waits for unused claims to be given back. */
const STOP_TIMEOUT = "5 seconds"
/** While the database is away, each call logs that no more often than this. */
const SAY_AGAIN_MILLIS = 60_000

export class CallJournal extends Context.Service<
  CallJournal,
  {
    /**
     * As the store's, but never leaves contacts behind: if the caller is interrupted or the reply is lost, whatever was claimed is given back
     * as soon as possible, and `returned` is called.
     */
    readonly claim: (claim: Omit<Claim, "journal">, returned: () => void) => Effect.Effect<Claimed>
    /** The same for a single call. */
    readonly begin: (
      call: SingleCall,
      as: { readonly callId: CallId; readonly provider: string; readonly node: string }
    ) => Effect.Effect<NewAttempt, CallNotPlaced | CallUnsettled | NumberInCall>
    /** Gives back contacts that were claimed but have no call: they certainly never leave. */
    readonly unclaim: (callIds: ReadonlyArray<CallId>, returned: () => void) => void
    /** False: the permit has ended, so the request must not leave. */
    readonly sent: (callId: CallId, now: number) => Effect.Effect<boolean>
    readonly answered: (callId: CallId, now: number, endpoint: string | undefined) => Effect.Effect<void>
    readonly undone: (call: LiveCall, state: CallState & { readonly _tag: "Void" }) => Effect.Effect<Recorded>
    readonly ended: (call: Attempt, end: AttemptEnd) => Effect.Effect<Recorded>
    /** The attempt of a former process was certainly never placed. */
    readonly neverPlaced: (attempt: LeftAttempt, undone: Undone) => Effect.Effect<Recorded>
  }
>()("runtime/call/CallJournal") {
  static readonly layer = Layer.effect(
    CallJournal,
    Effect.gen(function* () {
      const store = yield* AttemptStore
      const ownership = yield* CampaignOwnership
      const local = yield* LocalJournal
      const writers = yield* Semaphore.make(ENDS_AT_ONCE)
      const claims = yield* FiberSet.make<unknown, unknown>()
      const fork = yield* FiberSet.runtime(claims)()
      yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(claims), STOP_TIMEOUT))

      /**
       * Judged after the entry is committed, not in its transaction, so that of two calls that end at once, one sees both. If the process dies
       * in between, the campaign's next owner judges before it dials.
       */
      const judged = Effect.fnUntraced(function* <A>(
        { campaign }: Attempt,
        now: number,
        record: Effect.Effect<A>,
        isEntry: (recorded: A) => boolean
      ) {
        const recorded = yield* record
        const tripped = campaign?.breakerEnabled === true && isEntry(recorded) && (yield* ownership.judgeBreaker(campaign.campaignId, now))
        return { recorded, tripped }
      })

      const finish = Effect.fnUntraced(function* (attempt: Attempt, end: AttemptEnd) {
        let settings: Settings | undefined = attempt.campaign
        while (true) {
          const decided = settings === undefined ? undefined : decideFate(attempt, end, settings)
          const { recorded, tripped } = yield* judged(
            attempt,
            end.endedAt,
            writers.withPermits(1)(store.finish(attempt.callId, end, decided)),
            (finished) => finished._tag === "Done" && finished.breakerEntry
          )
          if (recorded._tag === "Stale") settings = recorded
          else {
            const isDone = recorded._tag === "Done"
            return {
              dueAt: dueOf(decided, recorded),
              // Over already: our own earlier try, whose answer was lost.
              isEntry: !isDone || recorded.breakerEntry,
              look: tripped || !isDone || recorded.campaignCompleted
            }
          }
        }
      })

      /** How it ended is recorded whatever becomes of the rest. */
      const finishAnyhow = (attempt: Attempt, end: AttemptEnd) => {
        const { answeredAt, cause, endedAt } = end
        const bare = bareEnd(attempt.callId, Ended.make({ cause, endedAt, ...(answeredAt === undefined ? {} : { answeredAt }) }))
        let isTold = false
        const tell = Effect.suspend(() => {
          if (isTold) return Effect.void
          isTold = true
          const kept = local.refused(attempt.callId, end)
          return Effect.logError("the database refuses the record of a call for its content: only its end is recorded", {
            callId: attempt.callId,
            kept
          })
        })
        return Effect.catchCause(finish(attempt, end), (cause) =>
          isRefusedForContent(cause) ? Effect.andThen(tell, finish(attempt, bare)) : Effect.failCause(cause)
        )
      }

      const settledBy = <A>(callId: CallId, record: Effect.Effect<A>) =>
        Effect.tap(persist(record), () => Effect.sync(() => local.settled(callId)))

      const ended = (attempt: Attempt, end: AttemptEnd) =>
        Effect.suspend(() => {
          local.ended(attempt.callId, end)
          return settledBy(attempt.callId, finishAnyhow(attempt, end))
        })

      const undone = (attempt: Attempt, how: Undone) =>
        Effect.suspend(() => {
          local.undone(attempt.callId, how)
          const undo = store.undo(attempt.callId, how.at, how.breakerEntry)
          const record = judged(attempt, how.at, undo, (isUndone) => isUndone && how.breakerEntry)
          return settledBy(attempt.callId, record).pipe(
            Effect.map(({ tripped }) => ({ dueAt: undefined, isEntry: how.breakerEntry, look: tripped }))
          )
        })

      const giveBack = Effect.fnUntraced(function* (callIds: ReadonlyArray<CallId>) {
        const at = yield* Clock.currentTimeMillis
        // A missing row is no error: a claim may find fewer contacts than it asked for.
        for (const callId of callIds) yield* settledBy(callId, store.undo(callId, at, false))
      })
      const unclaim = (callIds: ReadonlyArray<CallId>, returned: () => void, after: Effect.Effect<unknown> = Effect.void) => {
        const withheld = callIds.filter(local.withhold)
        fork(Effect.andThen(after, giveBack(withheld)).pipe(Effect.andThen(Effect.sync(returned))))
      }
      /** Runs in a fiber of its own, so that the reply is received even if the caller is gone. */
      const guarded = <A, E>(callIds: ReadonlyArray<CallId>, write: Effect.Effect<A, E>, returned: () => void) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(FiberSet.run(claims, write), (writing) =>
            Effect.onExit(restore(Fiber.join(writing)), (exit) => {
              const isLost = exit._tag === "Failure" && (Cause.hasDies(exit.cause) || Cause.hasInterrupts(exit.cause))
              if (isLost) unclaim(callIds, returned, Effect.timeoutOption(Fiber.await(writing), LATE_CLAIM))
              return Effect.void
            })
          )
        )

      return {
        claim: (claim, returned) => guarded(claim.callIds, store.claim({ ...claim, journal: local.id }), returned),
        begin: (call, as) => guarded([as.callId], store.begin(call, { ...as, journal: local.id }), () => {}),
        unclaim: (callIds, returned) => unclaim(callIds, returned),
        sent: (callId, now) => persist(store.sent(callId, now)),
        answered: (callId, now, endpoint) => persist(store.answered(callId, now, endpoint)),
        undone: (call, { at, reason }) =>
          // A refused single call keeps its run, which says so, because its client has the run's id.
          call.attempt.campaign === undefined
            ? ended(call.attempt, endOf(call, Ended.make({ cause: "temporary_failure", endedAt: at }), undefined))
            : undone(call.attempt, { at, breakerEntry: reason === "unreachable" }),
        ended,
        neverPlaced: (attempt, how) =>
          attempt.campaign === undefined
            ? ended(attempt, bareEnd(attempt.callId, Ended.make({ cause: "temporary_failure", endedAt: how.at })))
            : undone(attempt, how)
      }
    })
  )
}

/** SQLSTATE: data that is no such data, a violated constraint, more than the server can take in. */
const contentState = /^(22|23|54)/

const isRefusedForContent = (cause: Cause.Cause<unknown>): boolean => sqlFailuresOf(cause).some(({ state }) => contentState.test(state))

interface Settings {
  readonly settingsVersion: number
  readonly retry: RetryConfig
}

const decideFate = ({ campaign }: Attempt, end: AttemptEnd, { retry, settingsVersion }: Settings): Decided => {
  const decision = decide({
    config: retry,
    cutByTrunk: end.cutByTrunk,
    endedAt: end.endedAt,
    messageLeft: end.messageLeft,
    outcome: end.outcome,
    retriesUsed: campaign?.retriesUsed ?? 0
  })
  const fate: ContactFate =
    decision._tag === "Retry" ? { dueAt: decision.dueAt, reason: decision.reason, state: "retry_wait" } : { state: decision.contact }
  return { fate, settingsVersion }
}

const dueOf = (decided: Decided | undefined, finished: Finished) =>
  // Over already: our own earlier try, whose answer was lost.
  finished._tag !== "Stale" && decided?.fate.state === "retry_wait" ? decided.fate.dueAt : undefined

/** Retries until it is written. */
const persist = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    let sayAt = Number.NEGATIVE_INFINITY
    const say = (cause: Cause.Cause<never>) =>
      Effect.flatMap(SteadyTime.now, (now) => {
        if (now < sayAt) return Effect.void
        sayAt = now + SAY_AGAIN_MILLIS
        return Effect.logWarning("a call could not be recorded yet", Cause.squash(cause))
      })
    return effect.pipe(
      Effect.sandbox,
      Effect.tapError(say),
      Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])),
      Effect.orDie
    )
  })
