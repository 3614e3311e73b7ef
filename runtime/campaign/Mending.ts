/**
 * Runs before anything is dialed on a database that may have lost writes. Attempts that this engine dialed, according to its journals, are
 * rewritten where they are missing, so that nobody is called twice; stops and opt-outs it knows of are repeated. Calls of call nodes are theirs
 * again, and they record what the dispatcher does not know. A copy of the database may lack whole days, so there all campaigns are paused until a
 * person has checked.
 */
import { Clock, Effect, FiberSet, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import {
  type DialedContact,
  dialedBy,
  formerOf,
  keepOwner,
  type LostAttempt,
  lostOf,
  pauseForgotten,
  pauseRestored,
  rewrite,
  rewriteSingle,
  type Rewritten,
  stopAgain
} from "#core/call/LostAttempts.ts"
import { running as runningCampaigns } from "#core/campaign/RunningCampaignStore.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { add as addOptOuts } from "#core/contact/OptOutStore.ts"
import type { CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { skipFailedOver, skipRestored } from "#core/run/RunNumbers.ts"
import { Signals } from "#core/Signals.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import type { LiveCall } from "#runtime/call/LiveCall.ts"
import { Config } from "#runtime/config/config.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Promises } from "#runtime/journal/Promises.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { Dispatcher } from "#runtime/nodes/Dispatcher.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import type { DispatchedSingle } from "#runtime/nodes/DispatchedCalls.ts"
import { persist } from "#runtime/postgres/persist.ts"
import { isAway } from "#runtime/postgres/sqlState.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { scopesOf, settler } from "./settling.ts"

/** How often to retry a contact that has meanwhile been claimed. Nothing can be sent now, so that other call is withdrawn within ten seconds. */
const TRY_AGAIN = "250 millis"
const TRIES = 60

/** Retries for as long as the database is unreachable. */
const surely = <A>(work: Effect.Effect<A, SqlError.SqlError>) => persist(Effect.orDie(work))

/** An attempt that the database refuses must not keep the engine from dialing everybody else. */
const unlessRefused = <A>(write: Effect.Effect<A, SqlError.SqlError>, refused: A, callId: CallId): Effect.Effect<A> =>
  Effect.orDie(write).pipe(
    Effect.catchCause((cause) =>
      isAway(cause) ? Effect.failCause(cause) : Effect.as(Effect.logError("a lost attempt cannot be written again", cause), refused)
    ),
    persist,
    Effect.annotateLogs({ callId })
  )

const rewritten = (sql: SqlClient.SqlClient, attempt: LostAttempt) =>
  unlessRefused<Rewritten>(rewrite(sql, attempt), "Gone", attempt.callId)

type Settle = (attempt: LeftAttempt) => Effect.Effect<unknown>
type Known = ReadonlyMap<CallId, DialedContact>

/** At startup nobody else claims, so an attempt whose contact has another one is not retried. */
export const mendAtStart = Effect.fnUntraced(function* (settle: Settle) {
  const local = yield* LocalJournal
  const sql = yield* SqlClient.SqlClient
  const { settled, taken } = yield* EngineLock
  if (taken.descent === "failed_over") yield* surely(skipFailedOver(sql))
  if (taken.descent === "copied") yield* surely(skipRestored(sql))
  yield* rewriteLost(local.dialed(), settle, 0)
  if (taken.descent === "failed_over") {
    yield* keepFormerPromises
    yield* Effect.logWarning("the database has failed over since an engine used it: what other engines dialed just before may be missing")
  }
  if (taken.descent === "copied") {
    const campaigns = yield* surely(pauseRestored(sql))
    yield* Effect.logWarning("the database is a copy: its running campaigns are paused").pipe(Effect.annotateLogs({ campaigns }))
  }
  yield* settled
})

/** Repeats what earlier processes promised to clients, according to their journals. */
const keepFormerPromises = Effect.gen(function* () {
  const { optedOut, stopped } = yield* (yield* Promises).former
  const sql = yield* SqlClient.SqlClient
  for (const [organizationId, numbers] of optedOut)
    if (numbers.size > 0) yield* surely(addOptOuts(sql, organizationId, [...numbers], { runId: undefined, source: "api" }))
  for (const [id, dialEpoch] of stopped) if (yield* surely(stopAgain(sql, id, dialEpoch))) yield* pausedAgain(id)
})

const pausedAgain = (campaignId: CampaignId) =>
  Effect.logWarning("a campaign that had stopped is paused again").pipe(Effect.annotateLogs({ campaignId }))

/** Mends the database after a failover while the engine runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const settle = yield* settler
    const context = yield* Effect.context<Effect.Services<ReturnType<typeof mendRunning>>>()
    const { onFailover } = yield* EngineLock
    onFailover((completeUntil) => Effect.provide(mendRunning(settle, completeUntil), context))
  })
)

const mendRunning = Effect.fnUntraced(function* (settle: Settle, completeUntil: SteadyMillis) {
  const local = yield* LocalJournal
  const sql = yield* SqlClient.SqlClient
  const nodes = yield* CallNodes
  const singles = nodes.singles()
  // Whatever they report comes after everything else.
  nodes.restart()
  const live = (yield* CallSupervisor).calls()
  const contacts = live.flatMap(({ attempt }) => {
    const contact = dialedBy(attempt)
    return contact === undefined ? [] : [[attempt.callId, contact] as const]
  })
  const known: Known = new Map([...local.dialed(), ...contacts])
  yield* surely(skipFailedOver(sql))
  yield* rewriteLost(known, settle, TRIES)
  yield* rewriteSingles(live, singles)
  yield* recordAgain([...known.keys()], (callId) => known.get(callId), settle)
  for (const [organizationId, numbers] of (yield* RecentOptOuts).all())
    yield* surely(addOptOuts(sql, organizationId, numbers, { runId: undefined, source: "api" }))
  if (local.forgottenUntil() > completeUntil) yield* pauseUnremembered
  yield* mendCampaigns
})

/** The database may have lost calls that this engine has forgotten, so that nobody knows who was called. */
const pauseUnremembered = Effect.gen(function* () {
  const inboxes = yield* CampaignInboxes
  const campaigns = yield* surely(pauseForgotten(yield* SqlClient.SqlClient))
  yield* Effect.logWarning("the database has lost more than this engine remembers: its running campaigns are paused", { campaigns })
  for (const { id } of inboxes.owned()) inboxes.find(id)?.look()
})

/** What this engine has recorded about its calls and the database may have lost: that they were answered, and how they ended. */
const recordAgain = Effect.fnUntraced(function* (
  callIds: ReadonlyArray<CallId>,
  contactOf: (callId: CallId) => DialedContact | undefined,
  settle: Settle
) {
  const inboxes = yield* CampaignInboxes
  const local = yield* LocalJournal
  const store = yield* AttemptStore
  const supervisor = yield* CallSupervisor
  const carrierOf = yield* carriers
  const answers = supervisor.calls().flatMap(({ attempt: { callId } }) => {
    const { answeredAt, endpoint } = local.known(callId, undefined)
    return answeredAt === undefined ? [] : [{ answeredAt, callId, endpoint }]
  })
  yield* persist(store.answered(answers))
  for (const attempt of yield* persist(store.find(callIds))) {
    const { callId, campaign } = attempt
    if (supervisor.has(callId)) continue
    const carrier = carrierOf(callId, contactOf(callId))
    if (carrier === undefined) yield* settle(attempt)
    else carrier.leave(attempt)
    if (campaign !== undefined) inboxes.find(campaign.campaignId)?.returnAll()
  }
})

/** The call nodes that have calls, or know how they ended, if this engine does not. */
const carriers = Effect.gen(function* () {
  const elsewhere = yield* CallsElsewhere
  const local = yield* LocalJournal
  const slots = yield* Slots
  return (callId: CallId, contact: DialedContact | undefined) => {
    const engine = elsewhere.engines().find(({ journal }) => journal === contact?.carrier)
    const { end, undone } = local.known(callId, undefined)
    if (engine === undefined || end !== undefined || undone !== undefined) return undefined
    const { journal, node } = engine
    /** It records the end, which is then seen in the database. */
    const leave = (attempt: LeftAttempt) => {
      const campaignId = attempt.campaign?.campaignId
      elsewhere.add({ callId, campaignId, journal })
      slots.adopt(callId, scopesOf(campaignId, attempt))
    }
    return { journal, leave, node }
  }
})

/** A call node records again what the database may have lost, once the dispatcher has written the attempts again. */
export const layerCallNode = Layer.effectDiscard(
  Effect.gen(function* () {
    const settle = yield* settler
    const local = yield* LocalJournal
    const fork = yield* FiberSet.makeRuntime<CallsElsewhere | CallSupervisor | CampaignInboxes | LocalJournal | AttemptStore | Slots>()
    ;(yield* Dispatcher).onFollow(() => void fork(Effect.suspend(() => recordAgain(local.recent(), () => undefined, settle))))
  })
)

/** A call that was dialed, outside of campaigns. */
const isSingle = (
  attempt: LiveCall["attempt"]
): attempt is LiveCall["attempt"] & { readonly telephonyConfigurationId: TelephonyConfigId } =>
  attempt.campaign === undefined && attempt.telephonyConfigurationId !== undefined

/** Single calls that are already over stay lost; nobody is called again because of them. */
const rewriteSingles = Effect.fnUntraced(function* (
  live: ReadonlyArray<Pick<LiveCall, "attempt" | "ref">>,
  dispatched: ReadonlyArray<DispatchedSingle>
) {
  const { nodeName } = yield* Config
  const { id } = yield* LocalJournal
  const sql = yield* SqlClient.SqlClient
  const elsewhere = yield* CallsElsewhere
  const here = live.flatMap(({ attempt, ref: { from, to } }) =>
    isSingle(attempt) && to !== undefined ? [{ ...attempt, from, journal: id, node: nodeName, phoneNumber: to }] : []
  )
  const there = dispatched.flatMap(({ attempt, from, journal }) => {
    const node = elsewhere.engines().find((engine) => engine.journal === journal)?.node
    return node === undefined ? [] : [{ ...attempt, from, journal, node }]
  })
  const singles = [...here, ...there]
  const callIds = singles.map(({ callId }) => callId)
  const lost = new Set(yield* surely(lostOf(sql, callIds)))
  for (const single of singles) if (lost.has(single.callId)) yield* unlessRefused(rewriteSingle(sql, single), false, single.callId)
})

const mendCampaigns = Effect.gen(function* () {
  const inboxes = yield* CampaignInboxes
  const signals = yield* Signals
  const sql = yield* SqlClient.SqlClient
  for (const id of inboxes.stopped()) {
    if (!(yield* surely(stopAgain(sql, id)))) continue
    yield* pausedAgain(id)
    inboxes.find(id)?.look()
  }
  for (const { id, ownerEpoch } of inboxes.owned()) yield* surely(keepOwner(sql, id, ownerEpoch))
  for (const { dialEpoch, id, ownerEpoch } of yield* surely(runningCampaigns(sql, "0 seconds"))) {
    const inbox = inboxes.find(id)
    if (inbox?.isOpen === true) inbox.look()
    else yield* signals.campaignRunning(id, `failover.${dialEpoch}.${ownerEpoch}`)
  }
})

/**
 * Settles earlier attempts of a contact, if it is known what became of them. Those that left are in this engine's journal, also those of call nodes;
 * what it does not name was given back, which the database has lost.
 */
const settleFormer = Effect.fnUntraced(function* (attempt: LostAttempt, known: Known, settle: Settle) {
  const local = yield* LocalJournal
  const nodes = (yield* CallsElsewhere).engines()
  const sql = yield* SqlClient.SqlClient
  const store = yield* AttemptStore
  for (const former of yield* persist(store.find(yield* surely(formerOf(sql, attempt))))) {
    // It left, perhaps while an earlier process dispatched.
    if (known.has(former.callId)) continue
    const isOfNode = nodes.some(({ journal }) => journal === former.journal)
    const journal = isOfNode ? local.id : former.journal
    const { end, left, undone } = local.known(former.callId, journal)
    if (end !== undefined || undone !== undefined || left === "never_left") yield* settle({ ...former, journal })
  }
})

/**
 * Earlier attempts of which nothing is known are taken to have been given back. This one could only begin once they were over, and its contact has been
 * called: if they stayed in its way, the contact would be called again as soon as they are settled.
 */
const dropFormer = Effect.fnUntraced(function* (attempt: LostAttempt) {
  const journal = yield* CallJournal
  const sql = yield* SqlClient.SqlClient
  const store = yield* AttemptStore
  const at = yield* Clock.currentTimeMillis
  for (const former of yield* persist(store.find(yield* surely(formerOf(sql, attempt))))) {
    yield* Effect.logWarning("what became of an earlier attempt of a contact is lost", { callId: former.callId })
    yield* journal.neverPlaced(former, { at, breakerEntry: false })
  }
})

/** `tries`: how often to retry a contact that has another attempt. */
const rewriteLost = Effect.fnUntraced(function* (known: Known, settle: Settle, tries: number) {
  const { nodeName } = yield* Config
  const local = yield* LocalJournal
  const sql = yield* SqlClient.SqlClient
  const store = yield* AttemptStore
  const supervisor = yield* CallSupervisor
  const carrierOf = yield* carriers
  // Call ids sort by when the calls began, so a contact's earlier attempts come first.
  const inOrder = [...known].toSorted(([one], [other]) => (one < other ? -1 : 1))
  if (inOrder.length === 0) return
  const callIds = inOrder.map(([callId]) => callId)
  const lost = new Set(yield* surely(lostOf(sql, callIds)))
  const open = new Map((yield* persist(store.find(callIds))).map((attempt) => [attempt.callId, attempt]))
  const written: Array<CallId> = []
  for (const [callId, contact] of inOrder) {
    const { end, left, undone } = local.known(callId, undefined)
    const isOver = !supervisor.has(callId) && (end !== undefined || undone !== undefined)
    const found = open.get(callId)
    // The database has lost only this attempt's end. Later attempts of its contact are written afterwards.
    if (found !== undefined && isOver) yield* settle(found)
    if (!lost.has(callId)) continue
    // If it was sent, no journal is named: this process's journal may not mention it, and would then prove that it was never sent.
    const own = { journal: left === "left" ? undefined : local.id, node: nodeName }
    const { journal, node } = carrierOf(callId, contact) ?? own
    const attempt = { ...contact, callId, isOver, journal, node }
    let outcome = yield* rewritten(sql, attempt)
    if (outcome === "Taken") {
      yield* settleFormer(attempt, known, settle)
      outcome = yield* rewritten(sql, attempt)
    }
    for (let tried = 0; outcome === "Taken" && tried < tries; tried++) {
      yield* Effect.sleep(TRY_AGAIN)
      outcome = yield* rewritten(sql, attempt)
    }
    if (outcome === "Taken") {
      yield* dropFormer(attempt)
      outcome = yield* rewritten(sql, attempt)
    }
    if (outcome === "Taken") yield* Effect.logWarning("a lost attempt is not written again: its contact has another one", { callId })
    if (outcome !== "Written") continue
    written.push(callId)
    if (isOver) for (const attempt of yield* persist(store.find([callId]))) yield* settle(attempt)
  }
  if (written.length > 0) yield* Effect.logWarning("the database had lost attempts: they are written again", { attempts: written.length })
})
