/**
 * Milliseconds that only ever grow, for everything that is timed inside this process: pacing, deadlines, durations, back-off, limits, expiry.
 * The wall clock can be stepped by an hour at any moment; it is for calling windows, due times and what is recorded or shown, and nothing
 * else. Steady time starts anywhere and ends with the process, so it is never stored: what goes into a row, a log or an answer is turned
 * into wall time there, and what is read from one is turned into steady time on the way in.
 */
import { Clock, Effect } from "effect"

/** Of this process: no other can make sense of it. */
export type SteadyMillis = number
/** Milliseconds since the epoch. */
type WallMillis = number

export const nowOf = (clock: Clock.Clock): SteadyMillis => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const now: Effect.Effect<SteadyMillis> = Clock.clockWith((clock) => Effect.sync(() => nowOf(clock)))

/** The wall clock's reading for a moment of steady time, by how far the two are apart now. */
export const wallOf = (clock: Clock.Clock, at: SteadyMillis): WallMillis => clock.currentTimeMillisUnsafe() + (at - nowOf(clock))

/** The moment of steady time for a reading of the wall clock, by how far the two are apart now. */
export const steadyOf = (clock: Clock.Clock, at: WallMillis): SteadyMillis => nowOf(clock) + (at - clock.currentTimeMillisUnsafe())

/**
 * `steadyOf` for something that has happened already. The clock may have been set back since, perhaps while no process ran, so that it reads
 * as if it were yet to come; it then counts as if it had happened just now.
 */
export const steadyPast = (clock: Clock.Clock, at: WallMillis): SteadyMillis => Math.min(steadyOf(clock, at), nowOf(clock))

/** `wallOf` where the clock is not at hand. */
export const toWall = (at: SteadyMillis): Effect.Effect<WallMillis> => Clock.clockWith((clock) => Effect.sync(() => wallOf(clock, at)))
