/**
 * A cache whose entries age by steady time. Effect's own cache uses the clock of the fiber that asks, which is the wall clock: if that is set back
 * by an hour, a revoked key stays valid for that hour. The lookup itself still sees the wall clock.
 */
import { Cache, Clock, type Duration, Effect, type Exit } from "effect"
import * as SteadyTime from "./SteadyTime.ts"

interface SteadyCache<Key, A, E> {
  /** Looks up a missing entry once, however many fibers ask for it in the meantime. */
  readonly get: (key: Key) => Effect.Effect<A, E>
  /** Looks it up again. */
  readonly getAfresh: (key: Key) => Effect.Effect<A, E>
  readonly forgetAll: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* <Key, A, E>(
  lookup: (key: Key) => Effect.Effect<A, E>,
  options: { readonly capacity: number; readonly timeToLive: (exit: Exit.Exit<A, E>) => Duration.Input }
) {
  const clock = yield* Clock.Clock
  const steady = steadyClock(clock)
  const cache = yield* Cache.makeWith((key: Key) => Effect.provideService(lookup(key), Clock.Clock, clock), options)
  const get = (key: Key) => Effect.provideService(Cache.get(cache, key), Clock.Clock, steady)
  return {
    get,
    getAfresh: (key) => Effect.andThen(Cache.invalidate(cache, key), get(key)),
    forgetAll: Cache.invalidateAll(cache)
  } satisfies SteadyCache<Key, A, E>
})

/** A clock that returns steady time instead of wall time. */
const steadyClock = (clock: Clock.Clock): Clock.Clock => {
  const currentTimeMillisUnsafe = () => SteadyTime.nowOf(clock)
  const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe()
  return {
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanosUnsafe: monotonicTimeNanosUnsafe,
    currentTimeNanos: clock.monotonicTimeNanos,
    monotonicTimeNanosUnsafe,
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}
