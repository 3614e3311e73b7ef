/**
 * Before anything is dialed, the attempts left behind by earlier processes are settled: those that were never sent become void; the others
 * get an actor again, which holds their slot and asks the provider what became of them. Afterwards a slow sweep looks for work that no
 * event announced. It should never find any, and logs an error if it does.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { type CallLimits, CallState } from "#core/call/Call.ts"
import { recoverAnswered, recoverElsewhere, recoverHanded, recoverMuted, recoverSent } from "#core/call/recoveredCall.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { type RunningCampaign, running as runningCampaigns } from "#core/campaign/RunningCampaignStore.ts"
import type { CallId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { type AttemptInDoubt, LateCallStore } from "#core/call/LateCallStore.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { Signals } from "#core/Signals.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { bareEnd } from "#runtime/call/RunReport.ts"
import { callerKey, Slots } from "#runtime/dispatch/Slots.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { Config } from "#runtime/config/config.ts"
import { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import type { KnownCall } from "#runtime/journal/FormerJournals.ts"
import { LocalJournal, uptimeMillis } from "#runtime/journal/LocalJournal.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"

const SWEEP = "30 seconds"
/** A running campaign without an owner for longer than this is a fault. */
const SETTLE = "10 seconds"
/** An actor that waits this long for something momentary is stuck. */
const STUCK_SECONDS = 60
/** A younger attempt may not have reached its actor yet. */
const UNATTENDED_SECONDS = 60
/** Attempts that the sweep reads per query. */
const PAGE = 1000

/** Exists once everything left behind by earlier processes has its actor. */
export class Recovered extends Context.Service<Recovered, { readonly attempts: number }>()("runtime/campaign/Recovered") {
  static readonly layer = Layer.effect(
    Recovered,
    Effect.gen(function* () {
      const store = yield* AttemptStore
      const ownership = yield* CampaignOwnership
      const { nodeName } = yield* Config
      const local = yield* LocalJournal
      // Only one engine uses the database at a time, so every open attempt belongs to an engine that is gone, whatever its name.
      const left = yield* store.live
      const doubts = yield* (yield* LateCallStore).inDoubt
      local.keepFor([...left, ...doubts.map(({ call: { callId } }) => ({ callId, journal: undefined }))])
      const settle = yield* settler
      yield* Effect.forEach(left, settle, { concurrency: 8, discard: true })
      yield* keepDoubts(doubts)
      yield* tellLate
      // Opening its trunk is what ends such an outage.
      const pool = yield* TrunkPool
      yield* Effect.forEach(yield* (yield* TrunkOutages).untold, pool.get, { discard: true })
      const byCampaign = Map.groupBy(
        left.filter((attempt) => attempt.campaign !== undefined),
        (attempt) => attempt.campaign?.campaignId
      )
      for (const [id, attempts] of byCampaign) {
        if (id === undefined) continue
        const formerNames = namesBut(nodeName, attempts)
        yield* ownership.log(id, {
          details: {
            ...(formerNames.length === 0 ? {} : { former_node_names: formerNames }),
            never_sent: attempts.filter(({ state }) => state === "intent").length,
            under_way: attempts.filter(({ state }) => state !== "intent").length
          },
          event: "recovery_completed",
          level: "info",
          message: "The engine was restarted; calls that were under way are being settled."
        })
        if (!(yield* ownership.recount(id))) yield* Effect.logError("a campaign's counters had to be mended", { campaignId: id })
      }
      const formerNames = namesBut(nodeName, left)
      if (formerNames.length > 0) yield* Effect.logWarning("attempts of nodes with other names are settled", { nodes: formerNames })
      if (left.length > 0) yield* Effect.logInfo("attempts of an earlier process are settled", { attempts: left.length })
      return { attempts: left.length }
    })
  )
}

/** Calls that an earlier process wrote off and that may still appear keep their slots; unfollowed calls may be hung up from now on. */
const keepDoubts = Effect.fnUntraced(function* (doubts: ReadonlyArray<AttemptInDoubt>) {
  const local = yield* LocalJournal
  const supervisor = yield* CallSupervisor
  const slots = yield* Slots
  const pool = yield* TrunkPool
  const now = yield* SteadyTime.now
  for (const attempt of doubts) {
    const trunk = yield* pool.get(attempt.telephonyConfigurationId)
    if (trunk === undefined) continue
    const { call, campaignId } = attempt
    const known = local.known(call.callId, undefined)
    slots.adopt(call.callId, scopesOf(campaignId, attempt))
    const ageMillis = ageOf(known) ?? Math.max(attempt.ageMillis, 0)
    supervisor.doubt({ campaignId, ref: withKnown(call, known), sentAt: now - ageMillis, trunk })
  }
  supervisor.recovered()
})

