/**
 * What happens in the conversations of this node, as it happens, for those who watch a call. Nothing of it is stored here: whoever joins late, or
 * reads too slowly, finds the whole in the run once the call is over.
 */
import { Context, Effect, Layer, Queue, Stream } from "effect"
import type { OrganizationId, RunId } from "#core/Id.ts"
import type { FeedbackEvent } from "./RunRecord.ts"

/** A watcher that is further behind loses the oldest. */
const BUFFERED = 256

export class LiveFeedback extends Context.Service<
  LiveFeedback,
  {
    /** The events of the run from now on, if it is one of the organization. Never ends by itself. */
    readonly watch: (organizationId: OrganizationId, runId: RunId) => Stream.Stream<FeedbackEvent>
    readonly publish: (organizationId: OrganizationId, runId: RunId, event: FeedbackEvent) => void
  }
>()("core/run/LiveFeedback") {
  static readonly layer = Layer.sync(LiveFeedback, () => {
    const watchers = new Map<string, Set<Queue.Queue<FeedbackEvent>>>()
    const keyOf = (organizationId: OrganizationId, runId: RunId) => `${organizationId} ${runId}`
    const leave = (key: string, queue: Queue.Queue<FeedbackEvent>): void => {
      const among = watchers.get(key)
      among?.delete(queue)
      if (among?.size === 0) watchers.delete(key)
    }
    const join = Effect.fnUntraced(function* (key: string) {
      const queue = yield* Queue.sliding<FeedbackEvent>(BUFFERED)
      watchers.set(key, (watchers.get(key) ?? new Set()).add(queue))
      yield* Effect.addFinalizer(() => Effect.sync(() => leave(key, queue)))
      return Stream.fromQueue(queue)
    })
    return LiveFeedback.of({
      watch: (organizationId, runId) => Stream.unwrap(join(keyOf(organizationId, runId))),
      publish: (organizationId, runId, event) => {
        if (watchers.size === 0) return
        for (const queue of watchers.get(keyOf(organizationId, runId)) ?? []) Queue.offerUnsafe(queue, event)
      }
    })
  })
}
