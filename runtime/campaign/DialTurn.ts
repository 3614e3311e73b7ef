/** A turn of a campaign's owner in which it dials: takes slots, claims contacts for them, and starts their calls. */
import { Clock, Effect } from "effect"
import type { Claimed } from "#core/call/AttemptBeginning.ts"
import { CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import { claimLimit } from "#core/campaign/Pacing.ts"
import { CallJournal } from "../call/CallJournal.ts"
import type { CallId } from "#core/Id.ts"
import { CallSupervisor } from "../call/CallSupervisor.ts"
import { PassDialPoint } from "../call/DialPoint.ts"
import { CallRate, type RateScope } from "../CallRate.ts"
import { Config } from "../config.ts"
import { newCallId } from "../newCallId.ts"
import { Slots, type SlotScope } from "../Slots.ts"
import type { LiveTrunk } from "../trunk/TrunkPool.ts"
import { type CampaignMemory, news, until } from "./CampaignMemory.ts"
import { Desks } from "./Desk.ts"
import * as Stops from "./stops.ts"

/** Contacts are claimed this long before they may leave, so that the claim does not cost rate. */
export const AHEAD_MILLIS = 20
/** Contacts that may leave so soon are marked `sent` as they are claimed: a crash in that time leaves them in doubt. */
const AT_ONCE_MILLIS = 5
const CAPACITY_LOG_MILLIS = 600_000

export const makeDialTurn = Effect.gen(function* () {
  const ownership = yield* CampaignOwnership
  const journal = yield* CallJournal
  const supervisor = yield* CallSupervisor
  const desks = yield* Desks
  const slots = yield* Slots
  const rate = yield* CallRate
  const pass = yield* PassDialPoint
  const { nodeName } = yield* Config

  const waitForSlot = Effect.fnUntraced(function* (memory: CampaignMemory, scopes: ReadonlyArray<SlotScope>, now: number) {
    const isStarved = slots.used(scopes[0]?.key ?? "") === 0
    if (isStarved && now >= memory.capacityLoggedAt + CAPACITY_LOG_MILLIS) {
      memory.capacityLoggedAt = now
      yield* ownership.log(memory.plan.campaignId, Stops.waitingForCapacity)
    }
    return news
  })

  const dial = Effect.fnUntraced(function* (
    memory: CampaignMemory,
    trunk: LiveTrunk,
    rates: ReadonlyArray<RateScope>,
    now: number,
    restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
  ) {
    const { plan } = memory
    const wanted = Math.min(claimLimit, rate.available(rates, now, AHEAD_MILLIS))
    const fresh = yield* Effect.forEach(Array.from({ length: wanted }), () => newCallId)
    // Of a trunk that is not well, the first of them becomes the probe.
    const ids = fresh.filter((callId) => trunk.admit(callId))
    const scopes = scopesOf(plan, trunk)
    // Only ids that were given in come out.
    const callIds = memory.queue.take(ids, scopes) as typeof ids
    ids.slice(callIds.length).forEach(trunk.dismiss)
    if (callIds.length === 0) return yield* waitForSlot(memory, scopes, now)
    const leaving = Math.min(callIds.length, rate.available(rates, now, AT_ONCE_MILLIS), trunk.adapter.manifest.originatesInFlight)
    const claim = {
      callIds,
      campaignId: plan.campaignId,
      dialEpoch: plan.dialEpoch,
      leaving,
      node: nodeName,
      now,
      ownerEpoch: plan.ownerEpoch,
      provider: trunk.adapter.manifest.provider,
      telephonyConfigurationId: trunk.configurationId
    }
    const giveBack = (callId: CallId) => {
      slots.release(callId)
      trunk.dismiss(callId)
    }
    const releaseAll = Effect.sync(() => callIds.forEach(giveBack))
    const claimed = yield* Effect.onError(restore(journal.claim(claim, () => memory.desk.returnAll())), () => releaseAll)
    pass("claimed")
    const used = new Set(claimed.attempts.map(({ callId }) => callId))
    callIds.filter((callId) => !used.has(callId)).forEach(giveBack)
    if (claimed.owned) {
      memory.more = claimed.more
      memory.dueAt = claimed.nextDueAt ?? Number.POSITIVE_INFINITY
    } else memory.desk.rowChanged = true
    yield* startAll(memory, trunk, rates, claimed.attempts)
    return until(now)
  })

  const startAll = Effect.fnUntraced(function* (
    memory: CampaignMemory,
    trunk: LiveTrunk,
    rates: ReadonlyArray<RateScope>,
    attempts: Claimed["attempts"]
  ) {
    const { breaker, campaignId, dialEpoch, retry, settingsVersion } = memory.plan
    // Of this dial epoch: what the next one permits is claimed anew.
    const permit = { ...memory.permit, holds: (now: number) => memory.plan.dialEpoch === dialEpoch && memory.permit.holds(now) }
    const reserve = (now: number) => rate.reserve(rates, now)
    const watcher = desks.watcher(campaignId)
    for (const [index, { isSent, retriesUsed, rowNo, ...attempt }] of attempts.entries()) {
      const campaign = { breakerEnabled: breaker?.enabled ?? false, campaignId, retriesUsed, retry, rowNo, settingsVersion }
      const dialAt = reserve(yield* Clock.currentTimeMillis)
      const dialing = { dialAt, freedAt: slots.freedAt(attempt.callId), marked: isSent, permit, reserve }
      yield* Effect.onError(supervisor.start({ ...attempt, campaign }, trunk, dialing, watcher), () =>
        Effect.sync(() => unclaim(memory, trunk, attempts.slice(index)))
      )
    }
  })

  /** Contacts that are claimed and have no call to carry on with them. */
  const unclaim = ({ desk }: CampaignMemory, trunk: LiveTrunk, attempts: Claimed["attempts"]) => {
    const callIds = attempts.map(({ callId }) => callId)
    journal.unclaim(callIds, () => desk.returnAll())
    callIds.forEach(slots.release)
    callIds.forEach(trunk.dismiss)
  }

  /** Slots that were taken, and contacts that were claimed, come to their calls. */
  return (memory: CampaignMemory, trunk: LiveTrunk, rates: ReadonlyArray<RateScope>, now: number) =>
    Effect.uninterruptibleMask((restore) => dial(memory, trunk, rates, now, restore))
})

const scopesOf = (plan: DialPlan, trunk: LiveTrunk): ReadonlyArray<SlotScope> => [
  { key: `campaign:${plan.campaignId}`, limit: plan.maxConcurrency ?? undefined },
  { key: `organization:${plan.organizationId}`, limit: plan.organizationShare },
  { key: `trunk:${trunk.configurationId}`, limit: trunk.maxConcurrentCalls() }
]
