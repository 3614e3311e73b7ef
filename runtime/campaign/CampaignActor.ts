/**
 * Owns one running campaign. Each turn looks at the campaign and its surroundings, decides (`core/campaign/decide.ts`), and carries out the
 * decision. Nothing polls: a turn returns what to wait for, and the actor sleeps until that happens or its inbox has news.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import { type CampaignView, decide, type Decision, millisToSleep, news, until, type Wait } from "#core/campaign/decide.ts"
import type { LastWord } from "#core/campaign/LastWords.ts"
import { compile } from "#core/campaign/Schedule.ts"
import * as Stops from "#core/campaign/stops.ts"
import type { TrunkView } from "#core/campaign/TrunkWatch.ts"
import type { CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { Registry } from "#core/provider/Registry.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallRate } from "#runtime/dispatch/CallRate.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { type BreakerWatch, makeBreakerWatch } from "./breakerWatch.ts"
import { type CampaignMemory, over, remember } from "./CampaignMemory.ts"
import { type CampaignInbox, CampaignInboxes } from "./CampaignInbox.ts"
import { type DialServices, dialServices, dialTurn } from "./DialTurn.ts"

/** Missed greetings are logged at most this often. */
const COUNTED_LOG_MILLIS = 60_000

export class CampaignActor extends Context.Service<
  CampaignActor,
  {
    /** Dials until the campaign stops running. */
    readonly run: (id: CampaignId) => Effect.Effect<void>
  }
>()("runtime/campaign/CampaignActor") {
  static readonly layer = Layer.effect(
    CampaignActor,
    Effect.gen(function* () {
      const services: CampaignServices = {
        breakerWatch: yield* makeBreakerWatch,
        clock: yield* Clock.Clock,
        dialServices: yield* dialServices,
        inboxes: yield* CampaignInboxes,
        local: yield* LocalJournal,
        lock: yield* EngineLock,
        ownership: yield* CampaignOwnership,
        pool: yield* TrunkPool,
        rate: yield* CallRate,
        registry: yield* Registry,
        slots: yield* Slots,
        versions: yield* AgentVersions
      }
      return { run: (id) => Effect.annotateLogs(run(services, id), { campaignId: id }) }
    })
  )
}

/** Dependencies shared by the actors of all campaigns. */
interface CampaignServices {
  readonly breakerWatch: BreakerWatch
  readonly clock: Clock.Clock
  readonly dialServices: DialServices
  readonly inboxes: CampaignInboxes["Service"]
  readonly local: LocalJournal["Service"]
  readonly lock: EngineLock["Service"]
  readonly ownership: CampaignOwnership["Service"]
  readonly pool: TrunkPool["Service"]
  readonly rate: CallRate["Service"]
  readonly registry: Registry["Service"]
  readonly slots: Slots["Service"]
  readonly versions: AgentVersions["Service"]
}

const run = Effect.fnUntraced(function* (services: CampaignServices, id: CampaignId) {
  const { clock, inboxes } = services
  const inbox = inboxes.of(id)
  const plan = yield* takeOver(services, id, inbox)
  if (plan === undefined) {
    inboxes.close(id)
    return noteStopped(services, id)
  }
  const memory = yield* memoryOf(services, plan, inbox, yield* wordsOf(services, id))
  while (true) {
    inbox.news.closeUnsafe()
    const wait = yield* turn(services, memory)
    yield* logCounted(services, memory, wait._tag === "Over" ? Number.NEGATIVE_INFINITY : memory.countedAt + COUNTED_LOG_MILLIS)
    if (wait._tag === "Over") return noteStopped(services, id)
    inbox.idle = wait._tag === "Due"
    inbox.waitFor(wait._tag === "Until" ? wait.stuckOn : undefined, SteadyTime.nowOf(clock))
    const { dueAt, watch } = memory
    const sleep = millisToSleep(wait, watch, { dueAt, now: clock.currentTimeMillisUnsafe(), steady: SteadyTime.nowOf(clock) })
    if (sleep > 0) yield* Effect.timeoutOption(inbox.news.await, sleep)
  }
}, Effect.scoped)

