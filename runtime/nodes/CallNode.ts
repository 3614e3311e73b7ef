/**
 * A call node: an engine while it has no lock. It carries the calls that the dispatcher places, from the originate to their records, and dials nothing
 * of its own. It asks for each request right before it is sent, so it sends nothing while it cannot reach the dispatcher; its calls go on regardless,
 * and reach the database as any others. Once it has the lock, it follows its calls itself.
 */
import { Clock, Context, Effect, FiberSet, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { WakeWaiting } from "#core/call/NumberHold.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { OrganizationModels } from "#core/model/OrganizationModels.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { Sealer } from "#core/Sealer.ts"
import { nowOf } from "#core/SteadyTime.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { NodeLinks } from "#core/node/NodeLinks.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { layerOptOuts } from "#runtime/journal/Promises.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { Migrations } from "#runtime/postgres/postgres.ts"
import * as sharedFeedback from "#runtime/redis/sharedFeedback.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { CarriedCalls } from "./CarriedCalls.ts"
import { Dispatcher } from "./Dispatcher.ts"
import { isProof, MOST_BYTES_OF_STRANGERS, proofOf } from "./handshake.ts"
import { type FromNode, isUnhurried, PROTOCOL, SILENT_MILLIS, type ToNode } from "./messages.ts"
import { NodeLink } from "./NodeLink.ts"
import { RemoteTransfers } from "./RemoteTransfers.ts"

/** Without a sign from the database for this long, calls go elsewhere: what becomes of them could not be recorded here. */
const RECORDLESS_MILLIS = SILENT_MILLIS

/** Campaigns that wait for a number run where calls are dispatched. */
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
).pipe(Layer.provide(layerOptOuts))

/**
 * Those who watch a call elsewhere are told once, in one of two ways: by Redis if their engine says by it that they watch, otherwise the dispatcher
 * tells those who are connected to it. What is said in the other calls stays here.
 */
export const feedbackLayer = Layer.effect(
  LiveFeedback,
  Effect.gen(function* () {
    const here = yield* LiveFeedback
    const { isWatched, say } = yield* Dispatcher
    const shared = yield* sharedFeedback.make(here)
    return LiveFeedback.of({
      ...here,
      publish: (organizationId, runId, event) => {
        here.publish(organizationId, runId, event)
        if (shared.isWatched(organizationId, runId)) shared.publish(organizationId, runId, event)
        else if (isWatched(organizationId, runId)) say({ _tag: "Feedback", event, organizationId, runId })
      }
    })
  })
).pipe(Layer.provide(LiveFeedback.layer))

/** Only the dispatcher's own trunks tell campaigns about outages. */
export const outagesLayer = Layer.effect(
  TrunkOutages,
  Effect.gen(function* () {
    const outages = yield* TrunkOutages
    const { isTaken } = yield* Charge
    const ifTaken = <A>(work: Effect.Effect<A>, otherwise: A) => Effect.suspend(() => (isTaken() ? work : Effect.succeed(otherwise)))
    return TrunkOutages.of({
      began: (away, at, reason, heldUp) => ifTaken(outages.began(away, at, reason, heldUp), undefined),
      ended: (away, at) => ifTaken(outages.ended(away, at), undefined),
      keepFor: (id, endpoints) => ifTaken(outages.keepFor(id, endpoints), undefined),
      tell: (away, now) => ifTaken(outages.tell(away, now), { isPending: false, told: [] }),
      untold: ifTaken(outages.untold, [])
    })
  })
).pipe(Layer.provide(TrunkOutages.layer))

/** The calls that this node carries, and how many more it can. */
export class Carrying extends Context.Service<
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
      const { failure } = yield* LocalJournal
      const media = yield* MediaRoom
      const carried = yield* makeCarried(dispatcher.say)
      let beatenAt = nowOf(clock)
      const beaten = () => {
        beatenAt = nowOf(clock)
      }
      const isCutOff = () => nowOf(clock) - beatenAt > RECORDLESS_MILLIS
      const sayRoom = () => {
        const { limit } = media.metrics()
        const takesNone = carried.isLeaving || isCutOff() || failure() !== undefined
        dispatcher.say({ _tag: "Room", calls: takesNone ? 0 : Number.isFinite(limit) ? limit : null })
      }
      return { beaten, carried, isCutOff, sayRoom }
    })
  )
}

export const schemaVersionOf = ({ own }: Migrations["Service"]): number => own.at(-1)?.version ?? 0

/** What the dispatcher says. An engine that has the lock lets nobody in. */
export const layerLinks = Layer.effect(
  NodeLinks,
  Effect.gen(function* () {
    const dispatcher = yield* Dispatcher
    const sealer = yield* Sealer
    const { id: journal } = yield* LocalJournal
    const { carried, sayRoom } = yield* Carrying
    const { isTaken, onTake } = yield* Charge
    const fork = yield* FiberSet.makeRuntime()
    return receiving({
      onTake,
      isWelcome: () => !isTaken(),
      isSealed: (proof, nonce) => isProof(sealer, "dispatcher", journal, nonce, proof),
      schemaVersion: schemaVersionOf(yield* Migrations),
      heard: (message) => (message._tag === "Watch" ? dispatcher.watch(message) : carried.hear(message)),
      followed: (link, { nonce }) => {
        carried.lost()
        fork(carried.renewAll)
        // Nothing else is listened to before it.
        link.send({ _tag: "Has", callIds: carried.callIds(), proof: proofOf(sealer, "call node", journal, nonce) })
        dispatcher.follow((message) => link.send(message, isUnhurried(message)))
        sayRoom()
      },
      lost: () => {
        dispatcher.lost()
        carried.lost()
        if (!isTaken()) fork(Effect.logWarning("the dispatcher cannot be heard, so no call leaves until it can"))
      }
    })
  })
).pipe(Layer.provideMerge(Carrying.layer))

type Hello = Extract<ToNode, { readonly _tag: "Hello" }>

interface Reception {
  readonly isWelcome: () => boolean
  readonly onTake: (tell: () => void) => void
  /** The dispatcher has sealed the challenge with the installation's key. */
  readonly isSealed: (proof: unknown, nonce: string) => boolean
  readonly schemaVersion: number
  /** A new dispatcher, or the same one again. It takes the place of any before it. */
  readonly followed: (link: NodeLink<ToNode, FromNode>, hello: Hello) => void
  readonly heard: (message: ToNode) => void
  readonly lost: () => void
}

/** Lets in whoever proves that it is a dispatcher of the same release. */
const receiving = ({ followed, heard, isSealed, isWelcome, lost, onTake, schemaVersion }: Reception): NodeLinks["Service"] => {
  let current: NodeLink<ToNode, FromNode> | undefined
  onTake(() => current?.close())
  const isDispatcher = (message: ToNode, nonce: string): message is Hello =>
    isWelcome() &&
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
    models: yield* OrganizationModels,
    pool: yield* TrunkPool,
    say,
    slots: yield* Slots,
    supervisor: yield* CallSupervisor,
    transfers: yield* RemoteTransfers
  })
})
