/**
 * Writes down what happens to a call. The database may be away for a while (a restart, a failover): the call goes on, and its record is
 * caught up with.
 */
import { Cause, Context, Effect, Layer, Schedule, Semaphore } from "effect"
import type { AttemptEnd, ContactFate } from "#core/call/Attempt.ts"
import { AttemptStore, type Decided, type Finished } from "#core/call/AttemptStore.ts"
import { CallState } from "#core/call/Call.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { decide, type RetryConfig } from "#core/campaign/RetryPolicy.ts"
import type { CallId } from "#core/Id.ts"
import type { LiveCall } from "./LiveCall.ts"
import { endOf } from "./RunReport.ts"

/** Ends wait for each other at their campaign's row: calls that end together leave connections for the ones that take their place. */
const ENDS_AT_ONCE = 6

/** What is new for the campaign after its call has been recorded. */
export interface Recorded {
  /** The campaign's row changed in a way that its owner has to see: completed, or stopped by the breaker. */
  readonly look: boolean
  /** The contact waits for a retry: epoch milliseconds. */
  readonly dueAt: number | undefined
}

export class CallJournal extends Context.Service<
  CallJournal,
  {
    /** False: the permit has ended, the request must not leave. */
    readonly sent: (callId: CallId, now: number) => Effect.Effect<boolean>
    readonly answered: (callId: CallId, now: number) => Effect.Effect<void>
    readonly undone: (call: LiveCall, state: CallState & { readonly _tag: "Void" }) => Effect.Effect<Recorded>
    readonly ended: (call: LiveCall, end: AttemptEnd) => Effect.Effect<Recorded>
  }
>()("runtime/call/CallJournal") {
  static readonly layer = Layer.effect(
    CallJournal,
    Effect.gen(function* () {
      const store = yield* AttemptStore
      const ownership = yield* CampaignOwnership
      const writers = yield* Semaphore.make(ENDS_AT_ONCE)

      /**
       * Judged after the entry is committed, not in its transaction: of two calls that end at once, one then sees both. Should the process
       * die between, the campaign's next owner judges before it dials.
       */
      const judged = Effect.fnUntraced(function* <A>(
        call: LiveCall,
        now: number,
        record: Effect.Effect<A>,
        isEntry: (recorded: A) => boolean
      ) {
        const recorded = yield* record
        const campaign = call.attempt.campaign
        const tripped = campaign?.breakerEnabled === true && isEntry(recorded) && (yield* ownership.judgeBreaker(campaign.campaignId, now))
        return { recorded, tripped }
      })

      const ended = Effect.fnUntraced(function* (call: LiveCall, end: AttemptEnd) {
        let settings: Settings | undefined = call.attempt.campaign
        while (true) {
          const decided = settings === undefined ? undefined : decideFate(call, end, settings)
          const { recorded, tripped } = yield* judged(
            call,
            end.endedAt,
            writers.withPermits(1)(store.finish(call.attempt.callId, end, decided)),
            (finished) => finished._tag === "Done" && finished.breakerEntry
          )
          if (recorded._tag === "Stale") settings = recorded
          else return { dueAt: dueOf(decided, recorded), look: tripped || recorded._tag === "AlreadyOver" || recorded.campaignCompleted }
        }
      })

      return {
        sent: (callId, now) => persist(store.sent(callId, now)),
        answered: (callId, now) => persist(store.answered(callId, now)),
        undone: (call, { at, reason }) =>
          // A single call that was refused keeps its run, which says so: whoever asked for it holds the run's id.
          call.attempt.campaign === undefined
            ? persist(ended(call, refusedEnd(call, at)))
            : persist(
                judged(
                  call,
                  at,
                  store.undo(call.attempt.callId, at, reason === "unreachable"),
                  (undone) => undone && reason === "unreachable"
                )
              ).pipe(Effect.map(({ tripped }) => ({ dueAt: undefined, look: tripped }))),
        ended: (call, end) => persist(ended(call, end))
      }
    })
  )
}

const refusedEnd = (call: LiveCall, at: number): AttemptEnd =>
  endOf(call, CallState.cases.Ended.make({ cause: "temporary_failure", endedAt: at }), undefined)

interface Settings {
  readonly settingsVersion: number
  readonly retry: RetryConfig
}

const decideFate = (call: LiveCall, end: AttemptEnd, { retry, settingsVersion }: Settings): Decided => {
  const decision = decide({
    config: retry,
    endedAt: end.endedAt,
    outcome: end.outcome,
    retriesUsed: call.attempt.campaign?.retriesUsed ?? 0
  })
  const fate: ContactFate =
    decision._tag === "Retry" ? { dueAt: decision.dueAt, reason: decision.reason, state: "retry_wait" } : { state: decision.contact }
  return { fate, settingsVersion }
}

const dueOf = (decided: Decided | undefined, finished: Finished) =>
  // Over already: our own earlier try, whose answer was lost.
  finished._tag !== "Stale" && decided?.fate.state === "retry_wait" ? decided.fate.dueAt : undefined

const persist = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
  effect.pipe(
    Effect.sandbox,
    Effect.tapError((cause) => Effect.logWarning("a call could not be recorded yet", Cause.squash(cause))),
    Effect.retry(
      Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(Schedule.upTo({ duration: "10 minutes" }))
    ),
    Effect.catch((cause) => Effect.failCause(cause))
  )
