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
import { ClaimTrace } from "#runtime/call/ClaimTrace.ts"
import { type DialPoint, PassDialPoint } from "#runtime/call/DialPoint.ts"
import { needsAudio } from "#runtime/call/greeted.ts"
import type { LendableDeparture, RateScope } from "#runtime/dispatch/CallRate.ts"
import { Config } from "#runtime/config/config.ts"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { Slots, type SlotScope } from "#runtime/dispatch/Slots.ts"
import { CurrentTraces, type Traces } from "#runtime/trace/Traces.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { type Assigned, CallerRotation } from "./CallerRotation.ts"
import { CLAIM_LEAD_MILLIS } from "./ClaimTimes.ts"
import type { CampaignMemory } from "./CampaignMemory.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import type { Carrier } from "#runtime/nodes/Carrier.ts"

/** Dial times this close together share one claim. */
const TOGETHER_MILLIS = 60
/**
 * How soon to try again when the trunk allows no further request in flight (another campaign may take the place that becomes free), or when
 * greetings cannot be synthesized in time.
 */
const CROWDED_MILLIS = 100
/** How soon to look again, even without news, at a campaign whose claim found it not owned: its database may have failed over. */
const NOT_OWNED_MILLIS = 100
/** How soon to look again whether a call node takes calls, while nobody else may have more calls with audio. */
const NO_CARRIER_MILLIS = 1000

/** The reservations for the calls about to be claimed, in the order of the call ids. */
interface Reserved {
  readonly _tag: "Reserved"
  readonly begun: SteadyTime.SteadyMillis
  readonly scopes: ReadonlyArray<SlotScope>
  readonly callIds: ReadonlyArray<CallId>
  readonly callers: ReadonlyArray<Assigned>
  /** The call node that is to carry the calls; undefined: this engine itself. */
  readonly carrier: Carrier | undefined
  readonly departures: ReadonlyArray<LendableDeparture>
}

/** The claimed contacts, and the part of the reservation they use. */
interface Contacts {
  readonly _tag: "Contacts"
  readonly begun: SteadyTime.SteadyMillis
  readonly claimed: Claimed
  readonly carrier: Carrier | undefined
  readonly scopes: ReadonlyArray<SlotScope>
  readonly departures: ReadonlyArray<LendableDeparture>
  readonly trace: ClaimTrace | undefined
}

/** Dependencies shared by the dialing turns of all campaigns. */
export interface DialServices {
  readonly inboxes: CampaignInboxes["Service"]
  readonly journal: CallJournal["Service"]
  readonly media: MediaRoom["Service"]
  readonly nodeName: string
  readonly nodes: CallNodes["Service"]
  readonly ownership: CampaignOwnership["Service"]
  readonly pass: (point: DialPoint) => void
  readonly rotation: CallerRotation
  readonly slots: Slots["Service"]
  readonly supervisor: CallSupervisor["Service"]
  readonly traces: Traces | undefined
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
    nodes: yield* CallNodes,
    ownership: yield* CampaignOwnership,
    pass: yield* PassDialPoint,
    rotation: new CallerRotation(slots),
    slots,
    supervisor: yield* CallSupervisor,
    traces: yield* CurrentTraces,
    voice: yield* VoiceAgent
  }
  return services
})

/** `now` is wall time, which decides when retries are due. */
export const dialTurn = (services: DialServices, memory: CampaignMemory, trunk: LiveTrunk, now: number) => {
  const choice = services.nodes.choose(trunk)
  const isTrunkFull = choice.isCrowded
  if (isTrunkFull || services.voice.isCrowdedBy(memory.plan.campaignId)) {
    memory.queue.leave()
    memory.turns.leave()
    if (isTrunkFull) trunk.originating.await(() => memory.inbox.wake())
    return Effect.map(SteadyTime.now, (at) => briefly(at + CROWDED_MILLIS, isTrunkFull ? "replies to requests" : "speech"))
  }
  const turn: Turn = { choice, memory, now, rates: ratesOf(memory.plan, trunk), trunk }
  // Uninterruptible, so that no slot is taken and no contact claimed without reaching its call.
  return Effect.uninterruptibleMask((restore) => dial(services, turn, restore))
}

interface Turn {
  readonly choice: ReturnType<CallNodes["Service"]["choose"]>
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
  const { begun, claimed, scopes } = contacts
  const { queue, turns } = memory
  if (claimed.owned) {
    memory.more = claimed.more
    memory.dueAt = claimed.nextDueAt ?? Number.POSITIVE_INFINITY
  } else memory.inbox.rowChanged = true
  yield* startAll(services, memory, trunk, contacts)
  // Another turn would only find that there is no slot, delaying these requests.
  if (!claimed.owned) return until(begun + NOT_OWNED_MILLIS)
  if (!claimed.more || !queue.isWaiting()) return until(begun)
  turns.leave()
  return yield* waitForSlot(services, memory, scopes, trunk, begun)
})

