/**
 * The call nodes, as the dispatcher sees them: which one is to carry the next calls, and what becomes of the calls that they have. Everything is
 * decided here, as for calls of this engine: slots, rates, permits, opt-outs. A call node asks right before it sends a request, so no request
 * leaves that this engine did not allow within the last moment.
 */
import { Clock, Context, Effect, FiberSet, Layer } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { NewAttempt } from "#core/call/Attempt.ts"
import { WakeWaiting } from "#core/call/NumberHold.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import type { TelephonyConfigId } from "#core/Id.ts"
import { OrganizationModels } from "#core/model/OrganizationModels.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { Sealer } from "#core/Sealer.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { TrunkSignals } from "#core/telephony/TrunkSignals.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import type { CallWatcher } from "#runtime/call/LiveCall.ts"
import { CallRate } from "#runtime/dispatch/CallRate.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import type { OtherEngine } from "#runtime/postgres/OtherEngineStore.ts"
import { Migrations } from "#runtime/postgres/postgres.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import type { Carrier, RemoteDialing } from "./Carrier.ts"
import { DispatchedCalls, type DispatchedSingle } from "./DispatchedCalls.ts"
import { PING_MILLIS } from "./messages.ts"
import { RemoteNode } from "./RemoteNode.ts"

/** Who is to carry the next calls. */
interface Choice {
  /** Undefined: this engine itself. */
  readonly carrier: Carrier | undefined
  /** How many more calls with audio it may have; none if nobody else takes calls of the trunk now, and this engine has all it may have. */
  readonly room: number
  /** On whichever engine, requests of further calls would wait for the replies of others. */
  readonly isCrowded: boolean
}

export class CallNodes extends Context.Service<
  CallNodes,
  {
    readonly choose: (trunk: LiveTrunk) => Choice
    /** Hands over an attempt that names the carrier's journal and holds its slot. */
    readonly start: (carrier: Carrier, attempt: NewAttempt, trunk: LiveTrunk, dialing: RemoteDialing, watcher: CallWatcher) => void
    /** Returns once every request that was allowed before has been sent, or can no longer be. */
    readonly quiet: Effect.Effect<void>
    /** Call nodes read the configuration again. Returns once none of them sends a request under the former one. */
    readonly trunkChanged: (id: TelephonyConfigId, changed: "configuration" | "numbers") => Effect.Effect<void>
    /** Whether the call's end will be reported here. */
    readonly isFollowed: (callId: string) => boolean
    /** The call node is registered, and is connected to. */
    readonly meet: (row: OtherEngine) => void
    /** The call node is gone. */
    readonly part: (journal: string) => void
    /** Breaks all links; they are opened again while this engine may dial. What call nodes do with that, they do after every broken link. */
    readonly restart: () => void
    /** A number that changes with everything that the call node says here. */
    readonly signsOf: (journal: string) => number
    /** Single calls on call nodes that may have left. */
    readonly singles: () => ReadonlyArray<DispatchedSingle>
    readonly metrics: () => { readonly heard: number; readonly calls: number }
  }
>()("runtime/nodes/CallNodes") {
  static readonly layer = Layer.effect(
    CallNodes,
    Effect.suspend(() => make)
  )
  /** For a call node itself, and for tests: there are none. */
  static readonly layerNone = Layer.succeed(CallNodes, {
    choose: ({ originating }) => ({ carrier: undefined, isCrowded: originating.isFull, room: Number.POSITIVE_INFINITY }),
    isFollowed: () => false,
    meet: () => {},
    metrics: () => ({ calls: 0, heard: 0 }),
    part: () => {},
    quiet: Effect.void,
    restart: () => {},
    signsOf: () => 0,
    singles: () => [],
    start: () => {},
    trunkChanged: () => Effect.void
  })
  /** Changes of telephony configurations, also for the trunks of call nodes. */
  static readonly layerSignals = Layer.effect(
    TrunkSignals,
    Effect.gen(function* () {
      const pool = yield* TrunkPool
      const { trunkChanged } = yield* CallNodes
      const changed = (id: TelephonyConfigId, what: "configuration" | "numbers") =>
        Effect.andThen(pool.renew(id, what), trunkChanged(id, what))
      return { configurationChanged: (id) => changed(id, "configuration"), numbersChanged: (id) => changed(id, "numbers") }
    })
  )
}

const QUIET_LOOK = "5 millis"

