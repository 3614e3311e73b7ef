/**
 * One engine per database and schema: two engines would each count only their own calls, and settle those of the other. The engine that has
 * the lock proves it twice a second with a statement on the session that holds it; `isHeld` is asked right before anything is dialed.
 *
 * A second engine stands by until the first one has ended (as in a rolling restart) or has been silent for `TAKEOVER_AFTER`. An engine that loses its
 * session dials nothing until it has the lock again. If it was frozen or cut off for so long that another engine has taken its place, it shuts down
 * in order: the other one has settled its calls.
 *
 * A database that comes back may be a standby that lacks what was written last. Then nothing is dialed either until the engine has written what it
 * knows of.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Clock, Context, Deferred, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { hostname, uptime } from "node:os"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import type { Descent } from "#runtime/postgres/Lineage.ts"
import { type Identity, type LockStore, lockStore, type Seen } from "#runtime/postgres/LockStore.ts"
import { following } from "./Forwarding.ts"
import { judge, makeSilence, PROOF_MILLIS } from "./Incumbent.ts"
import { Whereabouts } from "./Whereabouts.ts"
import { applicationOf, isGone, ownName } from "#runtime/process/ProcessName.ts"

const BEAT = "500 millis"
const LOOK = "100 millis"
const RECONNECT = "250 millis"
const CONNECT_TIMEOUT = "3 seconds"
const RELEASE_TIMEOUT = "2 seconds"
/** How far the wall clock may get ahead of steady time between proofs. If it gets further, the machine may have been suspended. */
const SUSPENDED_MILLIS = 1000

const nameOf = ({ host, node, pid, since }: Pick<Seen, "host" | "node" | "pid" | "since">): string =>
  `the engine ${node} (process ${pid} on ${host}, since ${since.toISOString()})`

/** Another engine took over while this one could not prove that it had the lock. */
class EngineReplaced extends Schema.TaggedError<EngineReplaced>()("EngineReplaced", { by: Schema.String }) {
  override get message(): string {
    return `This engine did not reach its database for a while, and ${this.by} has taken its place`
  }
}

/** The address of the database leads to another one. What is missing there is dealt with at a start. */
class DatabaseReplaced extends Schema.TaggedError<DatabaseReplaced>()("DatabaseReplaced", {}) {
  override get message(): string {
    return "The database was replaced by a copy while this engine ran: start it again"
  }
}

interface Taken {
  readonly at: SteadyMillis
  readonly isTakeover: boolean
  /** Whether the database may have lost something since an engine dialed on it last. */
  readonly descent: Descent
}

export class EngineLock extends Context.Service<
  EngineLock,
  {
    /** Whether no other engine can be dialing now. Asked right before anything leaves: the answer holds for that moment only. */
    readonly isHeld: () => boolean
    /** When this engine got the lock first, and whether from one that had not ended in order. */
    readonly taken: Taken
    /** The engine is about to stop: from now on `isHeld` is false, although no other engine can have the lock before this one has closed. */
    readonly dialNoMore: () => void
    /** `mend` is carried out before anything is dialed on a database that has failed over while this engine runs. */
    readonly onFailover: (mend: Effect.Effect<void>) => void
    /** The API listens: engines that stand by pass requests on to this address, `host:port`. */
    readonly listensAt: (address: string) => void
    /** Whatever the database may have lost by the start has been dealt with. */
    readonly settled: Effect.Effect<void>
    /** The timeline of the database on which this engine dials; undefined where the server does not tell. */
    readonly timeline: () => string | undefined
    /** Fails once another engine has taken over, or another database. */
    readonly replaced: Effect.Effect<never, EngineReplaced | DatabaseReplaced>
  }
>()("runtime/lock/EngineLock") {
  static readonly layer = Layer.effect(
    EngineLock,
    Effect.suspend(() => open)
  )
  /** For tests of code that asks `isHeld`. */
  static readonly layerHeld = Layer.succeed(EngineLock, {
    dialNoMore: () => {},
    isHeld: () => true,
    listensAt: () => {},
    onFailover: () => {},
    replaced: Effect.never,
    settled: Effect.void,
    taken: { at: 0, descent: "same", isTakeover: false },
    timeline: () => undefined
  })
}

