/**
 * Before anything is dialed, settles the attempts that earlier processes left behind: those that were never sent become void; the others get an
 * actor again, which holds their slot and asks the provider what became of them. Afterwards a slow sweep looks for work that no event announced.
 * It should never find any, and logs an error if it does.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { type RunningCampaign, running as runningCampaigns, toBeOwned } from "#core/campaign/RunningCampaignStore.ts"
import type { CallId } from "#core/Id.ts"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { Signals } from "#core/Signals.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { Config } from "#runtime/config/config.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { hasCall } from "#runtime/postgres/OtherEngineStore.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { doubtKeeper } from "./doubtKeeper.ts"
import { mendAtStart } from "./Mending.ts"
import { scopesOf, settler } from "./settling.ts"

const SWEEP = "30 seconds"
/** A running campaign that has had no owner for longer than this is a fault. */
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
      const ownership = yield* CampaignOwnership
      const { nodeName } = yield* Config
      const local = yield* LocalJournal
      const supervisor = yield* CallSupervisor
      const settle = yield* settler
      yield* mendAtStart(settle)
      const left = yield* leftBehind
      const doubts = yield* (yield* LateCallStore).inDoubt
      local.keepFor([...left, ...doubts.map(({ call: { callId } }) => ({ callId, journal: undefined }))])
      yield* Effect.forEach(left, settle, { concurrency: 8, discard: true })
      yield* (yield* doubtKeeper)(doubts)
      // From now on, calls that no actor follows may be hung up.
      supervisor.recovered()
      yield* tellLate
      // Opening the trunk is what ends such an outage.
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

/**
 * Only one engine dispatches calls on the database at a time, so every open attempt belongs either to an engine that is gone, whatever its name,
 * or to one that is leaving or a call node, and still has the call. This engine itself may have carried it until now.
 */
const leftBehind = Effect.gen(function* () {
  const store = yield* AttemptStore
  const elsewhere = yield* CallsElsewhere
  const slots = yield* Slots
  const engines = elsewhere.engines()
  const supervisor = yield* CallSupervisor
  const left: Array<LeftAttempt> = []
  for (const attempt of yield* store.live) {
    const { callId, campaign } = attempt
    const engine = engines.find((each) => hasCall(each, attempt))
    if (supervisor.has(callId)) slots.adopt(callId, scopesOf(campaign?.campaignId, attempt))
    else if (engine === undefined) left.push(attempt)
    else {
      elsewhere.add({ callId, campaignId: campaign?.campaignId, journal: engine.journal })
      slots.adopt(callId, scopesOf(campaign?.campaignId, attempt))
    }
  }
  return left
})

/**
 * Events that carriers delivered to an earlier process for calls without an actor, and will not deliver again. A call that was answered is hung
 * up.
 */
const tellLate = Effect.gen(function* () {
  const deliveries = yield* CarrierDeliveries
  const pool = yield* TrunkPool
  for (const { callId, configurationId, events } of yield* deliveries.late) {
    const trunk = yield* pool.get(configurationId)
    for (const event of events) trunk?.hear(callId, event)
  }
})

const namesBut = (name: string, attempts: ReadonlyArray<LeftAttempt>): ReadonlyArray<string> => [
  ...new Set(attempts.map(({ node }) => node).filter((node) => node !== name))
]

/** Gives every campaign its owner, once what earlier processes left behind is settled. */
export const layerOwners = Layer.effectDiscard(
  Effect.gen(function* () {
    const signals = yield* Signals
    const campaigns = yield* Effect.orDie(toBeOwned(yield* SqlClient.SqlClient))
    yield* Effect.forEach(campaigns, ({ dialEpoch, id }) => signals.campaignRunning(id, String(dialEpoch)), { discard: true })
  })
)

/** The sweep, as described at the top of this file. */
export const layerSweep = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const elsewhere = yield* CallsElsewhere
    const inboxes = yield* CampaignInboxes
    const lock = yield* EngineLock
    const signals = yield* Signals
    const store = yield* AttemptStore
    const settle = yield* settler
    const supervisor = yield* CallSupervisor

    const running = runningCampaigns(sql, SETTLE)
    const isOwned = ({ id }: RunningCampaign) => inboxes.find(id)?.isOpen === true
    /** A campaign that was just resumed, or whose database just came back, gets its owner shortly. */
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
      // Another engine may be dialing.
      if (!lock.isHeld()) return
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
        const lost = page.filter((callId) => !supervisor.has(callId) && !elsewhere.has(callId))
        if (lost.length > 0) yield* settleAll(yield* store.find(lost))
        after = page.at(-1)
        if (page.length < PAGE) return
      }
    })
    const settleAll = Effect.fnUntraced(function* (found: ReadonlyArray<LeftAttempt>) {
      // Since the list was read, some may have ended and others may have started.
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