/** Of this engine and the nodes with room, whichever has less to do takes the next calls. */
const lessBusy = (nodes: Iterable<RemoteNode>, here: ReturnType<MediaRoom["Service"]["here"]>, isCrowded: boolean): Choice => {
  let best: RemoteNode | undefined
  const room = here.limit - here.calls
  let least = room > 0 && !isCrowded ? share(here.all, here.limit) : Number.POSITIVE_INFINITY
  for (const node of nodes) {
    const its = share(node.carried(), node.limit)
    // On a tie, the one that does not dispatch as well.
    if (node.room() <= 0 || its > least || (best !== undefined && its === least)) continue
    best = node
    least = its
  }
  return { carrier: best, isCrowded: isCrowded && best === undefined, room: best?.room() ?? Math.max(0, room) }
}
/** Nodes without a limit are compared by their calls. */
const MANY = 10_000
const share = (calls: number, limit: number): number => calls / Math.min(limit, MANY)

/** Nothing is wrong with an engine that is leaving, which takes no calls. */
const ofAnotherRelease = ({ node, schemaVersion }: OtherEngine) =>
  schemaVersion === null ? Effect.void : Effect.annotateLogs(Effect.logWarning("a call node of another release gets no calls"), { node })

const keptUp = (nodes: ReadonlyMap<string, RemoteNode>, mayOpen: () => boolean) =>
  Effect.sync(() => {
    for (const node of nodes.values()) node.keepUp(mayOpen())
  }).pipe(Effect.delay(PING_MILLIS), Effect.forever)

const makeCalls = Effect.gen(function* () {
  return new DispatchedCalls({
    clock: yield* Clock.Clock,
    elsewhere: yield* CallsElsewhere,
    feedback: yield* LiveFeedback,
    journal: yield* CallJournal,
    local: yield* LocalJournal,
    lock: yield* EngineLock,
    metrics: yield* CurrentCallMetrics,
    optOuts: yield* RecentOptOuts,
    pool: yield* TrunkPool,
    rate: yield* CallRate,
    slots: yield* Slots,
    store: yield* AttemptStore,
    wake: yield* WakeWaiting
  })
})

const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const lock = yield* EngineLock
  const media = yield* MediaRoom
  const sealer = yield* Sealer
  const schemaVersion = (yield* Migrations).own.at(-1)?.version ?? 0
  const nodes = new Map<string, RemoteNode>()
  const calls = yield* makeCalls
  const feedback = yield* LiveFeedback
  const greetings = () => feedback.watched().map((run) => ({ _tag: "Watch" as const, isWatched: true, ...run }))
  const means = { calls, clock, greetings, run: (work: Effect.Effect<unknown>) => void fork(work), schemaVersion, sealer }
  const room = () => [...nodes.values()].reduce((sum, node) => sum + Math.max(0, node.limit), 0)
  ;(yield* CallsElsewhere).onTell(calls.tell)
  media.join({ calls: calls.countWith, limit: room })
  feedback.onWatch((run, isWatched) => nodes.forEach((node) => void node.say({ _tag: "Watch", isWatched, ...run })))
  ;(yield* OrganizationModels).onChange((organizationId) =>
    nodes.forEach((node) => void node.say({ _tag: "ModelsChanged", organizationId }))
  )

  const quiet = Effect.gen(function* () {
    while (calls.grantedUntil() > SteadyTime.nowOf(clock)) yield* Effect.sleep(QUIET_LOOK)
  })
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      calls.allowNoMore()
      yield* quiet
      for (const node of nodes.values()) node.part()
    })
  )
  yield* Effect.forkScoped(keptUp(nodes, lock.isHeld))

  return CallNodes.of({
    choose: (trunk) => {
      // Then the slots themselves are limited to this engine's room.
      const isCrowded = trunk.originating.isFull
      if (nodes.size === 0) return { carrier: undefined, isCrowded, room: Number.POSITIVE_INFINITY }
      const open = [...nodes.values()].filter((node) => node.takes(trunk))
      return lessBusy(open, media.here(), isCrowded)
    },
    isFollowed: (callId) => calls.has(callId),
    meet: (row) => {
      if (nodes.has(row.journal)) return
      if (row.schemaVersion !== schemaVersion) return void fork(ofAnotherRelease(row))
      const node = new RemoteNode(row, means)
      nodes.set(row.journal, node)
      node.keepUp(lock.isHeld())
    },
    metrics: () => ({ calls: calls.size, heard: [...nodes.values()].filter(({ limit }) => limit > 0).length }),
    part: (journal) => {
      nodes.get(journal)?.part()
      nodes.delete(journal)
    },
    quiet,
    restart: () => nodes.forEach((node) => void node.restart()),
    signsOf: (journal) => nodes.get(journal)?.signs ?? 0,
    singles: () => calls.singles(),
    start: (carrier, attempt, trunk, dialing, watcher) => {
      calls.start(nodes.get(carrier.journal), carrier, { attempt, dialing, trunk, watcher })
    },
    trunkChanged: (id, changed) =>
      Effect.suspend(() => {
        for (const node of nodes.values()) node.say({ _tag: "TrunkChanged", changed, id })
        return quiet
      })
  })
})
