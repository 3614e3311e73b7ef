/**
 * One timer for each live call, all on a shared wheel, because a hundred thousand sleeping fibers would cost more than the calls. A deadline
 * fires up to `TICK_MILLIS` late, never early. The wheel turns only while a deadline is set, and by steady time: a step of the wall clock
 * neither fires a deadline nor delays one.
 */
import { Clock, Context, Effect, Layer, Latch } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"

const TICK_MILLIS = 100

/** One entry of the wheel, and what happens when it is due. Each live call has one, so it has fields and no closures. */
export class Deadline {
  readonly #wheel: Wheel
  readonly #tick: number
  readonly #fire: () => void

  constructor(wheel: Wheel, tick: number, fire: () => void) {
    this.#wheel = wheel
    this.#tick = tick
    this.#fire = fire
  }

  /** Idempotent; has no effect once it has fired. */
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
        // If more ticks were missed than there are slots, checking every slot is cheaper than checking every missed tick.
        const due =
          until - turned > wheel.size ? [...wheel.keys()].filter((tick) => tick <= until).sort((a, b) => a - b) : range(turned, until)
        turned = until
        for (const tick of due) {
          // The slot stays in place while its deadlines fire, so that one of them can clear another.
          for (const deadline of wheel.get(tick) ?? []) deadline.fire()
          wheel.delete(tick)
        }
        if (wheel.size === 0) armed.closeUnsafe()
      })
      // Sleeps until the next tick rather than for one tick: a wheel that turns between two ticks would fire its deadlines a tick too late.
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
