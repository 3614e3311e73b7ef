/** Runs effects under tap: the scope closes at the end, nothing is logged, and a failure rejects the promise. */
import { Clock, Effect, Layer, Logger, type Scope } from "effect"
import { TestClock } from "effect/testing"

const silent = Logger.layer([])

/** Steady time does not start where the wall clock does, as in a real process, so that code that confuses the two fails. */
const STEADY_ORIGIN_NANOS = 1_000_000_000_000_000n

/** By how much each test's wall clock has been stepped. */
const steps = new WeakMap<Clock.Clock, { millis: number }>()

/** A test clock whose wall clock can be stepped while steady time, and with it every sleep, continues. */
const steppable = Effect.map(TestClock.testClockWith(Effect.succeed), (clock): TestClock.TestClock => {
  const step = { millis: 0 }
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + step.millis
  const currentTimeNanosUnsafe = () => clock.currentTimeNanosUnsafe() + BigInt(step.millis) * 1_000_000n
  const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe() + STEADY_ORIGIN_NANOS
  const stepped = {
    ...clock,
    currentTimeMillisUnsafe,
    currentTimeNanosUnsafe,
    monotonicTimeNanosUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe)
  }
  steps.set(stepped, step)
  return stepped
})
const testClock = Layer.effect(Clock.Clock, steppable).pipe(Layer.provideMerge(TestClock.layer()))

/** Sets the wall clock forward or back, as an operator might; no time passes. Works only under `run`. */
export const stepWallClock = (millis: number): Effect.Effect<void> =>
  Clock.clockWith((clock) => {
    const step = steps.get(clock)
    if (step === undefined) return Effect.die("this clock cannot be stepped")
    step.millis += millis
    return Effect.void
  })

/** An effect, or the body of one. */
export type Work<A, R> = Effect.Effect<A, unknown, R> | (() => Generator<Effect.Effect<unknown, unknown, R>, A, never>)
export const effectOf = <A, R>(work: Work<A, R>) => (Effect.isEffect(work) ? work : Effect.gen(work))

/** Runs on a clock that stays at 0 until `TestClock.adjust`; sockets, files and databases are not affected by it. */
export const run = <A>(work: Work<A, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.scoped(effectOf(work)).pipe(Effect.provide(Layer.merge(silent, testClock))))

/** Runs on the real clock. */
export const runLive = <A>(work: Work<A, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.scoped(effectOf(work)).pipe(Effect.provide(silent)))
