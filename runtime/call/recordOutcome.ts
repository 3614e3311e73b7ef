/**
 * How an attempt's outcome reaches the database: either its end, with the fate of its contact and the results of its conversation, or the fact
 * that it was certainly never placed. It is written to the local journal first, so that a later process can catch up.
 */
import { Effect } from "effect"
import type { Attempt, AttemptEnd, ContactFate } from "#core/call/Attempt.ts"
import type { Decided, DecidedEnd, Finished } from "#core/call/AttemptEnding.ts"
import type { AttemptStore } from "#core/call/AttemptStore.ts"
import { CallState } from "#core/call/Call.ts"
import type { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { decide, type RetryConfig } from "#core/campaign/RetryPolicy.ts"
import type { CallId, CampaignId } from "#core/Id.ts"
import { costOf } from "#core/usage/Cost.ts"
import type { PriceLists } from "#core/usage/Price.ts"
import type { CallPrices } from "#core/usage/ServicePrices.ts"
import type { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import type { Undone } from "#runtime/journal/FormerJournals.ts"
import type { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { isRefusedForContent } from "#runtime/postgres/sqlState.ts"
import { persist } from "#runtime/postgres/persist.ts"
import type { Recorded } from "./Recorded.ts"
import { bareEnd } from "./RunReport.ts"
import { withConversation, withoutContent } from "./withConversation.ts"

const { Ended } = CallState.cases

export interface OutcomeRecorder {
  readonly conversations: ConversationRecords["Service"]
  readonly local: LocalJournal["Service"]
  readonly ownership: CampaignOwnership["Service"]
  readonly prices: (typeof CallPrices)["Service"]
  readonly store: AttemptStore["Service"]
  /** Writes an end, together with others of the same campaign, or of single calls. */
  readonly finish: (campaign: CampaignId | undefined, end: DecidedEnd) => Effect.Effect<Finished>
}

export const recordEnd = (recorder: OutcomeRecorder, attempt: Attempt, end: AttemptEnd): Effect.Effect<Recorded> =>
  Effect.suspend(() => {
    recorder.local.ended(attempt.callId, withoutContent(end))
    const record = Effect.gen(function* () {
      const conversation = yield* recorder.conversations.collect(attempt)
      const whole = conversation === undefined ? end : withConversation(end, conversation)
      return yield* finishAnyhow(recorder, attempt, withCost(whole, yield* recorder.prices(attempt.organizationId)))
    })
    return settledBy(recorder, attempt.callId, record)
  })

const withCost = (end: AttemptEnd, prices: PriceLists): AttemptEnd => ({
  ...end,
  record: { ...end.record, costInfo: costOf(end.record.usageInfo, prices) }
})

/** The attempt was certainly never placed: its contact returns to its previous state. */
export const recordUndone = (recorder: OutcomeRecorder, attempt: Attempt, how: Undone): Effect.Effect<Recorded> =>
  Effect.suspend(() => {
    recorder.local.undone(attempt.callId, how)
    const undo = recorder.store.undo(attempt.callId, how)
    const record = judged(recorder, attempt, how.at, undo, (isUndone) => isUndone && how.breakerEntry)
    return settledBy(recorder, attempt.callId, record).pipe(
      Effect.map(({ tripped }) => ({ dueAt: undefined, isEntry: how.breakerEntry, look: tripped }))
    )
  })

const settledBy = <A>({ conversations, local }: OutcomeRecorder, callId: CallId, record: Effect.Effect<A>) =>
  Effect.tap(persist(record), () =>
    Effect.sync(() => {
      conversations.settled(callId)
      local.settled(callId)
    })
  )

/** If the database refuses the content of the record, at least the end itself is recorded. */
const finishAnyhow = (recorder: OutcomeRecorder, attempt: Attempt, end: AttemptEnd) => {
  const { answeredAt, cause, endedAt } = end
  const bare = bareEnd(attempt.callId, Ended.make({ cause, endedAt, ...(answeredAt === undefined ? {} : { answeredAt }) }))
  let isLogged = false
  const log = Effect.suspend(() => {
    if (isLogged) return Effect.void
    isLogged = true
    const kept = recorder.local.refused(attempt.callId, end)
    return Effect.logError("the database refuses the record of a call for its content: only its end is recorded", {
      callId: attempt.callId,
      kept
    })
  })
  return Effect.catchCause(finish(recorder, attempt, end), (cause) =>
    isRefusedForContent(cause) ? Effect.andThen(log, finish(recorder, attempt, bare)) : Effect.failCause(cause)
  )
}

const finish = Effect.fnUntraced(function* (recorder: OutcomeRecorder, attempt: Attempt, end: AttemptEnd) {
  let settings: RetrySettings | undefined = attempt.campaign
  while (true) {
    const decided = settings === undefined ? undefined : decideFate(attempt, end, settings)
    const { recorded, tripped } = yield* judged(
      recorder,
      attempt,
      end.endedAt,
      recorder.finish(attempt.campaign?.campaignId, { callId: attempt.callId, decided, end }),
      (finished) => finished._tag === "Done" && finished.breakerEntry
    )
    // The campaign was edited since the fate was decided.
    if (recorded._tag === "Stale") settings = recorded
    else {
      const isDone = recorded._tag === "Done"
      return {
        dueAt: dueOf(decided, recorded),
        // Already over: recorded by our own earlier attempt, whose reply was lost.
        isEntry: !isDone || recorded.breakerEntry,
        look: tripped || !isDone || recorded.campaignCompleted
      }
    }
  }
})

/**
 * Judges the breaker after the entry is committed, not in its transaction, so that of two calls that end at once, one sees both. If the process
 * dies in between, the campaign's next owner judges before it dials.
 */
const judged = Effect.fnUntraced(function* <A>(
  { ownership }: OutcomeRecorder,
  { campaign }: Attempt,
  now: number,
  record: Effect.Effect<A>,
  isEntry: (recorded: A) => boolean
) {
  const recorded = yield* record
  const tripped = campaign?.breakerEnabled === true && isEntry(recorded) && (yield* ownership.judgeBreaker(campaign.campaignId, now))
  return { recorded, tripped }
})

interface RetrySettings {
  readonly settingsVersion: number
  readonly retry: RetryConfig
}

const decideFate = ({ campaign }: Attempt, end: AttemptEnd, { retry, settingsVersion }: RetrySettings): Decided => {
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

/** When the retry is due, if there is one. An attempt that was already over was recorded by our own earlier attempt, with the same fate. */
const dueOf = (decided: Decided | undefined, finished: Finished) =>
  finished._tag !== "Stale" && decided?.fate.state === "retry_wait" ? decided.fate.dueAt : undefined
