/**
 * The owner of one running campaign: decides when the next contact is dialed, and claims it. Nothing here polls: a turn ends by naming what
 * it waits for, and the actor sleeps until that moment or until there is news on its desk.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Claimed } from "#core/call/AttemptBeginning.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { type AutomaticStop, CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import { claimLimit } from "#core/campaign/Pacing.ts"
import { compile, type Schedule } from "#core/campaign/Schedule.ts"
import type { CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { CallSupervisor } from "../call/CallSupervisor.ts"
import { PassDialPoint } from "../call/DialPoint.ts"
import type { Permit } from "../call/LiveCall.ts"
import { CallRate, type RateScope } from "../CallRate.ts"
import { Config } from "../config.ts"
import { newCallId } from "../newCallId.ts"
import { Slots, type SlotQueue, type SlotScope } from "../Slots.ts"
import { type LiveTrunk, TRIES_TO_GIVE_UP, TrunkPool } from "../trunk/TrunkPool.ts"
import { type Desk, Desks } from "./Desk.ts"
import * as Stops from "./stops.ts"

/** Contacts are claimed this long before they may leave, so that the claim does not cost rate. */
const AHEAD_MILLIS = 20
/** Contacts that may leave so soon are marked `sent` as they are claimed: a crash in that time leaves them in doubt. */
const AT_ONCE_MILLIS = 5
/** A trunk that has been down for so long pauses the campaign. */
const DOWN_MILLIS = 135_000
const CAPACITY_LOG_MILLIS = 600_000
const RATE_LIMITED_LOG_MILLIS = 60_000
/** Timers are re-armed at least this often: the next opening of a window can be weeks away. */
const LONGEST_SLEEP_MILLIS = 3_600_000

/** What a turn waits for. `until`: epoch milliseconds. */
type Wait = { readonly _tag: "Until"; readonly until: number } | { readonly _tag: "News" } | { readonly _tag: "Over" }
const until = (at: number): Wait => ({ _tag: "Until", until: at })
const news: Wait = { _tag: "News" }
const over: Wait = { _tag: "Over" }

/** The actor's memory; all of it can be had again from the campaign's row. */
interface Memory {
  readonly desk: Desk
  readonly queue: SlotQueue
  readonly permit: Permit
  plan: DialPlan
  schedule: Schedule
  trunk: LiveTrunk | undefined
  unwatch: () => void
  /** There may be contacts to claim now. */
  more: boolean
  /** When the next retry falls due; epoch milliseconds. */
  dueAt: number
  windowOpen: boolean | undefined
  /** When the window opens or closes next; epoch milliseconds. */
  edgeAt: number
  downSince: number | undefined
  /** Refusals in a row that the trunk had before this owner's first call: whoever resumed the campaign wants it tried again. */
  failuresBefore: number
  capacityLoggedAt: number
  rateLimitLoggedAt: number
}

export class CampaignActor extends Context.Service<
  CampaignActor,
  {
    /** Dials until the campaign does not run any more. */
    readonly run: (id: CampaignId) => Effect.Effect<void>
  }
