/**
 * A call node (`ROLE=calls`): carries the calls that the dispatcher places, from the originate to their records, and dials nothing of its own. It
 * asks for each request right before it is sent, so it sends nothing while it cannot reach the dispatcher; its calls go on regardless, and reach
 * the database as any others.
 */
import { Clock, Context, Deferred, Effect, FiberSet, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { WakeWaiting } from "#core/call/NumberHold.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { Sealer } from "#core/Sealer.ts"
import { nowOf } from "#core/SteadyTime.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { NodeLinks } from "#core/node/NodeLinks.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Config } from "#runtime/config/config.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { beat, register, surroundings, unregister } from "#runtime/postgres/OtherEngineStore.ts"
import { Migrations } from "#runtime/postgres/postgres.ts"
import { ownName } from "#runtime/process/ProcessName.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { ownAddress } from "#runtime/lock/ownAddress.ts"
import { CarriedCalls } from "./CarriedCalls.ts"
import { Dispatcher } from "./Dispatcher.ts"
import { isProof, MOST_BYTES_OF_STRANGERS, proofOf } from "./handshake.ts"
import { type FromNode, PING_MILLIS, PROTOCOL, SILENT_MILLIS, type ToNode } from "./messages.ts"
import { NodeLink } from "./NodeLink.ts"

const BEAT = "500 millis"
const LOOK = "500 millis"
/** Without a sign from the database for this long, calls go elsewhere: what becomes of them could not be recorded here. */
const RECORDLESS_MILLIS = SILENT_MILLIS

/** The dispatcher has given this call node up, and settles its calls. */
class CallNodeForsaken extends Schema.TaggedError<CallNodeForsaken>()("CallNodeForsaken", {}) {
  override get message(): string {
    return "This call node could not be heard for a while, and its calls are settled by the engine that dispatches them: start it again"
  }
}

/** Why this node is to end. */
class Dismissal extends Context.Service<
  Dismissal,
  {
    /** The dispatcher has given it up. */
    readonly forsaken: Deferred.Deferred<void>
    /** The dispatcher is of a newer release, and waits until it has left. */
    readonly superseded: Deferred.Deferred<void>
  }
>()("runtime/nodes/Dismissal") {
  static readonly layer = Layer.effect(Dismissal, Effect.all({ forsaken: Deferred.make<void>(), superseded: Deferred.make<void>() }))
}

/** A call node needs no lock: each of its requests is allowed one by one. */
export const lockLayer = Layer.effect(
  EngineLock,
  Effect.gen(function* () {
    const held = yield* EngineLock
    return { ...held, forsaken: Deferred.await((yield* Dismissal).forsaken) }
  })
).pipe(Layer.provide(EngineLock.layerHeld), Layer.provideMerge(Dismissal.layer))

/** Campaigns that wait for a number run elsewhere. */
export const wakeLayer = Layer.effect(
  WakeWaiting,
  Effect.map(
    Dispatcher,
    ({ say }) =>
      (campaignIds) =>
        say({ _tag: "NumberFreed", campaignIds })
  )
)

/** Opt-outs that callees say also stop contacts that the dispatcher has claimed. */
export const optOutsLayer = Layer.effect(
  RecentOptOuts,
  Effect.gen(function* () {
    const recent = yield* RecentOptOuts
    const { say } = yield* Dispatcher
    return RecentOptOuts.of({
      ...recent,
      add: (organizationId, phoneNumbers) => {
        recent.add(organizationId, phoneNumbers)
        say({ _tag: "OptedOut", organizationId, phoneNumbers })
      }
    })
  })
).pipe(Layer.provide(RecentOptOuts.layer))

/** Those who watch a call are connected to the dispatcher. What is said in the other calls stays here. */
export const feedbackLayer = Layer.effect(
  LiveFeedback,
  Effect.map(Dispatcher, ({ isWatched, say }) =>
    LiveFeedback.of({
      onWatch: () => {},
      publish: (organizationId, runId, event) => {
        if (isWatched(organizationId, runId)) say({ _tag: "Feedback", event, organizationId, runId })
      },
      watch: () => Stream.never,
      watched: () => []
    })
  )
)

/** The dispatcher's own trunks tell campaigns about outages. */
export const outagesLayer = Layer.succeed(TrunkOutages, {
  began: () => Effect.void,
  ended: () => Effect.void,
  keepFor: () => Effect.void,
  tell: () => Effect.succeed({ isPending: false, told: [] }),
  untold: Effect.succeed([])
})

/** Waits for an engine that dispatches calls, and until no other engine has this one's name: providers would mistake its calls for ours. */
export const awaitDispatcher = Effect.gen(function* () {
  const { nodeName, takeoverSeconds } = yield* Config
  const sql = yield* SqlClient.SqlClient
  for (let isSaid = false; ; isSaid = true) {
    const { hasNamesake, isLed } = yield* Effect.orDie(surroundings(sql, nodeName, takeoverSeconds))
    if (isLed && !hasNamesake) return
    if (!isSaid)
      yield* hasNamesake
        ? Effect.logWarning("another engine has the same NODE_NAME: this call node waits until it ends", { nodeName })
        : Effect.logInfo("this call node waits for an engine that dispatches calls")
    yield* Effect.sleep(LOOK)
  }
})

/** The calls that this node carries, and how many more it can. */
class Carrying extends Context.Service<
  Carrying,
  {
    readonly carried: CarriedCalls
    /** The database has accepted a sign of life. */
    readonly beaten: () => void
    /** The database has accepted none for a while. */
    readonly isCutOff: () => boolean
    readonly sayRoom: () => void
  }
>()("runtime/nodes/Carrying") {
  static readonly layer = Layer.effect(
    Carrying,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const dispatcher = yield* Dispatcher
      const media = yield* MediaRoom
      const carried = yield* makeCarried(dispatcher.say)
      let beatenAt = nowOf(clock)
      const beaten = () => {
        beatenAt = nowOf(clock)
      }
      const isCutOff = () => nowOf(clock) - beatenAt > RECORDLESS_MILLIS
      const sayRoom = () => {
        const { limit } = media.metrics()
        dispatcher.say({ _tag: "Room", calls: carried.isLeaving || isCutOff() ? 0 : Number.isFinite(limit) ? limit : null })
      }
      return { beaten, carried, isCutOff, sayRoom }
    })
  )
}

