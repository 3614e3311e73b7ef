/**
 * Records what happens to calls. However long the database is unreachable (a restart, a failover), calls go on and their records catch up. Until
 * then, what is known about a call is kept in memory and in the local journal, where the next process finds it.
 */
import { Context, Effect, FiberSet, Layer } from "effect"
import type { Attempt, AttemptEnd, LeftAttempt, NewAttempt } from "#core/call/Attempt.ts"
import type { Claim, Claimed } from "#core/call/AttemptBeginning.ts"
import { AttemptStore, type CallAnswer, type CallName } from "#core/call/AttemptStore.ts"
import { CallState } from "#core/call/Call.ts"
import type { CallUnsettled } from "#core/call/CallRequest.ts"
import type { CallNotPlaced, SingleCall } from "#core/call/Dialer.ts"
import type { NumberInCall } from "#core/call/NumberHold.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import type { NumberOptedOut } from "#core/contact/OptOut.ts"
import type { CallId, CampaignId } from "#core/Id.ts"
import { CallPrices } from "#core/usage/ServicePrices.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import type { Undone } from "#runtime/journal/FormerJournals.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { CallNames } from "./CallNames.ts"
import { guarded, makeGuardedClaims, unclaim, unclaimElsewhere } from "./GuardedClaims.ts"
import type { LiveCall } from "./LiveCall.ts"
import { countsForBreaker } from "./noteDown.ts"
import { makeGathering } from "#runtime/postgres/Gathering.ts"
import { persist } from "#runtime/postgres/persist.ts"
import type { Recorded } from "./Recorded.ts"
import { RecordPause } from "./RecordPause.ts"
import { type OutcomeRecorder, recordEnd, recordUndone } from "./recordOutcome.ts"
import { bareEnd, endOf } from "./RunReport.ts"

const { Ended } = CallState.cases

/** Statements of each kind that run at once. The limit leaves database connections for calls that are about to start. */
const AT_ONCE = 6

/** Per campaign, so that a campaign whose rows are locked does not hold up others; single calls have their own lane. */
const gather = <Item, Result>(write: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Result>>) =>
  Effect.flatMap(RecordPause, ({ between }) =>
    makeGathering<CampaignId | undefined, Item, Result>({ atOnce: AT_ONCE, restMillis: between, write })
  )

export class CallJournal extends Context.Service<
  CallJournal,
  {
    /**
     * Claims contacts, and never leaves any behind: if the caller is interrupted or the reply is lost, everything claimed is given back as soon
     * as possible, and `returned` is called. `journal`: of the call node that will have the calls; this engine's own, if undefined.
     */
    readonly claim: (
      claim: Omit<Claim, "journal" | "timeline"> & { readonly journal?: string | undefined },
      returned: () => void
    ) => Effect.Effect<Claimed>
    /** Writes the attempt of a single call, with the same guarantee. `journal`: as for `claim`. */
    readonly begin: (
      call: SingleCall,
      as: { readonly callId: CallId; readonly provider: string; readonly node: string; readonly journal?: string | undefined }
    ) => Effect.Effect<NewAttempt, CallNotPlaced | CallUnsettled | NumberInCall | NumberOptedOut>
    /** Gives back contacts that were claimed but have no call; their requests are certain never to be sent. */
    readonly unclaim: (callIds: ReadonlyArray<CallId>, returned: () => void) => void
    /** Gives back contacts whose calls a call node had, and is certain never to have sent. Without effect on calls that are over. */
    readonly unclaimElsewhere: (callIds: ReadonlyArray<CallId>, returned: () => void) => void
    /** False if the permit has ended, so the request must not be sent. */
    readonly sent: (callId: CallId, now: number) => Effect.Effect<boolean>
    readonly answered: (call: Attempt, answeredAt: number, endpoint: string | undefined) => Effect.Effect<void>
    /**
     * Notes the provider's own id for the call: at once on this node's disk and for the next verb, and in the background in the database. An id
     * that belongs to another call is refused.
     */
    readonly named: (call: LiveCall, providerCallId: string) => void
    readonly undone: (call: LiveCall, state: CallState & { readonly _tag: "Void" }) => Effect.Effect<Recorded>
    readonly ended: (call: Attempt, end: AttemptEnd) => Effect.Effect<Recorded>
    /** An earlier process's attempt was certainly never placed. */
    readonly neverPlaced: (attempt: LeftAttempt, undone: Undone) => Effect.Effect<Recorded>
  }
>()("runtime/call/CallJournal") {
  static readonly layer = Layer.effect(
    CallJournal,
    Effect.gen(function* () {
      const store = yield* AttemptStore
      const local = yield* LocalJournal
      const charge = yield* Charge
      const claims = yield* makeGuardedClaims
      const names = yield* CallNames
      const recorder: OutcomeRecorder = {
        conversations: yield* ConversationRecords,
        local,
        ownership: yield* CampaignOwnership,
        prices: yield* CallPrices,
        finish: yield* gather(store.finish),
        store
      }
      const answer = yield* gather((answers: ReadonlyArray<CallAnswer>) => Effect.as(store.answered(answers), answers))
      const name = yield* gather((names: ReadonlyArray<CallName>) => Effect.as(store.named(names), names))
      const fork = yield* FiberSet.makeRuntime()
      const ended = (attempt: Attempt, end: AttemptEnd) => recordEnd(recorder, attempt, end)

      return {
        claim: (claim, returned) =>
          guarded(
            claims,
            claim.callIds,
            store.claim({ ...claim, journal: claim.journal ?? local.id, timeline: charge.timeline() }),
            returned
          ),
        begin: (call, as) => guarded(claims, [as.callId], store.begin(call, { ...as, journal: as.journal ?? local.id }), () => {}),
        unclaim: (callIds, returned) => unclaim(claims, callIds, returned),
        unclaimElsewhere: (callIds, returned) => unclaimElsewhere(claims, callIds, returned),
        sent: (callId, now) => persist(store.sent(callId, now)),
        answered: ({ callId, campaign }, answeredAt, endpoint) =>
          persist(Effect.asVoid(answer(campaign?.campaignId, { answeredAt, callId, endpoint }))),
        named: (call, providerCallId) => {
          const { callId } = call.attempt
          // A repeat, or the provider uses our own id.
          if (providerCallId === (call.ref.providerCallId ?? callId) || !isProviderCallId(providerCallId)) return
          if (!names.claim(callId, call.trunk.rateKey, providerCallId))
            return void fork(
              Effect.annotateLogs(Effect.logWarning("a call was given the id of another call: the id is ignored"), { callId })
            )
          call.ref = { ...call.ref, providerCallId }
          local.named(callId, providerCallId)
          fork(Effect.annotateLogs(persist(name(call.attempt.campaign?.campaignId, { callId, providerCallId })), { callId }))
        },
        undone: (call, { at, reason }) =>
          // The client of a refused single call has the id of its run, so the run is kept and shows the refusal.
          call.attempt.campaign === undefined
            ? ended(
                call.attempt,
                endOf(call, Ended.make({ cause: reason === "no_credit" ? reason : "temporary_failure", endedAt: at }), undefined)
              )
            : recordUndone(recorder, call.attempt, { at, breakerEntry: countsForBreaker(reason), isLast: reason === "undecided" }),
        ended,
        neverPlaced: (attempt, how) =>
          attempt.campaign === undefined
            ? ended(attempt, bareEnd(attempt.callId, Ended.make({ cause: "temporary_failure", endedAt: how.at })))
            : recordUndone(recorder, attempt, how)
      }
    })
  )
}
