/**
 * Milliseconds that only ever increase, for everything that is timed inside this process: pacing, deadlines, durations, back-off, limits, expiry.
 * The wall clock can be stepped by an hour at any moment; it is for calling windows, due times and what is recorded or shown, and nothing
 * else. Steady time starts at an arbitrary value and means nothing to another process, so it is never stored: it is converted to wall time
 * for a row, a log or an answer, and a stored time is converted to steady time when it is read.
 */
import { Clock, Effect } from "effect"

/** Means nothing to another process. */
export type SteadyMillis = number
/** Milliseconds since the epoch. */
type WallMillis = number

export const nowOf = (clock: Clock.Clock): SteadyMillis => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const now: Effect.Effect<SteadyMillis> = Clock.clockWith((clock) => Effect.sync(() => nowOf(clock)))

/** Converts steady time to wall time, by the difference between the two clocks now. */
export const wallOf = (clock: Clock.Clock, at: SteadyMillis): WallMillis => clock.currentTimeMillisUnsafe() + (at - nowOf(clock))

/** Converts wall time to steady time, by the difference between the two clocks now. */
export const steadyOf = (clock: Clock.Clock, at: WallMillis): SteadyMillis => nowOf(clock) + (at - clock.currentTimeMillisUnsafe())

/**
 * `steadyOf` for a past event. If the wall clock was set back since, perhaps while no process ran, the event seems to lie in the future; it then
 * counts as having happened now.
 */
export const steadyPast = (clock: Clock.Clock, at: WallMillis): SteadyMillis => Math.min(steadyOf(clock, at), nowOf(clock))

/** `wallOf` with the clock of the fiber. */
export const toWall = (at: SteadyMillis): Effect.Effect<WallMillis> => Clock.clockWith((clock) => Effect.sync(() => wallOf(clock, at)))