>()("runtime/campaign/CampaignActor") {
  static readonly layer = Layer.effect(
    CampaignActor,
    Effect.gen(function* () {
      const ownership = yield* CampaignOwnership
      const store = yield* AttemptStore
      const supervisor = yield* CallSupervisor
      const desks = yield* Desks
      const slots = yield* Slots
      const rate = yield* CallRate
      const pool = yield* TrunkPool
      const pass = yield* PassDialPoint
      const { nodeName } = yield* Config

      const stop = (memory: Memory, why: AutomaticStop) =>
        Effect.as(ownership.stop(memory.plan.campaignId, why, memory.plan.ownerEpoch), over)

      const readNews = Effect.fnUntraced(function* (memory: Memory) {
        const { desk } = memory
        memory.dueAt = Math.min(memory.dueAt, desk.dueAt)
        if (desk.returned) memory.more = true
        desk.returned = false
        desk.dueAt = Number.POSITIVE_INFINITY
        if (!desk.rowChanged) return true
        desk.rowChanged = false
        const plan = yield* ownership.look(memory.plan.campaignId, memory.plan.ownerEpoch)
        if (plan === undefined) return false
        memory.plan = plan
        memory.schedule = compile(plan.schedule ?? undefined)
        memory.more = true
        desk.confirm()
        return true
      })

      const findTrunk = Effect.fnUntraced(function* (memory: Memory, id: TelephonyConfigId) {
        if (memory.trunk?.configurationId === id && memory.trunk.isCurrent()) return memory.trunk
        memory.unwatch()
        // Whoever resumed the campaign may have repaired what the trunk was down for.
        memory.trunk = yield* pool.getRepaired(id)
        memory.unwatch = memory.trunk?.watch(() => memory.desk.wake()) ?? (() => {})
        memory.failuresBefore = memory.trunk?.failures() ?? 0
        return memory.trunk
      })

      /** Undefined when the trunk can carry calls. */
      const trunkWait = Effect.fnUntraced(function* (memory: Memory, trunk: LiveTrunk, now: number) {
        const status = trunk.status()
        if (status._tag === "Down" && status.reason === "auth") return yield* stop(memory, Stops.authFailed(status.detail))
        if (status._tag === "Down" && status.reason === "replaced") return yield* stop(memory, Stops.unreachable(status.detail))
        if (status._tag !== "Up") {
          memory.downSince ??= now
          if (now < memory.downSince + DOWN_MILLIS) return until(memory.downSince + DOWN_MILLIS)
          return yield* stop(memory, Stops.unreachable(status._tag === "Down" ? status.detail : "It did not connect."))
        }
        memory.downSince = undefined
        memory.failuresBefore = Math.min(memory.failuresBefore, trunk.failures())
        if (trunk.failures() - memory.failuresBefore >= TRIES_TO_GIVE_UP)
          return yield* stop(memory, Stops.unreachable("It could not begin a call, time after time."))
        if (now >= trunk.restUntil()) return undefined
        if (trunk.failures() === 0 && now >= memory.rateLimitLoggedAt + RATE_LIMITED_LOG_MILLIS) {
          memory.rateLimitLoggedAt = now
          yield* ownership.log(memory.plan.campaignId, Stops.rateLimited(trunk.restUntil() - now))
        }
        return until(trunk.restUntil())
      })

      /** Undefined when the window is open. */
      const windowWait = Effect.fnUntraced(function* (memory: Memory, now: number) {
        const window = memory.schedule.stateAt(now)
        memory.edgeAt = (window.open ? window.closesAt : window.opensAt) ?? Number.POSITIVE_INFINITY
        // Nobody minds a trunk that is down while nothing may be dialed.
        if (!window.open) memory.downSince = undefined
        if (!memory.schedule.isZoneKnown && memory.windowOpen !== false) {
          yield* Effect.logError("the time zone of a campaign is unknown here, so that its window stays closed")
        }
        if (!window.open && memory.windowOpen !== false) yield* ownership.log(memory.plan.campaignId, Stops.windowClosed(window.opensAt))
        // A campaign that starts inside its window has crossed no edge.
        if (window.open && memory.windowOpen === false) yield* ownership.log(memory.plan.campaignId, Stops.windowOpened(window.closesAt))
        memory.windowOpen = window.open
        return window.open ? undefined : until(memory.edgeAt)
      })

      const waitForSlot = Effect.fnUntraced(function* (memory: Memory, scopes: ReadonlyArray<SlotScope>, now: number) {
        const isStarved = slots.used(scopes[0]?.key ?? "") === 0
        if (isStarved && now >= memory.capacityLoggedAt + CAPACITY_LOG_MILLIS) {
          memory.capacityLoggedAt = now
          yield* ownership.log(memory.plan.campaignId, Stops.waitingForCapacity)
        }
        return news
      })

      const dial = Effect.fnUntraced(function* (
        memory: Memory,
        trunk: LiveTrunk,
        rates: ReadonlyArray<RateScope>,
        now: number,
        restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
      ) {
        const { plan } = memory
        const wanted = Math.min(claimLimit, rate.available(rates, now, AHEAD_MILLIS))
        const ids = yield* Effect.forEach(Array.from({ length: wanted }), () => newCallId)
        const scopes = scopesOf(plan, trunk)
        // Only ids that were given in come out.
        const callIds = memory.queue.take(ids, scopes) as typeof ids
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
        const releaseAll = Effect.sync(() => callIds.forEach(slots.release))
        const claimed = yield* Effect.onError(restore(store.claim(claim)), () => releaseAll)
        pass("claimed")
        for (const unused of callIds.slice(claimed.attempts.length)) slots.release(unused)
        if (claimed.owned) {
          memory.more = claimed.attempts.length === callIds.length
          memory.dueAt = claimed.nextDueAt ?? Number.POSITIVE_INFINITY
        } else memory.desk.rowChanged = true
        yield* startAll(memory, trunk, rates, claimed.attempts, leaving)
        return until(now)
      })

      const startAll = Effect.fnUntraced(function* (
        memory: Memory,
        trunk: LiveTrunk,
        rates: ReadonlyArray<RateScope>,
        attempts: Claimed["attempts"],
        leaving: number
      ) {
        const { breaker, campaignId, dialEpoch, retry, settingsVersion } = memory.plan
        // Of this dial epoch: what the next one permits is claimed anew.
        const permit = { ...memory.permit, holds: (now: number) => memory.plan.dialEpoch === dialEpoch && memory.permit.holds(now) }
        const reserve = (now: number) => rate.reserve(rates, now)
        const watcher = desks.watcher(campaignId)
        for (const [index, { retriesUsed, rowNo, ...attempt }] of attempts.entries()) {
          const campaign = { breakerEnabled: breaker?.enabled ?? false, campaignId, retriesUsed, retry, rowNo, settingsVersion }
          const dialAt = reserve(yield* Clock.currentTimeMillis)
          const dialing = { dialAt, freedAt: slots.freedAt(attempt.callId), marked: index < leaving, permit, reserve }
          yield* Effect.onError(supervisor.start({ ...attempt, campaign }, trunk, dialing, watcher), () =>
            Effect.forEach(attempts.slice(index), unclaim, { discard: true })
          )
        }
      })

      /** A contact that is claimed and has no call to carry on with it. */
      const unclaim = Effect.fnUntraced(function* ({ callId }: Claimed["attempts"][number]) {
        yield* store
          .undo(callId, yield* Clock.currentTimeMillis, false)
          .pipe(Effect.catchCause((cause) => Effect.logError("a claim could not be given back, and is left to the sweep", cause)))
        slots.release(callId)
      })

      const turn = Effect.fnUntraced(function* (memory: Memory): Effect.fn.Return<Wait> {
        if (!(yield* readNews(memory))) return over
        const { desk, plan } = memory
        if (desk.fatal !== undefined) return yield* stop(memory, Stops.refused(desk.fatal))
        if (plan.telephonyConfigurationId === null) return yield* stop(memory, Stops.noConfiguration)
        const trunk = yield* findTrunk(memory, plan.telephonyConfigurationId)
        if (trunk === undefined) return yield* stop(memory, Stops.noConfiguration)
        const now = yield* Clock.currentTimeMillis
        const rates = [
          { key: `campaign:${plan.campaignId}`, rate: plan.rateLimit },
          { key: `trunk:${trunk.configurationId}`, rate: trunk.rate }
        ]
        const wait =
          (yield* windowWait(memory, now)) ??
          (yield* trunkWait(memory, trunk, now)) ??
          (memory.more || memory.dueAt <= now ? undefined : until(memory.dueAt)) ??
          (rate.available(rates, now, AHEAD_MILLIS) > 0 ? undefined : until(rate.earliest(rates) - AHEAD_MILLIS))
        // Slots that were taken, and contacts that were claimed, come to their calls.
        if (wait === undefined) return yield* Effect.uninterruptibleMask((restore) => dial(memory, trunk, rates, now, restore))
        memory.queue.leave()
        return wait
      })

      const run = Effect.fnUntraced(function* (id: CampaignId) {
        const desk = desks.of(id)
        // Word that comes while the row is being read is not lost.
        desk.rowChanged = false
        const plan = yield* ownership.own(id)
        if (plan === undefined) return desks.close(id)
        // An entry that a process before this one made without living to judge it.
        if (plan.breaker?.enabled === true && (yield* ownership.judgeBreaker(id, yield* Clock.currentTimeMillis))) return desks.close(id)
        desk.open(plan.ownerEpoch)
        const memory = remember(
          plan,
          desk,
          slots.queue(() => desk.wake())
        )
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            desk.shut(plan.ownerEpoch)
            memory.queue.leave()
            memory.unwatch()
            desks.close(id)
          })
        )
        while (true) {
          desk.news.closeUnsafe()
          const wait = yield* turn(memory)
          if (wait._tag === "Over") return
          desk.idle = wait._tag === "Until" && wait.until === memory.dueAt && !memory.more
          const next = Math.min(memory.edgeAt, wait._tag === "News" ? Number.POSITIVE_INFINITY : wait.until)
          const sleep = Math.min(LONGEST_SLEEP_MILLIS, next - (yield* Clock.currentTimeMillis))
          if (sleep > 0) yield* Effect.timeoutOption(desk.news.await, sleep)
        }
      }, Effect.scoped)

      return { run: (id) => Effect.annotateLogs(run(id), { campaignId: id }) }
    })
  )
}

