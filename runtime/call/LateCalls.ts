/**
 * Calls of ours in progress without an actor: written off but placed after all, refused but placed anyway, or left behind by an earlier process.
 * Nobody would talk to a callee who answers, so these calls are hung up at once, and again until the provider confirms that they are gone. Their
 * runs show it.
 *
 * A call is ours if its id belongs to an attempt of the configuration that reported it. Media channels, other clients and other installations
 * share the provider and may use ids of the same form; their calls are never touched. What another configuration, perhaps of another
 * organization, reports under the same id is ignored. While the database is unreachable, a call that this process does not know itself is kept
 * until its owner can be looked up.
 */
import { Clock, Effect, type Fiber, FiberSet, Latch, Schedule, Schema } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { HOLD_MILLIS } from "#core/call/CallPatience.ts"
import { type KnownAttempt, LateCallStore } from "#core/call/LateCallStore.ts"
import type { LateLife } from "#core/run/RunRecord.ts"
import { CallId, type TelephonyConfigId } from "#core/Id.ts"
import type { Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { type CallRef, isProviderCallId } from "#core/provider/CallRef.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import type { EventSource } from "#runtime/trunk/CallsOfNode.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { persist } from "#runtime/postgres/persist.ts"
import { RecentIds } from "./RecentIds.ts"

/** The most calls that can be waiting for a decision or being hung up; others turn up again in the next list. */
const MOST = 10_000
/** Ids per query. */
const BATCH = 1000
const DECIDE_AGAIN = "1 second"
const HANGUP_AGAIN = "1 second"
const REQUEST_TIMEOUT = "4 seconds"
/** If a provider has not confirmed the end by then, it has lost the call. */
const GIVE_UP_MILLIS = 3_600_000
/** More than a call has in the seconds between its answer and its actor. */
const MOST_EVENTS = 16
/** How long repeated and late events are still expected after an end that the provider reported. */
const REPORTED_MILLIS = 60_000
/** How long the provider may still report an end that we inferred. */
const INFERRED_MILLIS = 600_000

const isCallId = Schema.is(CallId)

interface LateCall {
  readonly callId: CallId
  readonly source: EventSource
  /** Undefined until the database has confirmed that the call is ours; a call in doubt needs no confirmation. */
  ref: CallRef | undefined
  /** The provider's own id, if it has reported one since the call appeared. */
  providerCallId: string | undefined
  /** What the run will show about the call. */
  life: LateLife
  isDecided: boolean
  /** Undefined while no answer has been reported. */
  sinceAnswer: { readonly at: SteadyTime.SteadyMillis; readonly events: Array<TrunkEvent> } | undefined
}

/** A call, by its id and the configuration through which it was placed. */
interface ConfiguredCall {
  readonly ref: Pick<CallRef, "callId">
  readonly trunk: Pick<EventSource, "configurationId">
}

export interface LateCalls {
  /** An event of a call that has no actor. */
  readonly heard: (callId: string, event: TrunkEvent, source: EventSource) => void
  /**
   * The call gets its actor. Returns what the actor has missed since the callee answered, the answer first: empty if they have waited for too long to be
   * greeted now. An end without an answer is not told: the callee may have answered before the trunk was back.
   */
  readonly missedBy: (call: ConfiguredCall) => ReadonlyArray<TrunkEvent>
  /** A call of this process is over. `isReported`: the provider reported the end; otherwise we inferred it. */
  readonly ended: (call: ConfiguredCall, isReported: boolean) => void
  /** A call of this process was proven never to have rung. */
  readonly voided: (call: ConfiguredCall) => void
  readonly isAlive: (call: ConfiguredCall) => boolean
  /** Every attempt of earlier processes has its actor by now, so a live attempt without one is followed by nobody. */
  readonly recovered: () => void
}

/** What the node knows about its calls. */
interface NodeCalls {
  readonly isFollowed: (callId: string) => boolean
  /** Undefined if no call of this configuration is in doubt under this id. */
  readonly inDoubt: (callId: string, configurationId: TelephonyConfigId) => CallRef | undefined
  /** Called when the provider confirms that a call is gone. */
  readonly onGone: (callId: string) => void
}

/** Identifies a call among those remembered. */
const keyOf = (configurationId: TelephonyConfigId, callId: string): string => `${configurationId} ${callId}`
const keyIn = ({ ref, trunk }: ConfiguredCall): string => keyOf(trunk.configurationId, ref.callId)

interface Watch {
  readonly node: NodeCalls
  readonly nodeName: string
  readonly clock: Clock.Clock
  readonly fork: (work: Effect.Effect<unknown>) => Fiber.Fiber<unknown>
  readonly metrics: CallMetrics
  readonly attempts: AttemptStore["Service"]
  readonly store: LateCallStore["Service"]
  readonly late: Map<string, LateCall>
  /** Calls whose end the provider has reported. */
  readonly reported: RecentIds
  /** Calls whose end we have inferred. */
  readonly inferred: RecentIds
  readonly voided: RecentIds
  /** Open while there may be calls to decide on. */
  readonly news: Latch.Latch
  isRecovered: boolean
}

export const makeLateCalls = Effect.fnUntraced(function* (node: NodeCalls) {
  const clock = yield* Clock.Clock
  const { nodeName } = yield* Config
  const watch: Watch = {
    node,
    nodeName,
    clock,
    fork: yield* FiberSet.makeRuntime(),
    metrics: yield* CurrentCallMetrics,
    attempts: yield* AttemptStore,
    store: yield* LateCallStore,
    late: new Map(),
    reported: new RecentIds(clock, REPORTED_MILLIS),
    inferred: new RecentIds(clock, INFERRED_MILLIS),
    voided: new RecentIds(clock, REPORTED_MILLIS),
    news: Latch.makeUnsafe(false),
    isRecovered: false
  }
  yield* watch.news.await.pipe(Effect.andThen(turn(watch)), Effect.forever, Effect.forkScoped)

  const made: LateCalls = {
    heard: (callId, event, source) => heard(watch, callId, event, source),
    missedBy: (call) => missedBy(watch, keyIn(call)),
    ended: (call, isReported) => (isReported ? watch.reported : watch.inferred).add(keyIn(call)),
    voided: (call) => watch.voided.add(keyIn(call)),
    isAlive: (call) => watch.late.has(keyIn(call)),
    recovered: () => {
      watch.isRecovered = true
      watch.news.openUnsafe()
    }
  }
  return made
})

/** These events concern the conversation or money, or cannot be trusted. */
const isNoSignOfLife = ({ _tag }: TrunkEvent): boolean =>
  _tag === "Detected" || _tag === "GreetingEnded" || _tag === "VariablesSet" || _tag === "Billed" || _tag === "EndClaimed"

const heard = (watch: Watch, callId: string, event: TrunkEvent, source: EventSource): void => {
  if (!isCallId(callId) || isNoSignOfLife(event)) return
  const { fork, inferred, late, news, node, reported, voided } = watch
  const key = keyOf(source.configurationId, callId)
  const call = late.get(key)
  const now = iso(watch)
  const sign = signOf(event, now)
  if (call !== undefined) {
    call.life = { ...sign, ...call.life }
    call.providerCallId = nameIn(event) ?? call.providerCallId
    noteAnswer(watch, call, event)
  } else if (event._tag === "HungUp") {
    // We inferred this end; now the provider reports it.
    if (!inferred.has(key)) return
    node.onGone(callId)
    fork(Effect.annotateLogs(annotate(watch, callId, sign), { callId }))
  } else if (event._tag === "Named" && voided.has(key)) {
    // A callback about the end names the call again.
    return
  } else if (!reported.has(key) && late.size < MOST) {
    const ref = node.inDoubt(callId, source.configurationId)
    const life = { appeared_at: now, ...sign }
    const appeared: LateCall = { callId, isDecided: false, life, providerCallId: nameIn(event), ref, sinceAnswer: undefined, source }
    late.set(key, appeared)
    noteAnswer(watch, appeared, event)
    news.openUnsafe()
  }
}

const noteAnswer = ({ clock }: Watch, call: LateCall, event: TrunkEvent): void => {
  if (event._tag === "Answered") call.sinceAnswer ??= { at: SteadyTime.nowOf(clock), events: [] }
  if (call.sinceAnswer !== undefined && call.sinceAnswer.events.length < MOST_EVENTS) call.sinceAnswer.events.push(event)
}

const missedBy = ({ clock, late }: Watch, key: string): ReadonlyArray<TrunkEvent> => {
  const call = late.get(key)
  if (call === undefined || call.isDecided) return []
  late.delete(key)
  const { sinceAnswer } = call
  return sinceAnswer === undefined || SteadyTime.nowOf(clock) - sinceAnswer.at >= HOLD_MILLIS ? [] : sinceAnswer.events
}

/** Decides on all undecided calls. */
const turn = (watch: Watch) =>
  Effect.gen(function* () {
    watch.news.closeUnsafe()
    const undecided = [...watch.late.values()].filter(({ isDecided }) => !isDecided)
    for (const [configurationId, calls] of Map.groupBy(undecided, ({ source }) => source.configurationId))
      for (let from = 0; from < calls.length; from += BATCH) yield* decide(watch, configurationId, calls.slice(from, from + BATCH))
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logWarning("the owners of late calls could not be looked up yet", cause),
        Effect.andThen(
          Effect.sleep(DECIDE_AGAIN),
          Effect.sync(() => watch.news.openUnsafe())
        )
      )
    )
  )