const schemaVersionOf = ({ own }: Migrations["Service"]): number => own.at(-1)?.version ?? 0

/** What the dispatcher says. */
export const layerLinks = Layer.effect(
  NodeLinks,
  Effect.gen(function* () {
    const dispatcher = yield* Dispatcher
    const sealer = yield* Sealer
    const { id: journal } = yield* LocalJournal
    const { carried, sayRoom } = yield* Carrying
    const fork = yield* FiberSet.makeRuntime()
    return receiving({
      isSealed: (proof, nonce) => isProof(sealer, "dispatcher", journal, nonce, proof),
      schemaVersion: schemaVersionOf(yield* Migrations),
      heard: (message) => (message._tag === "Watch" ? dispatcher.watch(message) : carried.hear(message)),
      followed: (link, { nonce }) => {
        carried.lost()
        dispatcher.follow((message) => link.send(message))
        dispatcher.say({ _tag: "Has", callIds: carried.callIds(), proof: proofOf(sealer, "call node", journal, nonce) })
        sayRoom()
      },
      lost: () => {
        dispatcher.lost()
        carried.lost()
        fork(Effect.logWarning("the dispatcher cannot be heard, so no call leaves until it can"))
      }
    })
  })
).pipe(Layer.provideMerge(Carrying.layer))

