/** Effects under tap: a scope that closes at the end, no log output, a rejected promise for a failure. */
import { Clock, Effect, Layer, Logger, type Scope } from "effect"
import { TestClock } from "effect/testing"

const silent = Logger.layer([])

/** Steady time starts elsewhere than the wall clock, as it does in a process: whoever takes one for the other is found out. */
const STEADY_ORIGIN_NANOS = 1_000_000_000_000_000n

/** How far the wall clock of each test was set from where time alone would have brought it. */
const steps = new WeakMap<Clock.Clock, { millis: number }>()

/** A test clock whose wall clock can be stepped while steady time, and with it every sleep, goes on. */
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

/** Sets the wall clock forward, or back, as somebody sets it on a machine: no time passes by that. Under `run`. */
export const stepWallClock = (millis: number): Effect.Effect<void> =>
  Clock.clockWith((clock) => {
    const step = steps.get(clock)
    if (step === undefined) return Effect.die("this clock cannot be stepped")
    step.millis += millis
    return Effect.void
  })

/** On a clock that stands at 0 until `TestClock.adjust`; sockets, files and databases do not obey it. */
export const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.scoped(effect).pipe(Effect.provide(Layer.merge(silent, testClock))))

/** On the real clock. */
export const runLive = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.scoped(effect).pipe(Effect.provide(silent)))
