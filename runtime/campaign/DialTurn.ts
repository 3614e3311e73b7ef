/** A dialing turn of a campaign's owner: takes slots, claims contacts for them, and starts their calls. */
import { Effect } from "effect"
import type { Claimed } from "#core/call/AttemptBeginning.ts"
import { capacityNotes } from "#core/campaign/Capacity.ts"
import { CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import { briefly, news, until, type Wait } from "#core/campaign/decide.ts"
import { claimLimit, spacing } from "#core/campaign/Pacing.ts"
import type { CallId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { type DialPoint, PassDialPoint } from "#runtime/call/DialPoint.ts"
import { needsAudio } from "#runtime/call/greeted.ts"
import type { Departure, RateScope } from "#runtime/dispatch/CallRate.ts"
import { Config } from "#runtime/config/config.ts"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { Slots, type SlotScope } from "#runtime/dispatch/Slots.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { type Assigned, CallerRotation } from "./CallerRotation.ts"
import type { CampaignMemory } from "./CampaignMemory.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"

/** Dial times this close together share one claim. */
const TOGETHER_MILLIS = 60
/**
 * How soon to try again when the trunk has no room for another request in flight (another campaign may take the place that becomes free),
 * or when greetings cannot be synthesized in time.
 */
const CROWDED_MILLIS = 100
/** When a campaign that could not be claimed for is looked at again without news: its database may have failed over. */
const NOT_OWNED_MILLIS = 100

/** What the calls about to be claimed need, in the order of their ids. */
interface Reserved {
  readonly _tag: "Reserved"
  readonly begun: SteadyTime.SteadyMillis
  readonly scopes: ReadonlyArray<SlotScope>
  readonly callIds: ReadonlyArray<CallId>
  readonly callers: ReadonlyArray<Assigned>
  readonly departures: ReadonlyArray<Departure>
}

/** The claimed contacts, and what they use of the reservation. */
interface Contacts {
  readonly _tag: "Contacts"
  readonly begun: SteadyTime.SteadyMillis
  readonly claimed: Claimed
  readonly scopes: ReadonlyArray<SlotScope>
  readonly departures: ReadonlyArray<Departure>
}

/** What the dialing turns of all campaigns work with. */
export interface DialServices {
  readonly inboxes: CampaignInboxes["Service"]
  readonly journal: CallJournal["Service"]
  readonly media: MediaRoom["Service"]
  readonly nodeName: string
  readonly ownership: CampaignOwnership["Service"]
  readonly pass: (point: DialPoint) => void
  readonly rotation: CallerRotation
  readonly slots: Slots["Service"]
  readonly supervisor: CallSupervisor["Service"]
  readonly voice: VoiceAgent["Service"]
}

export const dialServices = Effect.gen(function* () {
  const { nodeName } = yield* Config
  const slots = yield* Slots
  const services: DialServices = {
    inboxes: yield* CampaignInboxes,
    journal: yield* CallJournal,
    media: yield* MediaRoom,
    nodeName,
    ownership: yield* CampaignOwnership,
    pass: yield* PassDialPoint,
    rotation: new CallerRotation(slots),
    slots,
    supervisor: yield* CallSupervisor,
    voice: yield* VoiceAgent
  }
  return services
})

/** `now` is wall time, by which retries fall due. */
export const dialTurn = (services: DialServices, memory: CampaignMemory, trunk: LiveTrunk, now: number) => {
  const isTrunkFull = trunk.originating.isFull
  if (isTrunkFull || services.voice.isCrowdedBy(memory.plan.campaignId)) {
    memory.queue.leave()
    memory.turns.leave()
    if (isTrunkFull) trunk.originating.await(() => memory.inbox.wake())
    return Effect.map(SteadyTime.now, (at) => briefly(at + CROWDED_MILLIS, isTrunkFull ? "replies to requests" : "speech"))
  }
  const turn: Turn = { memory, now, rates: ratesOf(memory.plan, trunk), trunk }
  // Slots that were taken and contacts that were claimed must reach their calls.
  return Effect.uninterruptibleMask((restore) => dial(services, turn, restore))
}

interface Turn {
  readonly memory: CampaignMemory
  readonly trunk: LiveTrunk
  readonly rates: ReadonlyArray<RateScope>
  /** Wall time. */
  readonly now: number
}

type Restore = <A>(effect: Effect.Effect<A>) => Effect.Effect<A>

const dial = Effect.fnUntraced(function* (services: DialServices, turn: Turn, restore: Restore) {
  const { memory, trunk } = turn
  const contacts = yield* services.slots.claiming(claim(services, turn, restore))
  if (contacts._tag !== "Contacts") return contacts
  const { begun, claimed, departures, scopes } = contacts
  const { queue, turns } = memory
  if (claimed.owned) {
    memory.more = claimed.more
    memory.dueAt = claimed.nextDueAt ?? Number.POSITIVE_INFINITY
  } else memory.inbox.rowChanged = true
  yield* startAll(services, memory, trunk, claimed.attempts, departures)
  // Another turn would only find that there is no slot, and delay these requests meanwhile.
  if (!claimed.owned) return until(begun + NOT_OWNED_MILLIS)
  if (!claimed.more || !queue.isWaiting()) return until(begun)
  turns.leave()
  return yield* waitForSlot(services, memory, scopes, trunk, begun)
})

/** Claims contacts, and gives back the reservations that no contact uses. */
const claim = Effect.fnUntraced(function* (services: DialServices, turn: Turn, restore: Restore): Effect.fn.Return<Contacts | Wait> {
  const { journal, nodeName, pass, rotation } = services
  const { memory, now, trunk } = turn
  const reserved = yield* reserve(services, turn)
  if (reserved._tag !== "Reserved") return reserved
  const { begun, callers, callIds, departures, scopes } = reserved
  const { claims, plan } = memory
  const wanted = {
    callers: callers.map(({ number }) => number),
    usable: rotation.usable(trunk),
    callIds,
    campaignId: plan.campaignId,
    dialEpoch: plan.dialEpoch,
    node: nodeName,
    now,
    ownerEpoch: plan.ownerEpoch,
    provider: trunk.adapter.manifest.provider,
    telephonyConfigurationId: trunk.configurationId
  }
  memory.inbox.waitFor("a claim", begun)
  const claimed = yield* Effect.onError(restore(journal.claim(wanted, () => memory.inbox.returnAll())), () =>
    Effect.sync(() => giveBack(services, trunk, callIds, departures))
  )
  pass("claimed")
  claims.took((yield* SteadyTime.now) - begun)
  const shown = new Map(claimed.attempts.map(({ callerNumber, callId }) => [callId, callerNumber]))
  rotation.settle(trunk, callIds, callers, shown)
  const unused = callIds.filter((callId) => !shown.has(callId))
  giveBack(services, trunk, unused, departures.slice(shown.size))
  return { _tag: "Contacts", begun, claimed, departures, scopes }
})

/** Reserves a slot, a dial time and a caller ID for each call that may be claimed now; if there is none, says what to wait for. */
const reserve = Effect.fnUntraced(function* (
  services: DialServices,
  { memory, now, rates, trunk }: Turn
): Effect.fn.Return<Reserved | Wait> {
  const { media, rotation } = services
  const { claims, plan, turns } = memory
  const begun = yield* SteadyTime.now
  const from = begun + claims.shortest
  const room = turns.room(rates, from, begun + claims.lead + claims.longest + TOGETHER_MILLIS)
  if (room === 0) {
    memory.queue.leave()
    return until(turns.turnAt() - claims.lead)
  }
  // Only as many as can leave before the next claim returns. More slots would be withheld from others, perhaps without contacts for them.
  const apart = Math.max(...rates.map(({ rate }) => spacing(rate)))
  const together = Math.floor((2 * claims.longest + TOGETHER_MILLIS) / apart) + 1
  // If the trunk is in trouble, the only call becomes its probe.
  const most = trunk.trouble() === undefined ? Math.min(claimLimit, room, together) : 1
  const scopes = [...scopesOf(plan, trunk), rotation.scope(trunk), media.scope(memory.needsAudio)]
  // Slots come first: a probe that is admitted and dismissed wakes all who wait for the trunk, us among them, and we would turn in circles
  // until a slot is free.
  const taken = memory.queue.take(most, () => newCallId(now), scopes)
  const callIds = taken.filter((callId) => trunk.admit(callId))
  taken.slice(callIds.length).forEach(services.slots.release)
  if (callIds.length === 0) {
    turns.leave()
    return yield* waitForSlot(services, memory, scopes, trunk, begun)
  }
  const departures = turns.reserve(rates, callIds.length, from)
  return { _tag: "Reserved", begun, callers: rotation.assign(trunk, callIds), callIds, departures, scopes }
})

const waitForSlot = Effect.fnUntraced(function* (
  { media, ownership, rotation, slots, supervisor }: DialServices,
  memory: CampaignMemory,
  scopes: ReadonlyArray<SlotScope>,
  trunk: LiveTrunk,
  now: SteadyTime.SteadyMillis
) {
  const { campaignId } = memory.plan
  const [notes, watch] = capacityNotes(memory.capacity, {
    now,
    areNumbersExhausted: rotation.isExhausted(trunk),
    mediaLimit: memory.needsAudio && media.isFull() ? media.metrics().limit : undefined,
    held: slots.used(scopes[0]?.key ?? ""),
    inDoubt: supervisor.inDoubt(campaignId)
  })
  memory.capacity = watch
  yield* Effect.forEach(notes, (note) => ownership.log(campaignId, note), { discard: true })
  return news
})

const giveBack = (
  { slots }: DialServices,
  trunk: LiveTrunk,
  callIds: ReadonlyArray<CallId>,
  departures: ReadonlyArray<Departure>
): void => {
  for (const callId of callIds) {
    slots.release(callId)
    trunk.dismiss(callId)
  }
  for (const departure of departures) departure.giveBack()
}

/** Starts a call for each contact that was claimed. */
const startAll = Effect.fnUntraced(function* (
  services: DialServices,
  memory: CampaignMemory,
  trunk: LiveTrunk,
  attempts: Claimed["attempts"],
  departures: ReadonlyArray<Departure>
) {
  const { inboxes, slots, supervisor } = services
  const { breaker, breakerEpoch, campaignId, dialEpoch, retry, settingsVersion } = memory.plan
  // Valid for this dial epoch only: contacts permitted by the next one are claimed again.
  const permit = { holds: () => memory.plan.dialEpoch === dialEpoch && memory.permit.holds() }
  const watcher = inboxes.watcher(campaignId)
  for (const [index, { callerNumber, retriesUsed, rowNo, ...attempt }] of attempts.entries()) {
    const departure = departures[index] ?? (yield* Effect.die("more contacts were claimed than asked for"))
    const campaign = { breakerEnabled: breaker?.enabled ?? false, breakerEpoch, campaignId, retriesUsed, retry, rowNo, settingsVersion }
    const dialing = { departure, freedAt: slots.freedAt(attempt.callId), from: callerNumber ?? undefined, marked: true, permit }
    const call = yield* Effect.onError(supervisor.start({ ...attempt, campaign }, trunk, dialing, watcher), () =>
      Effect.sync(() => {
        for (const unused of departures.slice(index)) unused.giveBack()
        unclaim(services, memory, trunk, attempts.slice(index))
      })
    )
    // The next calls of the campaign need the same unless its agent changes.
    memory.needsAudio = needsAudio(call)
  }
})

/** Gives back claimed contacts that got no call. */
const unclaim = ({ journal, slots }: DialServices, { inbox }: CampaignMemory, trunk: LiveTrunk, attempts: Claimed["attempts"]): void => {
  const callIds = attempts.map(({ callId }) => callId)
  journal.unclaim(callIds, () => inbox.returnAll())
  callIds.forEach(slots.release)
  callIds.forEach(trunk.dismiss)
}

const scopesOf = (plan: DialPlan, trunk: LiveTrunk): ReadonlyArray<SlotScope> => [
  { key: `campaign:${plan.campaignId}`, limit: plan.maxConcurrency ?? undefined },
  { key: `organization:${plan.organizationId}`, limit: plan.organizationShare },
  { key: `trunk:${trunk.configurationId}`, limit: trunk.maxConcurrentCalls() }
]

const ratesOf = ({ campaignId, rateLimit }: DialPlan, trunk: LiveTrunk): ReadonlyArray<RateScope> => [
  { key: `campaign:${campaignId}`, rate: rateLimit },
  { key: trunk.rateKey, rate: trunk.rate }
]