const decide = Effect.fnUntraced(function* (watch: Watch, configurationId: TelephonyConfigId, calls: ReadonlyArray<LateCall>) {
  const foreign = calls.filter(({ ref }) => ref === undefined).map(({ callId }) => callId)
  const found = foreign.length === 0 ? [] : yield* watch.store.attempts(configurationId, foreign)
  const attempts = new Map(found.map((attempt) => [attempt.call.callId, attempt]))
  for (const call of calls) {
    const attempt = attempts.get(call.callId)
    const toEnd = call.ref !== undefined || isToEnd(watch, call, attempt)
    if (toEnd === undefined) continue
    call.isDecided = true
    call.ref ??= attempt?.call
    if (toEnd && call.ref !== undefined) watch.fork(end(watch, call, call.ref))
    else watch.late.delete(keyOf(configurationId, call.callId))
  }
})

/** Undefined if this cannot be decided yet. */
const isToEnd = ({ isRecovered, node, nodeName }: Watch, { callId }: LateCall, attempt: KnownAttempt | undefined): boolean | undefined => {
  if (attempt === undefined || node.isFollowed(callId)) return false
  // An engine with another name may be following it, or has just done so: this one may have asked before, and heard only now. The sweep asks again.
  if ((attempt.isLive || attempt.hasJustEnded) && attempt.node !== nodeName) return false
  return attempt.isLive && !isRecovered ? undefined : true
}