/** What carriers told a former process of calls without an actor, and will not tell again: whoever has answered is hung up on. */
const tellLate = Effect.gen(function* () {
  const deliveries = yield* CarrierDeliveries
  const pool = yield* TrunkPool
  for (const { callId, configurationId, events } of yield* deliveries.late) {
    const trunk = yield* pool.get(configurationId)
    for (const event of events) trunk?.hear(callId, event)
  }
})

/** How long ago a request left, in milliseconds, by its journal: the database's times depend on clocks that may have been set since. */
const ageOf = ({ leftAtUptime }: KnownCall): number | undefined =>
  leftAtUptime === undefined ? undefined : Math.max(uptimeMillis() - leftAtUptime, 0)

/** The database may not have everything yet that the process of the call noted on its disk. */
const withKnown = (call: CallRef, { endpoint, providerCallId }: KnownCall): CallRef => ({
  ...call,
  endpoint: call.endpoint ?? endpoint,
  providerCallId: providerCallId ?? call.providerCallId
})

/** The scopes in which a call that is already up is counted, even above their limits. */
const scopesOf = (
  campaignId: CampaignId | undefined,
  attempt: {
    readonly call: CallRef
    readonly organizationId: OrganizationId
    readonly telephonyConfigurationId: TelephonyConfigId
  }
) => [
  ...(campaignId === undefined ? [] : [{ key: `campaign:${campaignId}`, limit: undefined }]),
  { key: `organization:${attempt.organizationId}`, limit: undefined },
  { key: callerKey(attempt.telephonyConfigurationId, attempt.call.from), limit: undefined },
  { key: `trunk:${attempt.telephonyConfigurationId}`, limit: undefined }
]

const namesBut = (name: string, attempts: ReadonlyArray<LeftAttempt>): ReadonlyArray<string> => [
  ...new Set(attempts.map(({ node }) => node).filter((node) => node !== name))
]

/** Returns the news for the campaign if settling ended the attempt. */
const settler = Effect.gen(function* () {
  const conversations = yield* ConversationRecords
  const journal = yield* CallJournal
  const local = yield* LocalJournal
  const supervisor = yield* CallSupervisor
  const slots = yield* Slots
  const pool = yield* TrunkPool
  const media = yield* MediaRoom
  const deliveries = yield* CarrierDeliveries
  const inboxes = yield* CampaignInboxes
  const { nodeName } = yield* Config
  const clock = yield* Clock.Clock
  const firstOf =
    ({ answeredAt, call: { sentAt }, node }: LeftAttempt, known: KnownCall) =>
    (limits: CallLimits) => {
      const answered = answeredAt ?? known.answeredAt
      const trace = known.placed ? "placed" : "none"
      const past = (wall: number) => SteadyTime.steadyPast(clock, wall)
      const { aliveAt, mutedAt, transfers } = known
      if (answered !== undefined && mutedAt !== undefined && transfers !== undefined) return recoverHanded(past(answered), transfers)
      if (answered !== undefined && mutedAt !== undefined) return recoverMuted(past(answered), past(mutedAt))
      if (answered !== undefined) return recoverAnswered(past(answered), aliveAt === undefined ? undefined : past(aliveAt))
      return node === nodeName ? recoverSent(limits, SteadyTime.steadyPast(clock, sentAt), trace) : recoverElsewhere(limits, trace)
    }
  return Effect.fnUntraced(function* (attempt: LeftAttempt) {
    const { callId, campaign, state, telephonyConfigurationId } = attempt
    const now = yield* Clock.currentTimeMillis
    const known = local.known(callId, attempt.journal)
    // First of all: nothing is dialed before this is known.
    if (known.hasOptedOut && attempt.call.to !== undefined) yield* conversations.optedOut({ ...attempt, phoneNumber: attempt.call.to })
    if (known.end !== undefined) return yield* journal.ended(attempt, known.end)
    const neverLeft = state === "intent" || (state === "sent" && known.left === "never_left")
    // The reply to its claim may still arrive in this process; once withheld, the call cannot leave.
    if (known.undone !== undefined || (neverLeft && local.withhold(callId)))
      return yield* journal.neverPlaced(attempt, known.undone ?? { at: now, breakerEntry: false })
    const answeredAt = attempt.answeredAt ?? known.answeredAt
    const trunk = yield* pool.get(telephonyConfigurationId)
    if (trunk === undefined) {
      // No trunk is left that could say what became of it.
      const cause = answeredAt === undefined ? "written_off" : "node_lost"
      const ended = CallState.cases.Ended.make({ cause, endedAt: now, ...(answeredAt === undefined ? {} : { answeredAt }) })
      return yield* journal.ended(attempt, bareEnd(callId, ended))
    }
    slots.adopt(callId, [...scopesOf(campaign?.campaignId, attempt), media.scope(true)])
    const ageMillis = ageOf(known)
    const sentAt = ageMillis === undefined ? attempt.call.sentAt : now - ageMillis
    const resumed = { ...attempt, call: { ...withKnown(attempt.call, known), sentAt } }
    // What its carrier told the former process, and will not tell again. The call hears of it before it is looked up.
    const told = trunk.adapter.read === undefined ? [] : yield* deliveries.of(telephonyConfigurationId, callId)
    yield* supervisor.resume(resumed, trunk, firstOf(resumed, known), campaign === undefined ? {} : inboxes.watcher(campaign.campaignId))
    for (const event of told) trunk.hear(callId, event)
    return undefined
  })
})

