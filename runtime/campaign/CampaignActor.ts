/**
 * The owner of one running campaign: decides when the next contact is dialed, and claims it. Nothing here polls: a turn ends by naming what
 * it waits for, and the actor sleeps until that moment or until there is news on its inbox.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { type AutomaticStop, CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { compile } from "#core/campaign/Schedule.ts"
import type { CampaignId, TelephonyConfigId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallRate } from "#runtime/dispatch/CallRate.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { makeBreakerWatch } from "./breakerWatch.ts"
import { briefly, type CampaignMemory, due, news, over, remember, until, type Wait } from "./CampaignMemory.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { makeDialTurn } from "./DialTurn.ts"
import * as Stops from "./stops.ts"
import type { Gate } from "./TrunkGate.ts"

/** How often an actor checks whether the local journal can be written again. */
const JOURNAL_MILLIS = 1000
/** How often an actor checks whether the engine has its lock again. */
const LOCK_MILLIS = 250
/** The log mentions greetings that nobody heard no more often than this. */
const MISSED_LOG_MILLIS = 60_000
/** Timers are re-armed at least this often: the next opening of a window can be weeks away. */
const LONGEST_SLEEP_MILLIS = 3_600_000

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
      const local = yield* LocalJournal
      const inboxes = yield* CampaignInboxes
      const slots = yield* Slots
      const rate = yield* CallRate
      const pool = yield* TrunkPool
      const dialTurn = yield* makeDialTurn
      const lock = yield* EngineLock
      const clock = yield* Clock.Clock
      const breakerWatch = yield* makeBreakerWatch
      const versions = yield* AgentVersions

      const stop = (memory: CampaignMemory, why: AutomaticStop) =>
        Effect.as(ownership.stop(memory.plan.campaignId, why, memory.plan.ownerEpoch), over)

      const readNews = Effect.fnUntraced(function* (memory: CampaignMemory) {
        const { inbox } = memory
        memory.dueAt = Math.min(memory.dueAt, inbox.dueAt)
        if (inbox.returned) memory.more = true
        inbox.returned = false
        inbox.dueAt = Number.POSITIVE_INFINITY
        if (!inbox.rowChanged) return true
        inbox.rowChanged = false
        const plan = yield* ownership.look(memory.plan.campaignId, memory.plan.ownerEpoch)
        if (plan === undefined) return false
        yield* breakerWatch.begin(inbox, plan)
        memory.plan = plan
        memory.schedule = compile(plan.schedule ?? undefined)
        memory.more = true
        inbox.confirm()
        return true
      })

      const findTrunk = Effect.fnUntraced(function* (memory: CampaignMemory, id: TelephonyConfigId) {
        if (memory.trunk?.configurationId === id && memory.trunk.isCurrent()) return memory.trunk
        memory.unwatch()
        // Whoever resumed the campaign may have repaired what the trunk was down for.
        memory.trunk = yield* pool.getRepaired(id)
        memory.unwatch = memory.trunk?.watch(() => memory.inbox.wake()) ?? (() => {})
        return memory.trunk
      })

      /** Undefined when the gate is open. */
      const gateWait = Effect.fnUntraced(function* (memory: CampaignMemory, gate: Gate) {
        if (gate._tag === "Open") return undefined
        if (gate._tag === "GiveUp") return yield* stop(memory, gate.stop)
        return gate.until === undefined ? news : until(gate.until)
      })

      const connectionWait = (memory: CampaignMemory, trunk: LiveTrunk, now: number, steady: SteadyTime.SteadyMillis) => {
        const gate = memory.gate.connection(trunk, steady)
        if (gate._tag !== "Open" && (memory.more || memory.dueAt <= now)) trunk.heldUp(memory.plan.campaignId)
        return gateWait(memory, gate)
      }

      const tellTrouble = Effect.fnUntraced(function* (memory: CampaignMemory, trunk: LiveTrunk) {
        const now = yield* SteadyTime.now
        const note = memory.gate.note(trunk.trouble(), now)
        const notes = [...(note === undefined ? [] : [note]), ...memory.gate.endpointNotes(trunk, now)]
        for (const each of notes) yield* ownership.log(memory.plan.campaignId, each)
      })

      /** How many there were, once in a while and at the end: one entry for each call would bury the others. */
      const tellMissed = Effect.fnUntraced(function* (memory: CampaignMemory, notBefore: SteadyTime.SteadyMillis) {
        const { inbox } = memory
        const now = yield* SteadyTime.now
        if (inbox.missedGreetings === 0 || now < notBefore) return
        const entry = Stops.greetingsMissed(inbox.missedGreetings)
        inbox.missedGreetings = 0
        memory.missedLoggedAt = now
        yield* ownership.log(memory.plan.campaignId, entry)
      })

      /** Undefined when there may be contacts to claim. */
      const idleWait = (memory: CampaignMemory, now: number) => {
        if (memory.more || memory.dueAt <= now) return undefined
        memory.gate.rest()
        return due
      }

      /** Undefined when the window is open. */
      const windowWait = Effect.fnUntraced(function* (memory: CampaignMemory, now: number) {
        const window = memory.schedule.stateAt(now)
        memory.edgeAt = (window.open ? window.closesAt : window.opensAt) ?? Number.POSITIVE_INFINITY
        // While nothing may be dialed, it does not matter that the trunk is down.
        if (!window.open) memory.gate.rest()
        if (!memory.schedule.isZoneKnown && memory.windowOpen !== false) {
          yield* Effect.logError("the time zone of a campaign is unknown here, so that its window stays closed")
        }
        if (!window.open && memory.windowOpen !== false) yield* ownership.log(memory.plan.campaignId, Stops.windowClosed(window.opensAt))
        // A campaign that starts inside its window has crossed no edge.
        if (window.open && memory.windowOpen === false) yield* ownership.log(memory.plan.campaignId, Stops.windowOpened(window.closesAt))
        memory.windowOpen = window.open
        return window.open ? undefined : news
      })

      const turn = Effect.fnUntraced(function* (memory: CampaignMemory): Effect.fn.Return<Wait> {
        // Two owners at one inbox would take each other's news and log each edge of the window twice.
        if (!memory.inbox.isOwnedBy(memory.plan.ownerEpoch) || !(yield* readNews(memory))) return over
        const { inbox, plan } = memory
        if (plan.telephonyConfigurationId === null) return yield* stop(memory, Stops.noConfiguration)
        const trunk = yield* findTrunk(memory, plan.telephonyConfigurationId)
        if (trunk === undefined) return yield* stop(memory, Stops.noConfiguration)
        if (inbox.fatal !== undefined) return yield* stop(memory, Stops.refused(inbox.fatal, trunk.refusal() ?? "It refused a call."))
        const now = yield* Clock.currentTimeMillis
        const steady = yield* SteadyTime.now
        inbox.clockApart = now - steady
        yield* tellTrouble(memory, trunk)
        const rates = [
          { key: `campaign:${plan.campaignId}`, rate: plan.rateLimit },
          { key: `trunk:${trunk.configurationId}`, rate: trunk.rate }
        ]
        const wait =
          (yield* breakerWatch.wait(memory, steady)) ??
          (yield* windowWait(memory, now)) ??
          (yield* connectionWait(memory, trunk, now, steady)) ??
          // Nothing leaves that the journal cannot record.
          (local.failure() === undefined ? undefined : briefly(steady + JOURNAL_MILLIS, "the local journal")) ??
          (lock.isHeld() ? undefined : briefly(steady + LOCK_MILLIS, "the engine's lock")) ??
          idleWait(memory, now) ??
          (yield* gateWait(memory, memory.gate.health(trunk, steady)))
        if (wait === undefined) return yield* dialTurn(memory, trunk, rates, now)
        memory.queue.leave()
        memory.turns.leave()
        return wait
      })

      const run = Effect.fnUntraced(function* (id: CampaignId) {
        const inbox = inboxes.of(id)
        // News that arrives while the row is being read is not lost.
        inbox.rowChanged = false
        const plan = yield* ownership.own(id)
        if (plan === undefined) return inboxes.close(id)
        const flaw = plan.definitionId === null ? "it has no published version" : (yield* versions.get(plan.definitionId)).flaw
        if (flaw !== undefined) {
          yield* ownership.stop(id, Stops.agentUnfinished(flaw), plan.ownerEpoch)
          return inboxes.close(id)
        }
        // A former process may have recorded an entry and died before it judged the window.
        if (plan.breaker?.enabled === true && (yield* ownership.judgeBreaker(id, yield* Clock.currentTimeMillis))) return inboxes.close(id)
        yield* breakerWatch.begin(inbox, plan)
        inbox.open(plan.ownerEpoch)
        const memory = remember(
          plan,
          inbox,
          slots.queue(() => inbox.wake()),
          rate.queue(() => inbox.wake()),
          () => clock.currentTimeMillisUnsafe()
        )
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            inbox.shut(plan.ownerEpoch)
            memory.queue.leave()
            memory.turns.leave()
            memory.unwatch()
            inboxes.close(id)
          })
        )
        while (true) {
          inbox.news.closeUnsafe()
          const wait = yield* turn(memory)
          yield* tellMissed(memory, wait._tag === "Over" ? Number.NEGATIVE_INFINITY : memory.missedLoggedAt + MISSED_LOG_MILLIS)
          if (wait._tag === "Over") return
          inbox.idle = wait._tag === "Due"
          inbox.waitFor(wait._tag === "Until" ? wait.stuckOn : undefined, SteadyTime.nowOf(clock))
          const toEdge = Math.min(memory.edgeAt, wait._tag === "Due" ? memory.dueAt : memory.edgeAt) - clock.currentTimeMillisUnsafe()
          const toNext = wait._tag === "Until" ? wait.until - SteadyTime.nowOf(clock) : toEdge
          const sleep = Math.min(LONGEST_SLEEP_MILLIS, toEdge, toNext)
          if (sleep > 0) yield* Effect.timeoutOption(inbox.news.await, sleep)
        }
      }, Effect.scoped)

      return { run: (id) => Effect.annotateLogs(run(id), { campaignId: id }) }
    })
  )
}