const remember = (plan: DialPlan, desk: Desk, queue: SlotQueue): Memory => {
  const memory: Memory = {
    capacityLoggedAt: Number.NEGATIVE_INFINITY,
    desk,
    downSince: undefined,
    failuresBefore: 0,
    dueAt: Number.POSITIVE_INFINITY,
    edgeAt: Number.POSITIVE_INFINITY,
    more: true,
    permit: {
      entered: () => {
        desk.permits++
      },
      // A trunk that asked for a rest gets it from the calls too that were claimed before.
      holds: (now) => desk.mayDial && memory.schedule.stateAt(now).open && now >= (memory.trunk?.restUntil() ?? now),
      left: () => {
        desk.permits--
      }
    },
    plan,
    queue,
    rateLimitLoggedAt: Number.NEGATIVE_INFINITY,
    schedule: compile(plan.schedule ?? undefined),
    trunk: undefined,
    unwatch: () => {},
    windowOpen: undefined
  }
  return memory
}

const scopesOf = (plan: DialPlan, trunk: LiveTrunk): ReadonlyArray<SlotScope> => [
  { key: `campaign:${plan.campaignId}`, limit: plan.maxConcurrency ?? undefined },
  { key: `organization:${plan.organizationId}`, limit: plan.organizationShare },
  { key: `trunk:${trunk.configurationId}`, limit: trunk.maxConcurrentCalls() }
]