/** Milliseconds since the machine was booted, including the time it was suspended. */
const uptimeMillis = () => uptime() * 1000

/** The last proof that the lock is ours. */
class Proof {
  private readonly clock: Clock.Clock
  private steadyAt = Number.NEGATIVE_INFINITY
  private wallAt = 0
  private uptimeAt = 0

  constructor(clock: Clock.Clock) {
    this.clock = clock
  }

  /** Dated to the moment before `work` begins, because the statement runs at some time after that. */
  readonly by = <E>(work: Effect.Effect<boolean, E>): Effect.Effect<boolean, E> =>
    Effect.suspend(() => {
      const [steadyAt, wallAt, uptimeAt] = [nowOf(this.clock), this.clock.currentTimeMillisUnsafe(), uptimeMillis()]
      return Effect.tap(work, (isProven) =>
        Effect.sync(() => {
          if (!isProven) return
          this.steadyAt = steadyAt
          this.wallAt = wallAt
          this.uptimeAt = uptimeAt
        })
      )
    })

  withdraw(): void {
    this.steadyAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Steady time stands still while the machine is suspended. Then the wall clock jumps when it wakes, as it does when somebody sets it; the
   * machine's uptime tells the two apart. It is read only after such a jump, because that costs a system call.
   */
  readonly holds = (): boolean => {
    const passed = nowOf(this.clock) - this.steadyAt
    if (passed >= PROOF_MILLIS) return false
    const latest = passed + SUSPENDED_MILLIS
    return this.clock.currentTimeMillisUnsafe() - this.wallAt < latest || uptimeMillis() - this.uptimeAt < latest
  }
}

/** Stands by until the lock is ours. Returns our epoch, and whether the engine before had not ended in order. */
const acquire = Effect.fnUntraced(function* (store: LockStore, me: Identity, takeoverMillis: number, proof: Proof) {
  const clock = yield* Clock.Clock
  const { host, port } = yield* Config
  const { follow } = yield* following({ host, port }, me.host)
  const silenceOf = makeSilence()
  let announced: number | undefined
  while (true) {
    const { holder, seen } = yield* store.observe
    yield* follow(holder === undefined ? undefined : seen)
    const silentMillis = silenceOf(seen, holder, nowOf(clock))
    if (seen?.released === false && holder === seen.backend && announced !== seen.epoch) {
      announced = seen.epoch
      yield* Effect.logInfo("another engine has this database: this one stands by, and takes over when it ends").pipe(named(seen))
    }
    switch (judge({ holder, isGone: seen !== undefined && isGone(seen.process), seen, silentMillis, takeoverMillis })) {
      case "take": {
        const epoch = yield* take(store, me, seen, proof)
        if (epoch !== undefined && announced !== undefined) yield* Effect.logInfo("this engine takes over")
        if (epoch !== undefined) return { epoch, isTakeover: seen?.released === false }
        yield* Effect.sleep(LOOK)
        break
      }
      case "end_session":
        if (seen !== undefined) yield* Effect.logWarning("the session of an engine that no longer answers is ended").pipe(named(seen))
        if (holder !== undefined) yield* store.endSession(holder)
        break
      case "wait":
        yield* Effect.sleep(LOOK)
    }
  }
}, Effect.scoped)

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
  // If it was frozen in the middle of a transaction, its locks would be in our way.
  else if (seen?.released === false) yield* store.endSessionsOf(seen.process)
  return epoch
})

