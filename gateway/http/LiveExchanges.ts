/** The requests whose handlers have returned before their answers were written. */
import { Deferred, Effect, Exit, Fiber } from "effect"
import { setImmediate as nextTurn } from "node:timers/promises"
import type { Exchange } from "./Exchange.ts"

export class LiveExchanges {
  readonly #all = new Set<Exchange>()
  readonly #drained = Deferred.makeUnsafe<void>()
  /** New requests are refused. */
  isDraining = false

  get all(): ReadonlySet<Exchange> {
    return this.#all
  }

  keep(exchange: Exchange): void {
    if (!exchange.isCorked) return
    exchange.isCorked = false
    this.#all.add(exchange)
    exchange.res.onAborted(() => {
      this.leave(exchange)
      exchange.trace?.ended(undefined)
      exchange.fiber?.interruptUnsafe()
    })
  }

  /** Its answer is written, or nobody waits for it any more. */
  leave(exchange: Exchange): void {
    exchange.isOver = true
    this.#all.delete(exchange)
    if (this.isDraining && this.#all.size === 0) Deferred.doneUnsafe(this.#drained, Exit.void)
  }

  /** Returns when none is left. */
  readonly drain = Effect.suspend(() => {
    this.isDraining = true
    const isIdle = this.#all.size === 0 ? Effect.void : Deferred.await(this.#drained)
    // The last request may still be writing its answer.
    return Effect.andThen(
      isIdle,
      Effect.promise(() => nextTurn())
    )
  })

  readonly interruptAll = Effect.suspend(() =>
    Fiber.interruptAll([...this.#all].flatMap(({ fiber }) => (fiber === undefined ? [] : [fiber])))
  )
}
