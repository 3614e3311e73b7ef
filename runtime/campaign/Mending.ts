/**
 * What is done before anything is dialed on a database that may have lost something. What this engine has dialed, as its journals tell, is written
 * once more where it is missing, so that nobody is called twice; stops and opt-outs that it knows of are repeated. In a copy of the database, which
 * may lack whole days, all campaigns are paused until a person has looked.
 */
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import {
  type DialedContact,
  dialedBy,
  keepOwner,
  type LostAttempt,
  lostOf,
  pauseRestored,
  rewrite,
  type Rewritten,
  stopAgain
} from "#core/call/LostAttempts.ts"
import { running as runningCampaigns } from "#core/campaign/RunningCampaignStore.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { add as addOptOuts } from "#core/contact/OptOutStore.ts"
import type { CallId } from "#core/Id.ts"
import { Signals } from "#core/Signals.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Config } from "#runtime/config/config.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { persist } from "#runtime/postgres/persist.ts"
import { isAway } from "#runtime/postgres/sqlState.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { settler } from "./settling.ts"

/** How often a contact is tried again that has been claimed meanwhile. Nothing leaves now, so that call is withdrawn within ten seconds. */
const TRY_AGAIN = "250 millis"
const TRIES = 60

/** However long the database is away. */
const surely = <A>(work: Effect.Effect<A, SqlError.SqlError>) => persist(Effect.orDie(work))

/** One that the database refuses must not keep the engine from dialing everybody else. */
const rewritten = (sql: SqlClient.SqlClient, attempt: LostAttempt) =>
  Effect.orDie(rewrite(sql, attempt)).pipe(
    Effect.catchCause((cause) =>
      isAway(cause)
        ? Effect.failCause(cause)
        : Effect.as(Effect.logError("a lost attempt cannot be written again", cause), "Gone" satisfies Rewritten)
    ),
    persist,
    Effect.annotateLogs({ callId: attempt.callId })
  )

type Settle = (attempt: LeftAttempt) => Effect.Effect<unknown>
type Known = ReadonlyMap<CallId, DialedContact>

/** At the start, nobody else claims: an attempt that cannot be written is not tried again. */
export const mendAtStart = Effect.fnUntraced(function* (settle: Settle) {
  const local = yield* LocalJournal
  const sql = yield* SqlClient.SqlClient
  const { settled, taken } = yield* EngineLock
  yield* rewriteLost(local.dialed(), settle, 0)
  if (taken.descent === "failed_over")
    yield* Effect.logWarning("the database has failed over since an engine used it: what other engines dialed just before may be missing")
  if (taken.descent === "copied") {
    const campaigns = yield* surely(pauseRestored(sql))
    yield* Effect.logWarning("the database is a copy: its running campaigns are paused").pipe(Effect.annotateLogs({ campaigns }))
  }
  yield* settled
})

/** While the engine runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const mend = mendRunning(yield* settler).pipe(Effect.provide(yield* Effect.context<Effect.Services<ReturnType<typeof mendRunning>>>()))
    const { onFailover } = yield* EngineLock
    onFailover(mend)
  })
)

const mendRunning = Effect.fnUntraced(function* (settle: Settle) {
  const inboxes = yield* CampaignInboxes
  const local = yield* LocalJournal
  const sql = yield* SqlClient.SqlClient
  const store = yield* AttemptStore
  const supervisor = yield* CallSupervisor
  const live = supervisor.attempts()
  const contacts = live.flatMap((attempt) => {
    const contact = dialedBy(attempt)
    return contact === undefined ? [] : [[attempt.callId, contact] as const]
  })
  const known: Known = new Map([...local.dialed(), ...contacts])
  yield* rewriteLost(known, settle, TRIES)
  const answers = live.flatMap(({ callId }) => {
    const { answeredAt, endpoint } = local.known(callId, undefined)
    return answeredAt === undefined ? [] : [{ answeredAt, callId, endpoint }]
  })
  yield* persist(store.answered(answers))
  // The database has lost how these ended.
  for (const attempt of yield* persist(store.find([...known.keys()]))) {
    if (supervisor.has(attempt.callId)) continue
    yield* settle(attempt)
    if (attempt.campaign !== undefined) inboxes.find(attempt.campaign.campaignId)?.returnAll()
  }
  for (const [organizationId, numbers] of (yield* RecentOptOuts).all())
    yield* surely(addOptOuts(sql, organizationId, numbers, { runId: undefined, source: "api" }))
  yield* mendCampaigns
})

const mendCampaigns = Effect.gen(function* () {
  const inboxes = yield* CampaignInboxes
  const signals = yield* Signals
  const sql = yield* SqlClient.SqlClient
  for (const id of inboxes.stopped()) {
    if (inboxes.find(id)?.isOpen !== true && (yield* surely(stopAgain(sql, id))))
      yield* Effect.logWarning("a campaign that had stopped is paused again").pipe(Effect.annotateLogs({ campaignId: id }))
  }
  for (const { id, ownerEpoch } of inboxes.owned()) yield* surely(keepOwner(sql, id, ownerEpoch))
  for (const { dialEpoch, id, ownerEpoch } of yield* surely(runningCampaigns(sql, "0 seconds"))) {
    const inbox = inboxes.find(id)
    if (inbox?.isOpen === true) inbox.look()
    else yield* signals.campaignRunning(id, `failover.${dialEpoch}.${ownerEpoch}`)
  }
})

/** `tries`: how often a contact is tried again that has another attempt. */
const rewriteLost = Effect.fnUntraced(function* (known: Known, settle: Settle, tries: number) {
  const { nodeName: node } = yield* Config
  const local = yield* LocalJournal
  const sql = yield* SqlClient.SqlClient
  const store = yield* AttemptStore
  const supervisor = yield* CallSupervisor
  // Their ids are in the order in which they began: a contact's earlier attempts come first.
  const lost = known.size === 0 ? [] : yield* surely(lostOf(sql, [...known.keys()].toSorted()))
  const written: Array<CallId> = []
  for (const callId of lost) {
    const contact = known.get(callId)
    if (contact === undefined) continue
    const { left } = local.known(callId, undefined)
    // Whatever has left is named by the journal of the process that sent it, and no other one proves that it has not.
    const attempt = { ...contact, callId, journal: left === "left" ? undefined : local.id, node }
    let outcome = yield* rewritten(sql, attempt)
    for (let tried = 0; outcome === "Taken" && tried < tries; tried++) {
      yield* Effect.sleep(TRY_AGAIN)
      outcome = yield* rewritten(sql, attempt)
    }
    if (outcome === "Taken") yield* Effect.logWarning("a lost attempt is not written again: its contact has another one", { callId })
    if (outcome !== "Written") continue
    written.push(callId)
    const { end, undone } = local.known(callId, undefined)
    if (supervisor.has(callId) || (end === undefined && undone === undefined)) continue
    for (const found of yield* persist(store.find([callId]))) yield* settle(found)
  }
  if (written.length > 0) yield* Effect.logWarning("the database had lost attempts: they are written again", { attempts: written.length })
})