/** Takes the lock back on a new session. Nothing is proven yet: the database may not be the one that it was. */
const resume = Effect.fnUntraced(function* (store: LockStore, epoch: number) {
  while (true) {
    const { holder, seen } = yield* store.observe
    if (seen === undefined || seen.epoch !== epoch) {
      return yield* new EngineReplaced({ by: seen === undefined ? "someone who emptied it" : nameOf(seen) })
    }
    // This is our former session: the server has not noticed yet that its client is gone.
    if (holder === seen.backend) yield* store.endSession(holder)
    if (holder === undefined && (yield* store.tryLock)) {
      if (yield* store.resume(epoch)) return
      yield* store.unlock
    }
    yield* Effect.sleep(LOOK)
  }
})

/** Beats that prove nothing, until the lock is lost. */
const beating = Effect.fnUntraced(function* (store: LockStore, epoch: number) {
  while (yield* store.beat(epoch)) yield* Effect.sleep(BEAT)
})

/** A session of its own. */
const connecting = (nodeName: string, { config: { password, types, url } }: PgClient.PgClient) =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({
      applicationName: `${applicationOf(nodeName)} lock`,
      connectTimeout: CONNECT_TIMEOUT,
      keepAlive: "5 seconds",
      password,
      types,
      url
    })
    const store = lockStore(connection)
    yield* store.prepare
    return store
  })

const open = Effect.gen(function* () {
  const { nodeName, takeoverSeconds } = yield* Config
  const connected = connecting(nodeName, yield* PgClient.PgClient)
  const clock = yield* Clock.Clock
  const proof = new Proof(clock)
  const me: Identity = { host: hostname(), node: nodeName, pid: process.pid, process: ownName() }
  const taken = yield* Deferred.make<Taken>()
  const replaced = yield* Deferred.make<never, EngineReplaced | DatabaseReplaced>()
  const whereabouts = new Whereabouts()
  let epoch: number | undefined

  const beats = Effect.fnUntraced(function* (store: LockStore, mine: number) {
    while (yield* proof.by(store.beat(mine))) {
      yield* whereabouts.keep
      yield* Effect.sleep(BEAT)
    }
    proof.withdraw()
  })
  const session = Effect.gen(function* () {
    const store = yield* connected
    if (epoch === undefined) {
      const acquired = yield* acquire(store, me, takeoverSeconds * 1000, proof)
      const descent = yield* whereabouts.begin(store, acquired.epoch)
      epoch = acquired.epoch
      yield* Deferred.succeed(taken, { at: nowOf(clock), descent, isTakeover: acquired.isTakeover })
    } else {
      yield* resume(store, epoch)
      const mended = yield* whereabouts.mended(store, epoch, beating(store, epoch))
      if (mended === "Elsewhere") return yield* new DatabaseReplaced()
      if (mended === "Lost") return
      yield* Effect.logInfo("the engine has its lock again")
    }
    const mine = epoch
    // Interrupted only after everything that dials has ended.
    yield* Effect.onInterrupt(beats(store, mine), () => Effect.ignore(Effect.timeout(store.release(mine), RELEASE_TIMEOUT)))
  }).pipe(Effect.scoped)

  const lose = (error: SqlError.SqlError) =>
    Effect.suspend(() => {
      proof.withdraw()
      return epoch === undefined
        ? Effect.void
        : Effect.logWarning("the engine has lost its lock, and dials nothing until it has it again", error.reason.cause)
    })
  const held = session.pipe(
    Effect.catchTag("SqlError", lose),
    Effect.andThen(Effect.sleep(RECONNECT)),
    Effect.forever,
    Effect.catch((error) =>
      Effect.andThen(Effect.logError("this engine ends").pipe(Effect.annotateLogs({ why: error.message })), Deferred.fail(replaced, error))
    )
  )
  yield* Effect.forkScoped(held)
  const came = yield* Deferred.await(taken)
  let isStopping = false
  const dialNoMore = () => {
    isStopping = true
  }
  return {
    dialNoMore,
    isHeld: () => !isStopping && proof.holds(),
    listensAt: whereabouts.listensAt,
    onFailover: (mend: Effect.Effect<void>) => {
      whereabouts.mend = mend
    },
    replaced: Deferred.await(replaced),
    settled: whereabouts.settled,
    taken: came,
    timeline: () => whereabouts.timeline
  }
})