/** Hangs the call up repeatedly until it is gone, and records it with its run. */
const end = Effect.fnUntraced(
  function* (watch: Watch, call: LateCall, known: CallRef) {
    const { callId, source } = call
    watch.metrics.late++
    yield* Effect.logWarning("a call that nobody follows is hung up", call.life)
    const latest = SteadyTime.nowOf(watch.clock) + GIVE_UP_MILLIS
    while (true) {
      const ref = { ...known, providerCallId: call.providerCallId ?? known.providerCallId }
      yield* hangup(source, ref)
      if (yield* isGone(watch, source, ref)) break
      if (SteadyTime.nowOf(watch.clock) > latest) return yield* Effect.logError("a late call could not be hung up")
      yield* Effect.sleep(HANGUP_AGAIN)
    }
    call.life = { ended_at: iso(watch), ...call.life }
    // Before its number is free: a search for the next call to that number must not find this one.
    if (call.providerCallId !== undefined) watch.fork(persist(watch.attempts.named([{ callId, providerCallId: call.providerCallId }])))
    watch.node.onGone(callId)
    yield* annotate(watch, callId, call.life)
  },
  (ending, { late }, call) =>
    ending.pipe(
      Effect.ensuring(Effect.sync(() => void late.delete(keyOf(call.source.configurationId, call.callId)))),
      Effect.annotateLogs({ callId: call.callId, telephonyConfigurationId: call.source.configurationId })
    )
)

const hangup = (source: EventSource, call: CallRef) =>
  Effect.suspend(() => source.trunk()?.hangup(call, "originator_cancel") ?? Effect.void).pipe(
    Effect.timeout(REQUEST_TIMEOUT),
    Effect.catch(({ message }) => Effect.logWarning("a late call could not be hung up yet", { detail: message }))
  )

const isGone = (watch: Watch, source: EventSource, call: CallRef) =>
  Effect.suspend(() => source.trunk()?.lookup(call) ?? Effect.undefined).pipe(
    Effect.timeout(REQUEST_TIMEOUT),
    Effect.catch(() => Effect.undefined),
    Effect.map((look) => {
      for (const event of look?.told ?? []) heard(watch, call.callId, event, source)
      return look !== undefined && isOver(look.presence)
    })
  )

const isOver = (presence: Presence): boolean => presence === "ended" || presence === "gone" || presence === "never_placed"

const annotate = ({ store }: Watch, callId: CallId, life: LateLife) =>
  store.annotate(callId, life).pipe(
    Effect.sandbox,
    Effect.retry(Schedule.spaced("5 seconds").pipe(Schedule.upTo({ duration: GIVE_UP_MILLIS }))),
    Effect.flatMap((found) => (found ? Effect.void : Effect.logError("a call that had been proven never placed was placed after all"))),
    Effect.catchCause((cause) => Effect.logError("a late call could not be recorded", cause))
  )

const iso = ({ clock }: Watch): string => new Date(clock.currentTimeMillisUnsafe()).toISOString()

const nameIn = (event: TrunkEvent): string | undefined =>
  event._tag === "Named" && isProviderCallId(event.providerCallId) ? event.providerCallId : undefined

const signOf = (event: TrunkEvent, at: string): LateLife => {
  switch (event._tag) {
    case "Rang":
      return { rang_at: at }
    case "Answered":
      return { answered_at: at }
    case "HungUp":
      return { ended_at: at, hangup_cause: event.cause }
    default:
      return {}
  }
}
