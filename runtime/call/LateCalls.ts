/**
 * Calls of ours that are up without an actor: written off but placed after all, refused but placed anyway, or left behind by a former process.
 * Nobody would talk to whoever answers, so they are hung up at once, and again until the provider confirms that they are gone. Their runs
 * record it.
 *
 * A call is ours if its id belongs to an attempt of the configuration that reported it. Media channels, other clients and other installations
 * share the provider and may use ids of the same form: their calls are never touched. While the database is away, a call that this process
 * does not know itself is kept until its owner can be looked up.
 */
import { Clock, Effect, FiberSet, Latch, Schedule, Schema } from "effect"
import { type KnownAttempt, type LateLife, LateCallStore } from "#core/call/LateCallStore.ts"
import { CallId, type TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import type { EventSource } from "#runtime/trunk/TrunkPool.ts"
import { CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { RecentIds } from "./RecentIds.ts"

/** The most calls that can be waiting for a decision or being hung up; any others turn up again in the next list. */
const MOST = 10_000
/** The most ids per query. */
const BATCH = 1000
const DECIDE_AGAIN = "1 second"
const HANGUP_AGAIN = "1 second"
const REQUEST_TIMEOUT = "4 seconds"
/** A provider that still has not confirmed the end by then has lost the call. */
const GIVE_UP_MILLIS = 3_600_000
/** For this long after an end that the provider reported, repeated and late events are still expected. */
const TOLD_MILLIS = 60_000
/** For this long after an end that we inferred, the provider may still report it. */
const INFERRED_MILLIS = 600_000

const isCallId = Schema.is(CallId)

interface Late {
  readonly callId: CallId
  readonly source: EventSource
  /** This process dialed it, so the database need not be asked. */
  readonly isOurs: boolean
  life: LateLife
  isDecided: boolean
}

export interface LateCalls {
  /** An event of a call that has no actor. */
  readonly heard: (callId: string, event: TrunkEvent, source: EventSource) => void
  /** A call of this process is over. */
  readonly ended: (callId: string, told: boolean) => void
  readonly isAlive: (callId: string) => boolean
  /** Every attempt of former processes has its actor by now: a live attempt without one is followed by nobody. */
  readonly recovered: () => void
}

interface Engine {
  readonly isFollowed: (callId: string) => boolean
  readonly isInDoubt: (callId: string) => boolean
  /** The provider confirms that it is gone. */
  readonly onGone: (callId: string) => void
}

export const makeLateCalls = Effect.fnUntraced(function* ({ isFollowed, isInDoubt, onGone }: Engine) {
  const store = yield* LateCallStore
  const metrics = yield* CurrentCallMetrics
  const { nodeName } = yield* Config
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const late = new Map<string, Late>()
  const told = new RecentIds(clock, TOLD_MILLIS)
  const inferred = new RecentIds(clock, INFERRED_MILLIS)
  const news = Latch.makeUnsafe(false)
  let isRecovered = false

  const iso = () => new Date(clock.currentTimeMillisUnsafe()).toISOString()
  const annotate = (callId: CallId, life: LateLife) =>
    store.annotate(callId, life).pipe(
      Effect.sandbox,
      Effect.retry(Schedule.spaced("5 seconds").pipe(Schedule.upTo({ duration: GIVE_UP_MILLIS }))),
      Effect.flatMap((found) => (found ? Effect.void : Effect.logError("a call that had been proven never placed was placed after all"))),
      Effect.catchCause((cause) => Effect.logError("a late call could not be recorded", cause))
    )

  const hangup = (source: EventSource, callId: CallId) =>
    Effect.suspend(() => source.trunk()?.hangup(callId, "originator_cancel") ?? Effect.void).pipe(
      Effect.timeout(REQUEST_TIMEOUT),
      Effect.catch(({ message }) => Effect.logWarning("a late call could not be hung up yet", { detail: message }))
    )
  const isGone = (source: EventSource, callId: CallId) =>
    Effect.suspend(() => source.trunk()?.lookup(callId) ?? Effect.succeed("silent" as const)).pipe(
      Effect.timeout(REQUEST_TIMEOUT),
      Effect.catch(() => Effect.succeed("silent" as const)),
      Effect.map((presence) => presence === "gone" || presence === "never_placed")
    )

  const end = Effect.fnUntraced(
    function* (call: Late) {
      const { callId, source } = call
      metrics.late++
      yield* Effect.logWarning("a call that nobody follows is hung up", call.life)
      const latest = SteadyTime.nowOf(clock) + GIVE_UP_MILLIS
      while (true) {
        yield* hangup(source, callId)
        if (yield* isGone(source, callId)) break
        if (SteadyTime.nowOf(clock) > latest) return yield* Effect.logError("a late call could not be hung up")
        yield* Effect.sleep(HANGUP_AGAIN)
      }
      call.life = { ended_at: iso(), ...call.life }
      onGone(callId)
      yield* annotate(callId, call.life)
    },
    (ending, call) =>
      ending.pipe(
        Effect.ensuring(Effect.sync(() => void late.delete(call.callId))),
        Effect.annotateLogs({ callId: call.callId, telephonyConfigurationId: call.source.configurationId })
      )
  )

  /** Undefined: not known yet. */
  const isToEnd = ({ callId }: Late, attempt: KnownAttempt | undefined): boolean | undefined => {
    if (attempt === undefined || isFollowed(callId)) return false
    // An engine with another name may be following it.
    if (attempt.isLive && attempt.node !== nodeName) return false
    return attempt.isLive && !isRecovered ? undefined : true
  }
  const decide = Effect.fnUntraced(function* (configurationId: TelephonyConfigId, calls: ReadonlyArray<Late>) {
    const unknown = calls.filter(({ isOurs }) => !isOurs).map(({ callId }) => callId)
    const found = unknown.length === 0 ? [] : yield* store.attempts(configurationId, unknown)
    const attempts = new Map(found.map((attempt) => [attempt.callId, attempt]))
    for (const call of calls) {
      const toEnd = call.isOurs || isToEnd(call, attempts.get(call.callId))
      if (toEnd === undefined) continue
      call.isDecided = true
      if (toEnd) fork(end(call))
      else late.delete(call.callId)
    }
  })
  const turn = Effect.gen(function* () {
    news.closeUnsafe()
    const undecided = [...late.values()].filter(({ isDecided }) => !isDecided)
    for (const [configurationId, calls] of Map.groupBy(undecided, ({ source }) => source.configurationId))
      for (let from = 0; from < calls.length; from += BATCH) yield* decide(configurationId, calls.slice(from, from + BATCH))
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logWarning("the owners of late calls could not be looked up yet", cause),
        Effect.andThen(
          Effect.sleep(DECIDE_AGAIN),
          Effect.sync(() => news.openUnsafe())
        )
      )
    )
  )
  yield* news.await.pipe(Effect.andThen(turn), Effect.forever, Effect.forkScoped)

  const made: LateCalls = {
    heard: (callId, event, source) => {
      if (!isCallId(callId) || event._tag === "MachineDetected" || event._tag === "Gathered") return
      const known = late.get(callId)
      const sign = signOf(event, iso())
      if (known !== undefined) known.life = { ...sign, ...known.life }
      else if (event._tag === "HungUp") {
        // We inferred this end; now the provider reports it.
        if (!inferred.has(callId)) return
        onGone(callId)
        fork(Effect.annotateLogs(annotate(callId, sign), { callId }))
      } else if (!told.has(callId) && late.size < MOST) {
        const isOurs = isInDoubt(callId)
        late.set(callId, { callId, isDecided: false, isOurs, life: { appeared_at: iso(), ...sign }, source })
        news.openUnsafe()
      }
    },
    ended: (callId, wasTold) => (wasTold ? told : inferred).add(callId),
    isAlive: (callId) => late.has(callId),
    recovered: () => {
      isRecovered = true
      news.openUnsafe()
    }
  }
  return made
})

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