/** If this may be the wrong database, its answer about the campaign proves nothing. */
const noteStopped = ({ inboxes, lock }: CampaignServices, id: CampaignId): void => {
  if (lock.isHeld()) inboxes.hasStopped(id)
}

/** Makes this actor the campaign's owner. Undefined if the campaign is not running or has just been stopped. */
const takeOver = Effect.fnUntraced(function* (
  { breakerWatch, lock, ownership, versions }: CampaignServices,
  id: CampaignId,
  inbox: CampaignInbox
) {
  yield* lock.awaitHeld
  // News that arrives while the row is being read is not lost.
  inbox.rowChanged = false
  const plan = yield* ownership.own(id)
  if (plan === undefined) return undefined
  const flaw = plan.definitionId === null ? "it has no published version" : (yield* versions.get(plan.definitionId)).flaw
  if (flaw !== undefined) {
    yield* ownership.stop(id, Stops.agentUnfinished(flaw), plan.ownerEpoch)
    return undefined
  }
  // The previous process may have recorded an entry and died before judging the breaker's window.
  if (plan.breaker?.enabled === true && (yield* ownership.judgeBreaker(id, yield* Clock.currentTimeMillis))) return undefined
  yield* breakerWatch.begin(inbox, plan)
  return plan
})

/** What the campaign's log said last, in this process' time. */
const wordsOf = ({ clock, ownership }: CampaignServices, id: CampaignId) =>
  Effect.map(ownership.lastWords(id), (words) => words.map((word) => ({ ...word, at: SteadyTime.steadyPast(clock, word.at) })))

/** Opens the inbox and creates the memory. Everything is given up again when the scope closes. */
const memoryOf = Effect.fnUntraced(function* (
  services: CampaignServices,
  plan: DialPlan,
  inbox: CampaignInbox,
  words: ReadonlyArray<LastWord>
) {
  const { clock, dialServices, inboxes, rate, slots } = services
  inboxes.runs(plan)
  inbox.open(plan.ownerEpoch)
  const memory = remember(
    plan,
    words,
    inbox,
    slots.queue(() => inbox.wake()),
    rate.queue(() => inbox.wake()),
    () => clock.currentTimeMillisUnsafe()
  )
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      inbox.shut(plan.ownerEpoch)
      dialServices.supervisor.withdraw(plan.campaignId)
      memory.queue.leave()
      memory.turns.leave()
      memory.unwatch()
      inboxes.close(plan.campaignId)
    })
  )
  return memory
})

const turn = Effect.fnUntraced(function* (services: CampaignServices, memory: CampaignMemory): Effect.fn.Return<Wait | typeof over> {
  // Two owners of one inbox would take each other's news and log each window edge twice.
  if (!memory.inbox.isOwnedBy(memory.plan.ownerEpoch) || !(yield* readNews(services, memory))) return over
  const { campaignId, ownerEpoch, telephonyConfigurationId } = memory.plan
  const trunk = telephonyConfigurationId === null ? undefined : yield* findTrunk(services, memory, telephonyConfigurationId)
  const { decision, view } = yield* decided(services, memory, trunk)
  withdrawQueued(services, memory)
  switch (decision._tag) {
    case "Stop":
      yield* services.ownership.stop(campaignId, decision.stop, ownerEpoch)
      return over
    case "JudgeBreaker":
      return (yield* services.breakerWatch.judge(memory)) ? over : until(view.steady)
    case "Dial":
      return trunk === undefined ? news : yield* dialTurn(services.dialServices, memory, trunk, view.now)
    default:
      memory.queue.leave()
      memory.turns.leave()
      return decision
  }
})

/** When the permits end, for whatever reason, calls still waiting in a carrier's queue must not ring either. */
const withdrawQueued = ({ dialServices }: CampaignServices, memory: CampaignMemory): void => {
  const mayDial = memory.permit.holds()
  if (memory.mayDial && !mayDial) dialServices.supervisor.withdraw(memory.plan.campaignId)
  memory.mayDial = mayDial
}

/** False when the campaign is no longer ours. */
const readNews = Effect.fnUntraced(function* ({ breakerWatch, inboxes, ownership }: CampaignServices, memory: CampaignMemory) {
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
  inboxes.runs(plan)
  memory.plan = plan
  memory.schedule = compile(plan.schedule ?? undefined)
  memory.more = true
  inbox.confirm()
  return true
})

