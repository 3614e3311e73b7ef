/**
 * One timer for each live call, all on a shared wheel: a hundred thousand sleeping fibers would cost more than the calls. A deadline is met
 * up to `TICK_MILLIS` late, never early. The wheel turns only while a deadline is set, and by steady time: a step of the wall clock neither
 * passes a deadline nor puts one off.
 */
import { Clock, Context, Effect, Layer, Latch } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"

const TICK_MILLIS = 100

/** Where it hangs on the wheel, and what happens when it is met. One for each live call, so no closures. */
export class Deadline {
  readonly #wheel: Wheel
  readonly #tick: number
  readonly #fire: () => void

  constructor(wheel: Wheel, tick: number, fire: () => void) {
    this.#wheel = wheel
    this.#tick = tick
    this.#fire = fire
  }

  /** Idempotent. */
  clear(): void {
    const slot = this.#wheel.get(this.#tick)
    if (slot?.delete(this) === true && slot.size === 0) this.#wheel.delete(this.#tick)
  }

  fire(): void {
    this.#fire()
  }
}

type Wheel = Map<number, Set<Deadline>>

export class Deadlines extends Context.Service<
  Deadlines,
  {
    /** `fire` must not throw. */
    readonly set: (afterMillis: number, fire: () => void) => Deadline
  }
>()("runtime/dispatch/Deadlines") {
  static readonly layer = Layer.effect(
    Deadlines,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const wheel: Wheel = new Map()
      const armed = Latch.makeUnsafe(false)
      let turned = 0

      const turn = Effect.map(SteadyTime.now, (now) => {
        const until = Math.floor(now / TICK_MILLIS)
        // After a pause longer than the wheel is full, it is cheaper to look at every slot than at every tick that was missed.
        const due =
          until - turned > wheel.size ? [...wheel.keys()].filter((tick) => tick <= until).sort((a, b) => a - b) : range(turned, until)
        turned = until
        for (const tick of due) {
          // It hangs there until then, so that one that is met may clear another of its tick.
          for (const deadline of wheel.get(tick) ?? []) deadline.fire()
          wheel.delete(tick)
        }
        if (wheel.size === 0) armed.closeUnsafe()
      })
      // To the next tick, not for a tick's time: a wheel that turns between two ticks meets its deadlines a tick too late.
      const sleep = Effect.flatMap(SteadyTime.now, (now) => Effect.sleep(Math.ceil(TICK_MILLIS - (now % TICK_MILLIS))))
      yield* armed.await.pipe(Effect.andThen(sleep), Effect.andThen(turn), Effect.forever, Effect.forkScoped)

      return {
        set: (afterMillis, fire) => {
          const now = SteadyTime.nowOf(clock)
          if (wheel.size === 0) turned = Math.floor(now / TICK_MILLIS)
          const tick = Math.floor((now + Math.max(0, afterMillis)) / TICK_MILLIS) + 1
          const slot = wheel.get(tick) ?? new Set()
          const deadline = new Deadline(wheel, tick, fire)
          wheel.set(tick, slot.add(deadline))
          armed.openUnsafe()
          return deadline
        }
      }
    })
  )
}

const range = (from: number, until: number) => Array.from({ length: Math.max(0, until - from + 1) }, (_, i) => from + i)
