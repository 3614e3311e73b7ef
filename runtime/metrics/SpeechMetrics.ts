/** The load on this process's workers that speak, prepare recordings, and recognize speech. */
import { Context, Effect, type Scope } from "effect"

/** Read each time the metrics are read. */
interface SpeechPool {
  /** Items being worked on. */
  readonly running: () => number
  /** Items waiting for a worker. */
  readonly waiting: () => number
}

export class SpeechMetrics {
  readonly pools = new Map<string, SpeechPool>()
}

/** The pools of this process. */
export const CurrentSpeechMetrics = Context.Reference<SpeechMetrics>("runtime/metrics/CurrentSpeechMetrics", {
  defaultValue: () => new SpeechMetrics()
})

/** Counts the pool until the scope closes. */
export const countPool = (name: string, pool: SpeechPool): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(CurrentSpeechMetrics, ({ pools }) =>
    Effect.acquireRelease(
      Effect.sync(() => void pools.set(name, pool)),
      () =>
        Effect.sync(() => {
          if (pools.get(name) === pool) pools.delete(name)
        })
    )
  )