/** Tells the dispatcher that this node is there. `front`: where it listens. */
export const layer = <R>(front: Effect.Effect<{ readonly port: number }, never, R>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const config = yield* Config
      const sql = yield* SqlClient.SqlClient
      const { id: journal } = yield* LocalJournal
      const { drain } = yield* CallSupervisor
      const { forsaken, superseded } = yield* Dismissal
      const { beaten, carried, sayRoom } = yield* Carrying
      const schemaVersion = schemaVersionOf(yield* Migrations)
      const address = ownAddress(config, (yield* front).port)
      yield* Effect.orDie(register(sql, { address, host: hostname(), journal, node: config.nodeName, process: ownName(), schemaVersion }))
      beaten()
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(unregister(sql, journal), "2 seconds")))
      yield* Effect.sleep(BEAT).pipe(
        Effect.andThen(beat(sql, journal)),
        Effect.tap(() => Effect.sync(beaten)),
        Effect.catch(() => Effect.succeed("Kept" as const)),
        Effect.tap((how) => (how === "Superseded" ? Deferred.succeed(superseded, undefined) : Effect.void)),
        Effect.repeat({ while: (how) => how !== "Forsaken" }),
        Effect.andThen(Deferred.succeed(forsaken, undefined)),
        Effect.forkScoped
      )
      yield* showRoom.pipe(Effect.forkScoped)
      yield* Effect.addFinalizer(() =>
        Effect.gen(function* () {
          carried.leave()
          sayRoom()
          yield* drain
        })
      )
      yield* Effect.logInfo("this call node is ready, and carries the calls that are dispatched to it").pipe(
        Effect.annotateLogs({ address })
      )
    })
  )

/** Repeats how many calls this node can carry, and says why it carries none. */
const showRoom = Effect.gen(function* () {
  const { isCutOff, sayRoom } = yield* Carrying
  for (let wasCutOff = false; ; ) {
    yield* Effect.sleep(PING_MILLIS)
    sayRoom()
    const isNow = isCutOff()
    if (isNow === wasCutOff) continue
    wasCutOff = isNow
    yield* isNow
      ? Effect.logWarning("the database cannot be reached, so this call node takes no calls until it can")
      : Effect.logInfo("the database can be reached again")
  }
})

type Hello = Extract<ToNode, { readonly _tag: "Hello" }>

interface Reception {
  /** The dispatcher has sealed the challenge with the installation's key. */
  readonly isSealed: (proof: unknown, nonce: string) => boolean
  readonly schemaVersion: number
  /** A new dispatcher, or the same one again. It takes the place of any before it. */
  readonly followed: (link: NodeLink<ToNode, FromNode>, hello: Hello) => void
  readonly heard: (message: ToNode) => void
  readonly lost: () => void
}

/** Lets in whoever proves that it is a dispatcher of the same release. */
const receiving = ({ followed, heard, isSealed, lost, schemaVersion }: Reception): NodeLinks["Service"] => {
  let current: NodeLink<ToNode, FromNode> | undefined
  const isDispatcher = (message: ToNode, nonce: string): message is Hello =>
    message._tag === "Hello" &&
    message.protocol === PROTOCOL &&
    message.schemaVersion === schemaVersion &&
    isSealed(message.proof, nonce) &&
    typeof message.nonce === "string"
  return {
    open: (socket) => {
      const nonce = randomUUID()
      const link = new NodeLink<ToNode, FromNode>(socket, {
        onClose: () => {
          if (current !== link) return
          current = undefined
          lost()
        },
        onMessage: (message) => {
          if (current === link) heard(message)
          else if (isDispatcher(message, nonce)) {
            const former = current
            current = link
            former?.close()
            followed(link, message)
          } else link.close()
        }
      })
      link.send({ _tag: "Challenge", nonce })
      return {
        message: (data) => {
          if (current !== link && data.byteLength > MOST_BYTES_OF_STRANGERS) link.close()
          else link.message(decoder.decode(data))
        },
        closed: () => link.close()
      }
    }
  }
}

const decoder = new TextDecoder()

const makeCarried = Effect.fnUntraced(function* (say: (message: FromNode) => void) {
  const fork = yield* FiberSet.makeRuntime()
  return new CarriedCalls({
    clock: yield* Clock.Clock,
    fork: (work) => void fork(work),
    journal: yield* CallJournal,
    local: yield* LocalJournal,
    media: yield* MediaRoom,
    pool: yield* TrunkPool,
    say,
    slots: yield* Slots,
    supervisor: yield* CallSupervisor
  })
})

/** Fails once the dispatcher has given this node up, and returns once it is to leave. Then its calls get time to end, and it still shows that it is alive. */
export const running = Effect.gen(function* () {
  const { forsaken, superseded } = yield* Dismissal
  const isForsaken = Effect.andThen(Deferred.await(forsaken), Effect.fail(new CallNodeForsaken()))
  yield* Effect.raceFirst(Deferred.await(superseded), isForsaken)
  yield* Effect.logInfo("an engine of a newer release waits for this call node, which ends when its calls are over")
})
