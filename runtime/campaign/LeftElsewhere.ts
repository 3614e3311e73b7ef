/**
 * Watches engines that have calls without having the lock: those that are leaving, and call nodes. When their calls end, slots and numbers become
 * free and retries are due; a call node that can be heard says so itself, otherwise only the database tells. Once such an engine has ended, or has
 * been silent, both here and in the database, for so long that it is given up, whatever it left behind is settled as at startup.
 */
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import type { CampaignId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Config } from "#runtime/config/config.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { makeStillness } from "#runtime/lock/Incumbent.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import { giveUp, hasCall, type OtherEngine, otherEngines } from "#runtime/postgres/OtherEngineStore.ts"
import { isGone } from "#runtime/process/ProcessName.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"
import { doubtKeeper } from "./doubtKeeper.ts"
import { settler } from "./settling.ts"

const LOOK_MILLIS = 200
/** How often to look for new call nodes while there are no other engines. */
const ALONE_MILLIS = 1000

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const watch = yield* makeWatch
    const { elsewhere, nodes } = watch
    elsewhere.onNeverLeft(watch.supervisor.neverLeft)
    const staying = new Map<string, Staying>()
    const meet = (engine: OtherEngine) => {
      staying.set(engine.journal, { engine, stillnessOf: makeStillness() })
      elsewhere.meet(engine)
      nodes.meet(engine)
    }
    elsewhere.engines().forEach(meet)
    const look = Effect.gen(function* () {
      if (!watch.lock.isHeld()) return
      const rows = yield* Effect.orDie(otherEngines(watch.sql))
      for (const row of rows) if (row.schemaVersion !== null && !staying.has(row.journal)) meet(row)
      const gone = yield* goneAmong(watch, staying, rows)
      for (const { journal } of gone) nodes.part(journal)
      yield* tell(watch, gone)
      for (const { journal } of gone) {
        staying.delete(journal)
        elsewhere.part(journal)
      }
    })
    yield* Effect.suspend(() => Effect.sleep(staying.size > 0 ? LOOK_MILLIS : ALONE_MILLIS)).pipe(
      Effect.andThen(look),
      Effect.catchCause((cause) => Effect.logWarning("the calls of other engines could not be looked at", cause)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)

interface Staying {
  readonly engine: OtherEngine
  readonly stillnessOf: ReturnType<typeof makeStillness>
}

/** Those that have ended in order, and those that are given up now. */
const goneAmong = Effect.fnUntraced(function* (watch: Watch, staying: ReadonlyMap<string, Staying>, rows: ReadonlyArray<OtherEngine>) {
  const now = yield* SteadyTime.now
  const gone: Array<OtherEngine> = []
  for (const { engine, stillnessOf } of staying.values()) {
    const row = rows.find(({ journal }) => journal === engine.journal)
    // A call node that cannot reach the database may still be heard, and its calls are fine.
    const signs = `${row?.beat} ${watch.nodes.signsOf(engine.journal)}`
    const isLost = row !== undefined && (isGone(row.process) || stillnessOf(signs, now) >= watch.silentMillis)
    if (row === undefined || (isLost && (yield* Effect.orDie(giveUp(watch.sql, row))))) gone.push(engine)
  }
  return gone
})

const makeWatch = Effect.gen(function* () {
  const { takeoverSeconds } = yield* Config
  return {
    elsewhere: yield* CallsElsewhere,
    inboxes: yield* CampaignInboxes,
    keepDoubts: yield* doubtKeeper,
    late: yield* LateCallStore,
    lock: yield* EngineLock,
    nodes: yield* CallNodes,
    ownership: yield* CampaignOwnership,
    settle: yield* settler,
    silentMillis: takeoverSeconds * 1000,
    slots: yield* Slots,
    sql: yield* SqlClient.SqlClient,
    store: yield* AttemptStore,
    supervisor: yield* CallSupervisor
  }
})

type Watch = Effect.Success<typeof makeWatch>

/** The engines' rows are read before their attempts: an engine that is gone writes nothing more. */
const tell = Effect.fnUntraced(function* (watch: Watch, gone: ReadonlyArray<OtherEngine>) {
  const ended = yield* release(watch)
  const left = gone.length === 0 ? [] : (yield* watch.store.live).filter((attempt) => gone.some((engine) => hasCall(engine, attempt)))
  yield* Effect.forEach(left, (attempt) => takeOver(watch, attempt), { concurrency: 8, discard: true })
  if (left.length > 0) yield* Effect.logInfo("what engines without the lock have left behind is settled", { attempts: left.length })
  const campaignIds = [...ended, ...left.map(({ campaign }) => campaign?.campaignId)]
  if (campaignIds.length + gone.length > 0) yield* wake(watch, new Set(campaignIds))
})

/** Releases the slots of calls that are over and returns their campaigns. Calls that were written off but may still appear keep their slots. */
const release = Effect.fnUntraced(function* ({ elsewhere, keepDoubts, late, nodes, slots, store }: Watch) {
  const calls = elsewhere.all().filter(({ callId }) => !nodes.isFollowed(callId))
  if (calls.length === 0) return []
  const live = new Set((yield* store.find(calls.map(({ callId }) => callId))).map(({ callId }) => callId))
  const ended = new Set(calls.map(({ callId }) => callId).filter((callId) => !live.has(callId)))
  if (ended.size === 0) return []
  const doubts = (yield* late.inDoubt).filter(({ call }) => ended.has(call.callId))
  yield* keepDoubts(doubts)
  const doubtful = new Set(doubts.map(({ call }) => call.callId))
  for (const callId of ended) {
    elsewhere.remove(callId)
    if (!doubtful.has(callId)) slots.release(callId)
  }
  return calls.flatMap(({ callId, campaignId }) => (ended.has(callId) ? [campaignId] : []))
})

/** An attempt that was settled without an actor frees its slot. */
const takeOver = ({ elsewhere, settle, slots, supervisor }: Watch, attempt: LeftAttempt) => {
  elsewhere.remove(attempt.callId)
  return Effect.andThen(
    settle(attempt),
    Effect.sync(() => {
      if (!supervisor.has(attempt.callId)) slots.release(attempt.callId)
    })
  )
}

/** Contacts may have come back, and numbers may be free. The breakers of the calls' campaigns are judged by the record. */
const wake = Effect.fnUntraced(function* ({ inboxes, ownership, store }: Watch, campaignIds: ReadonlySet<CampaignId | undefined>) {
  const owned = inboxes.owned().map(({ id }) => id)
  store.changedElsewhere(owned)
  for (const id of campaignIds) {
    const inbox = id === undefined ? undefined : inboxes.find(id)
    if (id === undefined || inbox?.breaker === undefined) continue
    if (inbox.breaker.isSettled) inbox.breakerEpoch = undefined
    yield* ownership.judgeBreaker(id, yield* Clock.currentTimeMillis)
    inbox.look()
  }
})