/** Claims contacts, and releases the reservations that no contact uses. */
const claim = Effect.fnUntraced(function* (services: DialServices, turn: Turn, restore: Restore): Effect.fn.Return<Contacts | Wait> {
  const { journal, nodeName, pass, rotation, traces } = services
  const { memory, now, trunk } = turn
  const reserved = yield* reserve(services, turn)
  if (reserved._tag !== "Reserved") return reserved
  const { begun, callers, callIds, carrier, departures, scopes } = reserved
  const { claims, plan } = memory
  const wanted = {
    callers: callers.map(({ number }) => number),
    usable: rotation.usable(trunk),
    callIds,
    campaignId: plan.campaignId,
    dialEpoch: plan.dialEpoch,
    journal: carrier?.journal,
    node: carrier?.node ?? nodeName,
    now,
    ownerEpoch: plan.ownerEpoch,
    provider: trunk.adapter.manifest.provider,
    telephonyConfigurationId: trunk.configurationId
  }
  memory.inbox.waitFor("a claim", begun)
  const trace = traces && new ClaimTrace(traces)
  const claimed = yield* Effect.onError(restore(journal.claim(wanted, () => memory.inbox.returnAll())), () =>
    Effect.sync(() => giveBack(services, trunk, callIds, departures))
  )
  pass("claimed")
  trace?.ended(plan.campaignId, callIds.length, claimed.attempts.length)
  claims.took((yield* SteadyTime.now) - begun)
  const shown = new Map(claimed.attempts.map(({ callerNumber, callId }) => [callId, callerNumber]))
  rotation.settle(trunk, callIds, callers, shown)
  const unused = callIds.filter((callId) => !shown.has(callId))
  giveBack(services, trunk, unused, departures.slice(shown.size))
  return { _tag: "Contacts", begun, carrier, claimed, departures, scopes, trace }
})

/** Reserves a slot, a dial time and a caller ID for each call that may be claimed now; if there are none, returns what to wait for. */
const reserve = Effect.fnUntraced(function* (
  services: DialServices,
  { choice: { carrier, room: audio }, memory, now, rates, trunk }: Turn
): Effect.fn.Return<Reserved | Wait> {
  const { media, rotation } = services
  const { claims, plan, turns } = memory
  const begun = yield* SteadyTime.now
  const from = begun + claims.shortest
  const room = turns.room(rates, from, begun + CLAIM_LEAD_MILLIS + claims.longest + TOGETHER_MILLIS)
  if (room === 0) {
    memory.queue.leave()
    return until(turns.turnAt() - CLAIM_LEAD_MILLIS)
  }
  // Only as many as can leave before the next claim returns: more would withhold slots from others, perhaps without contacts to use them.
  const apart = Math.max(...rates.map(({ rate }) => spacing(rate)))
  const together = Math.floor((2 * claims.longest + TOGETHER_MILLIS) / apart) + 1
  // If the trunk is in trouble, this one call is its probe.
  if (memory.needsAudio && audio <= 0 && !media.isFull()) {
    memory.queue.leave()
    return until(begun + NO_CARRIER_MILLIS)
  }
  // Without any room, this finds no slot, and waits for one.
  const withAudio = memory.needsAudio ? Math.max(1, audio) : claimLimit
  const most = trunk.trouble() === undefined ? Math.min(claimLimit, room, together, withAudio) : 1
  const scopes = [...scopesOf(plan, trunk), rotation.scope(trunk), media.scope(memory.needsAudio)]
  // Take slots first: admitting and then dismissing a probe wakes everybody waiting for the trunk, including us, and we would loop until a slot
  // is free.
  const taken = memory.queue.take(most, () => newCallId(now), scopes)
  const callIds = taken.filter((callId) => trunk.admit(callId))
  taken.slice(callIds.length).forEach(services.slots.release)
  if (callIds.length === 0) {
    turns.leave()
    return yield* waitForSlot(services, memory, scopes, trunk, begun)
  }
  carrier?.expect(callIds, memory.needsAudio)
  const departures = turns.reserve(rates, callIds.length, from)
  return { _tag: "Reserved", begun, callers: rotation.assign(trunk, callIds), callIds, carrier, departures, scopes }
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
  departures: ReadonlyArray<LendableDeparture>
): void => {
  for (const callId of callIds) {
    slots.release(callId)
    trunk.dismiss(callId)
  }
  for (const departure of departures) departure.giveBack()
}

/** Starts a call for each claimed contact. */
const startAll = Effect.fnUntraced(function* (
  services: DialServices,
  memory: CampaignMemory,
  trunk: LiveTrunk,
  { carrier, claimed: { attempts }, departures, trace }: Contacts
) {
  const { inboxes, nodes, slots, supervisor } = services
  const { breaker, breakerEpoch, campaignId, dialEpoch, retry, settingsVersion } = memory.plan
  // Valid for this dial epoch only: contacts permitted by the next epoch are claimed again.
  const permit = { holds: (aheadMillis?: number) => memory.plan.dialEpoch === dialEpoch && memory.permit.holds(aheadMillis) }
  const watcher = inboxes.watcher(campaignId)
  for (const [index, { callerNumber, retriesUsed, rowNo, ...attempt }] of attempts.entries()) {
    const departure = departures[index] ?? (yield* Effect.die("more contacts were claimed than asked for"))
    const campaign = { breakerEnabled: breaker?.enabled ?? false, breakerEpoch, campaignId, retriesUsed, retry, rowNo, settingsVersion }
    const freedAt = slots.freedAt(attempt.callId)
    const dialing = { claim: trace, departure, freedAt, from: callerNumber ?? undefined, marked: true, permit }
    if (carrier !== undefined) {
      nodes.start(carrier, { ...attempt, campaign }, trunk, { ...dialing, needsAudio: memory.needsAudio }, watcher)
      continue
    }
    const call = yield* Effect.onError(supervisor.start({ ...attempt, campaign }, trunk, dialing, watcher), () =>
      Effect.sync(() => {
        for (const unused of departures.slice(index)) unused.giveBack()
        unclaim(services, memory, trunk, attempts.slice(index))
      })
    )
    // The campaign's next calls need the same unless its agent changes.
    memory.needsAudio = needsAudio(call)
  }
})

/** Gives back claimed contacts whose call was not started. */
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
