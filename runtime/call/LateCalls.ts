/**
 * Calls of ours that live without an actor: written off and there after all, refused and placed all the same, or left behind. Nobody speaks
 * on them, so they are hung up, at once and again until the provider confirms that they are gone, and their runs tell of it.
 *
 * Ours are those whose ids stand for attempts of the configuration that heard of them. On the same provider live media channels, calls of
 * other clients and of other installations, perhaps with ids of the same form: these are never touched. While the database is away, what
 * this process does not know itself is kept until it can be decided.
 */
import { Clock, Effect, FiberSet, Latch, Schedule, Schema } from "effect"
import { type KnownAttempt, type LateLife, LateCallStore } from "#core/call/LateCallStore.ts"
import { CallId, type TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "../config.ts"
import type { EventSource } from "../trunk/TrunkPool.ts"
import { CurrentCallFigures } from "./CallFigures.ts"

/** Calls that wait to be decided or are being hung up; more are taken from the next list. */
const MOST = 10_000
/** Asked of the database at once. */
const BATCH = 1000
const DECIDE_AGAIN = "1 second"
const HANGUP_AGAIN = "1 second"
const REQUEST_TIMEOUT = "4 seconds"
/** A provider that has not confirmed an end for so long has lost the call. */
const GIVE_UP_MILLIS = 3_600_000
/** An end that the provider told is followed for so long by events that come twice or late. */
const TOLD_MILLIS = 60_000
/** The provider may tell of an end that we inferred for so long after it. */
const INFERRED_MILLIS = 600_000

const isCallId = Schema.is(CallId)

interface Late {
  readonly callId: CallId
  readonly source: EventSource
  /** Known without the database: this process has dialed it. */
  readonly isOurs: boolean
  life: LateLife
  isDecided: boolean
}

export interface LateCalls {
  /** Of a call without an actor. */
  readonly heard: (callId: string, event: TrunkEvent, source: EventSource) => void
  /** A call of this process is over. */
  readonly ended: (callId: string, told: boolean) => void
  readonly isAlive: (callId: string) => boolean
  /** What former processes left has its actors: an attempt that has none now is followed by nobody. */
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
  const figures = yield* CurrentCallFigures
  const { nodeName } = yield* Config
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const late = new Map<string, Late>()
  const told = new Recent(clock, TOLD_MILLIS)
  const inferred = new Recent(clock, INFERRED_MILLIS)
  const news = Latch.makeUnsafe(false)
  let isRecovered = false

  const iso = () => new Date(clock.currentTimeMillisUnsafe()).toISOString()
  const annotate = (callId: CallId, life: LateLife) =>
    store.annotate(callId, life).pipe(
      Effect.sandbox,
      Effect.retry(Schedule.spaced("5 seconds").pipe(Schedule.upTo({ duration: GIVE_UP_MILLIS }))),
      Effect.flatMap((found) => (found ? Effect.void : Effect.logError("a call that was certainly never placed was there all the same"))),
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
      figures.late++
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

  /** Undefined: it cannot be said yet. */
  const isToEnd = ({ callId }: Late, attempt: KnownAttempt | undefined): boolean | undefined => {
    if (attempt === undefined || isFollowed(callId)) return false
    // An engine of another name may follow it.
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
        Effect.logWarning("it cannot be said yet whose calls these are", cause),
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
      if (!isCallId(callId) || event._tag === "MachineDetected") return
      const known = late.get(callId)
      const sign = signOf(event, iso())
      if (known !== undefined) known.life = { ...sign, ...known.life }
      else if (event._tag === "HungUp") {
        // We had concluded it; now the provider tells.
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

/** Ids of the last minutes. */
class Recent {
  readonly #clock: Clock.Clock
  readonly #millis: number
  readonly #until = new Map<string, number>()

  constructor(clock: Clock.Clock, millis: number) {
    this.#clock = clock
    this.#millis = millis
  }
  add(id: string): void {
    const now = SteadyTime.nowOf(this.#clock)
    // In the order in which they were added, so the oldest come first.
    for (const [old, until] of this.#until) {
      if (until > now) break
      this.#until.delete(old)
    }
    this.#until.set(id, now + this.#millis)
  }
  has(id: string): boolean {
    return (this.#until.get(id) ?? 0) > SteadyTime.nowOf(this.#clock)
  }
}
