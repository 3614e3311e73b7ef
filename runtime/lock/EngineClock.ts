/**
 * The clock of an engine. Its wall clock is the database's, which all engines share: calling windows and due times are the same for all of them,
 * whatever the clock of a machine says. Timers and steady time are the machine's own.
 */
import { Clock, Context, Effect } from "effect"
import { uptime } from "node:os"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"

/** If the machine's clock jumps by more than this, it was set, or the machine was suspended, during which steady time stands still. */
const JUMP_MILLIS = 1000

interface Machine {
  readonly clock: Clock.Clock
  /** Milliseconds since it was booted, including those for which it was suspended. Reads a file of the system. */
  readonly uptimeMillis: () => number
}

const actual: Machine = { clock: Context.get(Context.empty(), Clock.Clock), uptimeMillis: () => uptime() * 1000 }

/** What an engine does with the time that its database tells it. By default nothing: it has the machine's clock. */
export type DatabaseTime = Pick<EngineClock, "isTold" | "machineAhead">
export const DatabaseTime = Context.Reference<DatabaseTime>("runtime/lock/DatabaseTime", {
  defaultValue: () => ({ isTold: () => {}, machineAhead: () => 0 })
})

export class EngineClock implements Clock.Clock {
  readonly #machine: Machine
  /** The database's clock minus steady time. */
  #apart: number
  /** The machine's clock, and its uptime, minus steady time, when the database was last asked. */
  #wallApart: number
  #uptimeApart: number

  constructor(machine: Machine = actual) {
    this.#machine = machine
    this.#apart = this.#wallApart = machine.clock.currentTimeMillisUnsafe() - nowOf(machine.clock)
    this.#uptimeApart = machine.uptimeMillis() - nowOf(machine.clock)
  }

  /**
   * The database has been asked for the time, and its clock was at `millis` since the epoch. It was so between the question and the answer, so a slow
   * answer tells less, and one from this very machine changes nothing.
   */
  readonly isTold = (askedAt: SteadyMillis, millis: number): void => {
    const { clock, uptimeMillis } = this.#machine
    const now = nowOf(clock)
    this.#apart = Math.min(Math.max(this.#apart + this.#sleptMillis(now), millis - now), millis - askedAt)
    this.#wallApart = clock.currentTimeMillisUnsafe() - now
    this.#uptimeApart = uptimeMillis() - now
  }

  /** By how much the machine's clock is ahead of the database's. */
  readonly machineAhead = (): number => this.#machine.clock.currentTimeMillisUnsafe() - this.#millis()

  currentTimeMillisUnsafe(): number {
    return Math.floor(this.#millis())
  }
  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.floor(this.#millis() * 1000)) * 1000n
  }
  monotonicTimeNanosUnsafe(): bigint {
    return this.#machine.clock.monotonicTimeNanosUnsafe()
  }
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())
  sleep(duration: Parameters<Clock.Clock["sleep"]>[0]): Effect.Effect<void> {
    return this.#machine.clock.sleep(duration)
  }

  #millis(): number {
    const now = nowOf(this.#machine.clock)
    return now + this.#apart + this.#sleptMillis(now)
  }

  /** For how long the machine has been suspended since the database was last asked. */
  #sleptMillis(now: SteadyMillis): number {
    const { clock, uptimeMillis } = this.#machine
    if (clock.currentTimeMillisUnsafe() - now - this.#wallApart < JUMP_MILLIS) return 0
    return Math.max(0, uptimeMillis() - now - this.#uptimeApart)
  }
}