const findTrunk = Effect.fnUntraced(function* ({ pool }: CampaignServices, memory: CampaignMemory, id: TelephonyConfigId) {
  if (memory.trunk?.configurationId === id && memory.trunk.isCurrent()) return memory.trunk
  memory.unwatch()
  // The operator who resumed the campaign may have repaired what kept the trunk down.
  memory.trunk = yield* pool.getRepaired(id)
  memory.unwatch = memory.trunk?.watch(() => memory.inbox.wake()) ?? (() => {})
  return memory.trunk
})

/** Decides, and writes the log entries that the decision produced. Writing takes time, so it then takes a fresh view and decides again. */
const decided = Effect.fnUntraced(function* (
  services: CampaignServices,
  memory: CampaignMemory,
  trunk: LiveTrunk | undefined
): Effect.fn.Return<{ readonly decision: Decision; readonly view: CampaignView }> {
  const view = yield* viewOf(services, memory, trunk)
  const { decision, isHeldUp, notes, watch } = decide(memory.watch, view)
  const hasClosed = notes.some(({ event }) => event === "schedule_window_closed")
  memory.watch = watch
  if (isHeldUp) trunk?.heldUp(memory.plan.campaignId)
  if (hasClosed && !memory.schedule.isZoneKnown) {
    yield* Effect.logError("the time zone of a campaign is unknown here, so its window stays closed")
  }
  if (notes.length === 0) return { decision, view }
  yield* Effect.forEach(notes, (note) => services.ownership.log(memory.plan.campaignId, note), { discard: true })
  return yield* decided(services, memory, trunk)
})

/** Everything the decision depends on, as of now. */
const viewOf = Effect.fnUntraced(function* (
  { local, lock, registry }: CampaignServices,
  memory: CampaignMemory,
  trunk: LiveTrunk | undefined
): Effect.fn.Return<CampaignView> {
  const { inbox } = memory
  const now = yield* Clock.currentTimeMillis
  const steady = yield* SteadyTime.now
  inbox.clockApart = now - steady
  return {
    now,
    steady,
    trunk: trunk === undefined ? noTrunk(memory.plan, registry) : shown(trunk),
    refused: inbox.fatal,
    breaker: inbox.breaker?.isTripped !== true ? "watching" : inbox.breaker.isSettled ? "tripped" : "settling",
    window: memory.schedule.stateAt(now),
    isJournalWritable: local.failure() === undefined,
    isLockHeld: lock.isHeld(),
    more: memory.more,
    dueAt: memory.dueAt
  }
})

const shown = (trunk: LiveTrunk): TrunkView => ({
  status: trunk.status(),
  trouble: trunk.trouble(),
  hasReached: trunk.hasReached(),
  admits: trunk.admits(),
  endpoints: trunk.endpoints(),
  numbersLacking: trunk.numbersLacking()
})

const noTrunk = ({ telephonyProvider }: DialPlan, registry: Registry["Service"]): Stops.NoTrunk => {
  if (telephonyProvider === null || registry.find(telephonyProvider) !== undefined) return { lack: "configuration" }
  return { lack: "adapter", provider: telephonyProvider }
}

/** Logs missed greetings and refused contacts periodically, and at the end: an entry per call would bury all other entries. */
const logCounted = Effect.fnUntraced(function* (
  { ownership }: CampaignServices,
  memory: CampaignMemory,
  notBefore: SteadyTime.SteadyMillis
) {
  const { inbox } = memory
  const now = yield* SteadyTime.now
  const { missedGreetings, unexplained } = inbox
  if ((missedGreetings === 0 && unexplained === undefined) || now < notBefore) return
  inbox.missedGreetings = 0
  inbox.unexplained = undefined
  memory.countedAt = now
  if (missedGreetings > 0) yield* ownership.log(memory.plan.campaignId, Stops.greetingsMissed(missedGreetings))
  if (unexplained !== undefined) yield* ownership.log(memory.plan.campaignId, Stops.contactsRefused(unexplained))
})
