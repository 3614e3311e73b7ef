/**
 * How an engine without the lock becomes a call node: it registers in the database once another engine decides, shows that it is alive, and leaves
 * the register when it stops, or when it gets the lock.
 */
import { Context, Deferred, Effect, Fiber, Layer, Schedule, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { hostname } from "node:os"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Config } from "#runtime/config/config.ts"
import { OwnPlaces } from "#runtime/egress/OwnPlaces.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { following } from "#runtime/lock/Forwarding.ts"
import { ownAddress } from "#runtime/lock/ownAddress.ts"
import { beat, register, surroundings, unregister } from "#runtime/postgres/OtherEngineStore.ts"
import { Migrations } from "#runtime/postgres/postgres.ts"
import { ownName } from "#runtime/process/ProcessName.ts"
import { Started } from "#runtime/process/Started.ts"
import { Carrying, schemaVersionOf } from "./CallNode.ts"
import { PING_MILLIS } from "./messages.ts"

const BEAT = "500 millis"
const LOOK = "500 millis"

/** Retries for as long as the database is unreachable. */
const surely = <A>(work: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> => Effect.orDie(Effect.retry(work, Schedule.spaced(LOOK)))

/** The dispatcher has given this call node up, and settles its calls. */
export class CallNodeForsaken extends Schema.TaggedError<CallNodeForsaken>()("CallNodeForsaken", {}) {
  override get message(): string {
    return "This engine could not be heard for a while, and the calls that it carried are settled by the one that dispatches them: start it again"
  }
}

/**
 * Waits for another engine that dispatches calls, and until no other engine has this one's name: providers would mistake its calls for ours. Until
 * then, connections are forwarded to the engine that decides, because an orchestrator may end the namesake only once this engine answers.
 */
export const awaitDispatcher = Effect.gen(function* () {
  const { host, nodeName, port, takeoverSeconds } = yield* Config
  const sql = yield* SqlClient.SqlClient
  const { deciderAt } = yield* Charge
  const me = { node: nodeName, process: ownName() }
  const forwarder = yield* following({ host, port })
  for (let isSaid = false; ; ) {
    const { hasNamesake, isLed } = yield* surely(surroundings(sql, me, takeoverSeconds))
    if (isLed && !hasNamesake) return
    if (hasNamesake && !isSaid) {
      isSaid = true
      yield* Effect.logWarning("another engine has the same NODE_NAME: this one carries no calls until that ends", { nodeName })
    }
    yield* forwarder.follow(deciderAt())
    yield* Effect.sleep(LOOK)
  }
}).pipe(Effect.scoped)

export class Carriage extends Context.Service<
  Carriage,
  {
    /** Returns once an engine of a newer release waits until this one has left. Fails once the dispatcher has given it up. */
    readonly over: Effect.Effect<void, CallNodeForsaken>
    /** This engine has the lock, so it is no call node any more; its calls go on. Fails if it has been given up. */
    readonly end: Effect.Effect<void, CallNodeForsaken>
  }
>()("runtime/nodes/Carriage") {
  /** Registers this engine. `front`: where it listens. When it closes, its calls get time to end, and it still shows that it is alive. */
  static readonly layer = <R>(front: Effect.Effect<{ readonly port: number }, never, R>) =>
    Layer.effect(
      Carriage,
      Effect.suspend(() => make(front))
    )
}

const make = Effect.fnUntraced(function* <R>(front: Effect.Effect<{ readonly port: number }, never, R>) {
  const config = yield* Config
  const sql = yield* SqlClient.SqlClient
  const { id: journal } = yield* LocalJournal
  const { drain } = yield* CallSupervisor
  const { forsake } = yield* Charge
  const { beaten, carried, sayRoom } = yield* Carrying
  const schemaVersion = schemaVersionOf(yield* Migrations)
  const over = yield* Deferred.make<void, CallNodeForsaken>()
  const { port } = yield* front
  const address = ownAddress(config, port)
  yield* OwnPlaces.use((own) => Effect.sync(() => own.add(port)))
  yield* Effect.orDie(register(sql, { address, host: hostname(), journal, node: config.nodeName, process: ownName(), schemaVersion }))
  beaten()
  const left = unregister(sql, journal)
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(left, "2 seconds")))
  const given = Effect.andThen(forsake, Deferred.fail(over, new CallNodeForsaken()))
  const superseded = Effect.andThen(
    Effect.logInfo("an engine of a newer release waits for this one, which ends when its calls are over"),
    Deferred.succeed(over, undefined)
  )
  const beating = yield* Effect.sleep(BEAT).pipe(
    Effect.andThen(beat(sql, journal)),
    Effect.tap(() => Effect.sync(beaten)),
    Effect.catch(() => Effect.succeed("Kept" as const)),
    Effect.tap((how) => (how === "Superseded" ? superseded : Effect.void)),
    Effect.repeat({ while: (how) => how !== "Forsaken" }),
    Effect.andThen(given),
    Effect.forkScoped
  )
  const showing = yield* Effect.forkScoped(showRoom)
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      carried.leave()
      sayRoom()
      yield* drain
    })
  )
  yield* Effect.map(Started, ({ finish }) => finish())
  yield* Effect.logInfo("this engine carries the calls that are dispatched to it").pipe(Effect.annotateLogs({ address }))
  return {
    over: Deferred.await(over),
    end: Effect.gen(function* () {
      yield* Fiber.interruptAll([beating, showing])
      if (!(yield* surely(left))) return yield* new CallNodeForsaken()
    })
  }
})

/** Repeats how many calls this engine can carry, and says why it carries none. */
const showRoom = Effect.gen(function* () {
  const { isCutOff, sayRoom } = yield* Carrying
  for (let wasCutOff = false; ; ) {
    yield* Effect.sleep(PING_MILLIS)
    sayRoom()
    const isNow = isCutOff()
    if (isNow === wasCutOff) continue
    wasCutOff = isNow
    yield* isNow
      ? Effect.logWarning("the database cannot be reached, so this engine carries no more calls until it can")
      : Effect.logInfo("the database can be reached again")
  }
})