/** The sweep, as described at the top of this file. */
export const layerSweep = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const inboxes = yield* CampaignInboxes
    const signals = yield* Signals
    const store = yield* AttemptStore
    const settle = yield* settler
    const supervisor = yield* CallSupervisor

    const running = runningCampaigns(sql, SETTLE)
    const isOwned = ({ id }: RunningCampaign) => inboxes.find(id)?.isOpen === true
    /** A campaign that was just resumed, or whose database just came back, gets its owner in a moment. */
    const attend = Effect.fnUntraced(function* (ownerless: ReadonlyArray<RunningCampaign>) {
      yield* Effect.sleep(SETTLE)
      for (const campaign of yield* running) {
        const { dialEpoch, id, ownerEpoch } = campaign
        const isSame = (before: RunningCampaign) => before.id === id && before.dialEpoch === dialEpoch && before.ownerEpoch === ownerEpoch
        if (isOwned(campaign) || !ownerless.some(isSame)) continue
        yield* Effect.logError("a running campaign had no owner", { campaignId: id })
        yield* signals.campaignRunning(id, `${dialEpoch}.${ownerEpoch}`)
      }
    })
    const sweep = Effect.gen(function* () {
      const campaigns = yield* running
      for (const { id, ready } of campaigns) {
        const inbox = inboxes.find(id)
        if (inbox === undefined || !inbox.isOpen || !ready) continue
        const { stuck } = inbox
        const seconds = stuck === undefined ? 0 : Math.round(((yield* SteadyTime.now) - stuck.since) / 1000)
        if (stuck !== undefined && seconds >= STUCK_SECONDS)
          yield* Effect.logError("a campaign dials nothing although contacts are due", { campaignId: id, seconds, waitsFor: stuck.on })
        if (!inbox.idle) continue
        yield* Effect.logError("a campaign slept although contacts were due", { campaignId: id })
        inbox.returnAll()
      }
      const ownerless = campaigns.filter((campaign) => !isOwned(campaign))
      if (ownerless.length > 0) yield* attend(ownerless)
      yield* settleLost
    })
    const settleLost = Effect.gen(function* () {
      let after: CallId | undefined
      while (true) {
        const page = yield* store.liveIds(after, UNATTENDED_SECONDS, PAGE)
        const lost = page.filter((callId) => !supervisor.has(callId))
        if (lost.length > 0) yield* settleAll(yield* store.find(lost))
        after = page.at(-1)
        if (page.length < PAGE) return
      }
    })
    const settleAll = Effect.fnUntraced(function* (found: ReadonlyArray<LeftAttempt>) {
      // Since they were listed, some may have ended and others begun.
      const lost = found.filter(({ callId }) => !supervisor.has(callId))
      if (lost.length === 0) return
      yield* Effect.logError("attempts had no actor", { attempts: lost.length })
      for (const attempt of lost) {
        yield* settle(attempt)
        if (attempt.campaign !== undefined) inboxes.find(attempt.campaign.campaignId)?.returnAll()
      }
    })
    yield* Effect.sleep(SWEEP).pipe(
      Effect.andThen(sweep),
      Effect.catchCause((cause) => Effect.logWarning("the sweep failed", cause)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
