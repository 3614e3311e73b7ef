/**
 * One engine per database and schema: two engines would each count only their own calls, and settle those of the other. The engine that has the
 * lock proves it every 0.4 s with a statement on the session that holds it; `isHeld` is checked right before anything is dialed.
 *
 * A second engine stands by until the first one has ended (as in a rolling restart) or has been silent for `TAKEOVER_AFTER`. An engine that
 * loses its session dials nothing until it has the lock again. If it was frozen or cut off for so long that another engine took over, it shuts
 * down in an orderly way, because the other engine has settled its calls.
 *
 * An engine that is asked to stop while calls are in progress gives up the lock and keeps its calls: it is leaving, and keeps proving that it is
 * alive. The dialing engine leaves these calls alone unless the leaving engine falls silent.
 *
 * A database that comes back may be a standby that lacks the latest writes. In that case, too, nothing is dialed until the engine has rewritten
 * what it knows.
 */
import { Clock, Context, Deferred, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { hostname } from "node:os"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { DatabaseServer, type Server } from "#runtime/postgres/DatabaseServer.ts"
import type { Descent } from "#runtime/postgres/Lineage.ts"
import { type Identity, type LockStore, lockStore, type Seen } from "#runtime/postgres/LockStore.ts"
import { Beats } from "./Beats.ts"
import { Charge } from "./Charge.ts"
import { DatabaseTime } from "./EngineClock.ts"
import { type EnginePlace, placeOf } from "./EnginePlace.ts"
import { type Former, formerOf, judge, makeSilence, PROOF_MILLIS } from "./Incumbent.ts"
import { type Departing, Leaving } from "./Leaving.ts"
import { Proof } from "./Proof.ts"
import { Whereabouts } from "./Whereabouts.ts"
import { applicationOf, isGone, ownName } from "#runtime/process/ProcessName.ts"

const BEAT = "400 millis"
const LOOK_MILLIS = 100
const RECONNECT = "250 millis"
const HELD_AGAIN = "250 millis"
const CONNECT_TIMEOUT = "3 seconds"
const RELEASE_TIMEOUT = "2 seconds"
/** How often the machine's clock is compared with the database's, and how far apart they may be before that is logged. */
const COMPARE = "1 second"
const APART_MILLIS = 1000

const nameOf = ({ host, node, pid, since }: Pick<Seen, "host" | "node" | "pid" | "since">): string =>
  `the engine ${node} (process ${pid} on ${host}, since ${since.toISOString()})`

/** Another engine took over while this one could not prove that it had the lock. */
class EngineReplaced extends Schema.TaggedError<EngineReplaced>()("EngineReplaced", { by: Schema.String }) {
  override get message(): string {
    return `This engine did not reach its database for a while, and ${this.by} has taken its place`
  }
}

/** The database's address now points to a different database. Whatever is missing there is dealt with at the next start. */
class DatabaseReplaced extends Schema.TaggedError<DatabaseReplaced>()("DatabaseReplaced", {}) {
  override get message(): string {
    return "The database was replaced by a copy while this engine ran: start it again"
  }
}

interface Taken {
  readonly at: SteadyMillis
  /** The engine before; undefined: there was none. */
  readonly former: Former | undefined
  readonly isTakeover: boolean
  /** Whether the database may have lost writes since an engine last dialed on it. */
  readonly descent: Descent
}

/** An engine that nothing ends. */
const held = {
  awaitHeld: Effect.void,
  dialNoMore: () => {},
  isHeld: () => true,
  leave: () => {},
  listensAt: () => {},
  onFailover: () => {},
  replaced: Effect.never,
  settled: Effect.void,
  taken: { at: 0, descent: "same", former: undefined, isTakeover: false }
} as const

export class EngineLock extends Context.Service<
  EngineLock,
  {
    /**
     * Whether no other engine can be dialing now. Ask right before sending anything: the answer is valid only for that moment. `aheadMillis`: nor for
     * this much longer, whatever happens.
     */
    readonly isHeld: (aheadMillis?: number) => boolean
    /** Returns once `isHeld`; never in an engine that has been replaced or is about to stop. */
    readonly awaitHeld: Effect.Effect<void>
    /** How this engine first got the lock, and whether its predecessor had failed to shut down in order. */
    readonly taken: Taken
    /** The engine is about to stop: from now on `isHeld` is false, although no other engine can get the lock before this one has closed. */
    readonly dialNoMore: () => void
    /**
     * Sets the effect to run before anything is dialed on a database that has failed over while this engine runs. It has everything that was committed
     * before `completeUntil`.
     */
    readonly onFailover: (mend: (completeUntil: SteadyMillis) => Effect.Effect<void>) => void
    /** The API is listening: engines on standby forward requests to this address, `host:port`. */
    readonly listensAt: (address: string) => void
    /** Gives up the lock as soon as the database is reachable; call `dialNoMore` first. From then on, connections to its port are forwarded. */
    readonly leave: (departing: Departing) => void
    /** To be run once everything the database may have lost before the start has been dealt with. */
    readonly settled: Effect.Effect<void>
    /** Fails once another engine has taken over or the database has been replaced. */
    readonly replaced: Effect.Effect<never, EngineReplaced | DatabaseReplaced>
  }
>()("runtime/lock/EngineLock") {
  static readonly layer = Layer.effect(
    EngineLock,
    Effect.suspend(() => open)
  )
  /** For tests of code that asks `isHeld`. */
  static readonly layerHeld = Layer.succeed(EngineLock, held)
}

interface Standby {
  readonly me: Identity
  readonly takeoverMillis: number
  readonly proof: Proof
  /** Called with where the engine that decides is reached. */
  readonly sees: (decider: EnginePlace | undefined) => void
}

/** Stands by until the lock is ours. Returns our epoch, and how the previous engine ended. */
const acquire = Effect.fnUntraced(function* (store: LockStore, { me, takeoverMillis, proof, sees }: Standby) {
  const clock = yield* Clock.Clock
  const silenceOf = makeSilence()
  let announced: number | undefined
  while (true) {
    const { holder, seen } = yield* store.observe
    const lookedAt = nowOf(clock)
    sees(holder === undefined && seen?.released !== true ? undefined : placeOf(seen, me.host))
    const silentMillis = silenceOf(seen, holder, lookedAt)
    if (seen?.released === false && holder === seen.backend && announced !== seen.epoch) {
      announced = seen.epoch
      yield* Effect.logInfo("another engine has this database: this one stands by, and takes over when it ends").pipe(named(seen))
    }
    switch (judge({ holder, isGone: seen !== undefined && isGone(seen.process), seen, silentMillis, takeoverMillis })) {
      case "take": {
        const epoch = (yield* isNamesake(store, me, takeoverMillis)) ? undefined : yield* take(store, me, seen, proof)
        if (epoch !== undefined && announced !== undefined) yield* Effect.logInfo("this engine takes over")
        if (epoch !== undefined) {
          const isTakeover = seen?.released === false
          return { epoch, former: seen === undefined ? undefined : formerOf(silentMillis, lookedAt, nowOf(clock)), isTakeover }
        }
        yield* Effect.sleep(LOOK_MILLIS)
        break
      }
      case "end_session":
        if (seen !== undefined) yield* Effect.logWarning("the session of an engine that no longer answers is ended").pipe(named(seen))
        if (holder !== undefined) yield* store.endSession(holder)
        break
      case "wait": {
        const leftMillis = takeoverMillis - silentMillis
        yield* Effect.sleep(leftMillis > 0 ? Math.min(LOOK_MILLIS, leftMillis) : LOOK_MILLIS)
      }
    }
  }
})

/** If another engine of the same name has calls, providers would mistake them for ours. */
const isNamesake = (store: LockStore, me: Identity, takeoverMillis: number) =>
  Effect.map(store.othersAs(me, takeoverMillis / 1000), (processes) => processes.some((process) => !isGone(process)))

const named = (seen: Seen) => Effect.annotateLogs({ engine: nameOf(seen) })

const take = Effect.fnUntraced(function* (store: LockStore, me: Identity, seen: Seen | undefined, proof: Proof) {
  if (!(yield* store.tryLock)) return undefined
  let epoch: number | undefined
  yield* proof.by(
    Effect.map(store.take(me, seen), (taken) => {
      epoch = taken
      return taken !== undefined
    })
  )
  // Another engine was faster, or the previous one is back.
  if (epoch === undefined) yield* store.unlock
  // If it was frozen in the middle of a transaction, that transaction's locks would block us.
  else if (seen?.released === false) yield* store.endSessionsOf(seen.process)
  return epoch
})

/**
 * Takes the lock back on a new session. This proves nothing yet: it may be a different database. Returns until when that has everything, if it is
 * ours.
 */
const resume = Effect.fnUntraced(function* (store: LockStore, epoch: number, beats: Beats) {
  while (true) {
    const { holder, seen } = yield* store.observe
    if (seen === undefined || seen.epoch !== epoch) {
      return yield* new EngineReplaced({ by: seen === undefined ? "someone who emptied it" : nameOf(seen) })
    }
    // This is our former session: the server has not yet noticed that its client is gone.
    if (holder === seen.backend) yield* store.endSession(holder)
    if (holder === undefined && (yield* store.tryLock)) {
      if (yield* store.resume(epoch)) return beats.completeUntil(seen.beat)
      yield* store.unlock
    }
    yield* Effect.sleep(LOOK_MILLIS)
  }
})

/** Opens a session dedicated to the lock. */
const connecting = (nodeName: string, server: Server, time: DatabaseTime) =>
  Effect.gen(function* () {
    const connection = yield* server.session({
      applicationName: `${applicationOf(nodeName)} lock`,
      connectTimeout: CONNECT_TIMEOUT,
      keepAlive: "5 seconds"
    })
    const store = lockStore(connection, time.isTold)
    yield* store.prepare
    return store
  })

/** State shared by this engine's successive sessions. */
interface Lock {
  readonly beats: Beats
  readonly clock: Clock.Clock
  readonly connected: ReturnType<typeof connecting>
  readonly leaving: Leaving
  readonly proof: Proof
  readonly replaced: Deferred.Deferred<never, EngineReplaced | DatabaseReplaced>
  readonly standby: Standby
  readonly taken: Deferred.Deferred<Taken>
  readonly whereabouts: Whereabouts
  /** Undefined until the engine has first had the lock. */
  epoch: number | undefined
}

const beat = Effect.fnUntraced(function* ({ beats, clock }: Lock, store: LockStore, epoch: number) {
  const at = nowOf(clock)
  const number = yield* store.beat(epoch)
  if (number !== undefined) beats.sent(number, at)
  return number !== undefined
})

/** Beats without renewing the proof, until the lock is lost. */
const beating = Effect.fnUntraced(function* (lock: Lock, store: LockStore, epoch: number) {
  while (yield* beat(lock, store, epoch)) yield* Effect.sleep(BEAT)
})

const keepBeating = Effect.fnUntraced(function* (lock: Lock, store: LockStore, epoch: number) {
  const { leaving, proof, whereabouts } = lock
  while (!leaving.isAsked && (yield* proof.by(beat(lock, store, epoch)))) {
    yield* whereabouts.keep
    yield* Effect.raceFirst(Effect.sleep(BEAT), leaving.asked)
  }
  proof.withdraw()
})

const session = Effect.fnUntraced(function* (lock: Lock) {
  const { leaving, whereabouts } = lock
  const store = yield* lock.connected
  yield* leaving.goOn(store)
  if (lock.epoch === undefined) {
    const acquired = yield* acquire(store, lock.standby)
    const descent = yield* whereabouts.begin(store, acquired.epoch)
    lock.epoch = acquired.epoch
    const { former, isTakeover } = acquired
    yield* Deferred.succeed(lock.taken, { at: nowOf(lock.clock), descent, former, isTakeover })
  } else {
    const completeUntil = yield* resume(store, lock.epoch, lock.beats)
    const mended = yield* whereabouts.mended(store, lock.epoch, completeUntil, beating(lock, store, lock.epoch))
    if (mended === "Elsewhere") return yield* new DatabaseReplaced()
    if (mended === "Lost") return
    yield* Effect.logInfo("the engine has its lock again")
  }
  const { epoch } = lock
  // Interrupted only after everything that dials has ended, so the release is safe.
  yield* Effect.onInterrupt(keepBeating(lock, store, epoch), () => Effect.ignore(Effect.timeout(store.release(epoch), RELEASE_TIMEOUT)))
  yield* leaving.go(store, epoch)
}, Effect.scoped)

/** Runs one session after another, until another engine or another database has replaced this one. */
const sessions = (lock: Lock) => {
  const { leaving, proof } = lock
  const lose = (error: SqlError.SqlError) =>
    Effect.suspend(() => {
      proof.withdraw()
      return lock.epoch === undefined || leaving.isAsked
        ? Effect.void
        : Effect.logWarning("the engine has lost its lock, and dials nothing until it has it again", error.reason.cause)
    })
  return session(lock).pipe(
    Effect.catchTag("SqlError", lose),
    Effect.andThen(Effect.sleep(RECONNECT)),
    Effect.forever,
    Effect.catch((error) =>
      Effect.all([
        Effect.logError("this engine ends").pipe(Effect.annotateLogs({ why: error.message })),
        leaving.forsake,
        Deferred.fail(lock.replaced, error)
      ])
    )
  )
}

const watchClocks = Effect.fnUntraced(function* ({ machineAhead }: DatabaseTime) {
  for (let wereApart = false; ; ) {
    yield* Effect.sleep(COMPARE)
    const millis = Math.round(machineAhead())
    const areApart = Math.abs(millis) > APART_MILLIS
    if (areApart && !wereApart)
      yield* Effect.logWarning("the clock of this machine is not that of the database, which counts").pipe(Effect.annotateLogs({ millis }))
    wereApart = areApart
  }
})

const open = Effect.gen(function* () {
  const { host, nodeName, takeoverSeconds } = yield* Config
  const clock = yield* Clock.Clock
  const proof = new Proof(clock, PROOF_MILLIS)
  const me: Identity = { host: hostname(), node: nodeName, pid: process.pid, process: ownName() }
  const charge = yield* Charge
  const leaving = new Leaving(me, host, yield* Effect.scope, charge.forsake)
  const whereabouts = new Whereabouts()
  const taken = yield* Deferred.make<Taken>()
  const replaced = yield* Deferred.make<never, EngineReplaced | DatabaseReplaced>()
  const time = yield* DatabaseTime
  const connected = connecting(nodeName, yield* DatabaseServer, time)
  const standby = { me, takeoverMillis: takeoverSeconds * 1000, proof, sees: charge.sees }
  yield* Effect.forkScoped(
    sessions({ beats: new Beats(), clock, connected, epoch: undefined, leaving, proof, replaced, standby, taken, whereabouts })
  )
  yield* Effect.forkScoped(watchClocks(time))
  const came = yield* Deferred.await(taken)
  let isStopping = false
  const isHeld = (aheadMillis?: number) => !isStopping && proof.holds(aheadMillis)
  charge.take({ isHeld, successor: () => leaving.successor, timeline: () => whereabouts.timeline })
  return {
    awaitHeld: Effect.gen(function* () {
      while (!isHeld()) yield* Effect.sleep(HELD_AGAIN)
    }),
    dialNoMore: () => {
      isStopping = true
    },
    isHeld,
    leave: leaving.begin,
    listensAt: whereabouts.listensAt,
    onFailover: (mend: (completeUntil: SteadyMillis) => Effect.Effect<void>) => {
      whereabouts.mend = mend
    },
    replaced: Deferred.await(replaced),
    settled: whereabouts.settled,
    taken: came
  }
})
