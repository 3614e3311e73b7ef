/**
 * The events of conversations, live, for clients that watch a call at this engine. Nothing is stored here: a watcher that joins late, or reads too
 * slowly, finds all events in the run once the call is over.
 */
import { Context, Effect, Layer, Queue, Stream } from "effect"
import type { OrganizationId, RunId } from "#core/Id.ts"
import type { FeedbackEvent } from "./RunRecord.ts"

/** A watcher that falls further behind loses the oldest events. */
const BUFFERED = 256

interface WatchedRun {
  readonly organizationId: OrganizationId
  readonly runId: RunId
}

export class LiveFeedback extends Context.Service<
  LiveFeedback,
  {
    /** The run's events from now on. Empty if the run does not belong to the organization. Never ends by itself. */
    readonly watch: (organizationId: OrganizationId, runId: RunId) => Stream.Stream<FeedbackEvent>
    /** An event of a conversation on this engine. */
    readonly publish: (organizationId: OrganizationId, runId: RunId, event: FeedbackEvent) => void
    /** An event of a conversation on another engine, for those who watch it here. */
    readonly heard: (organizationId: OrganizationId, runId: RunId, event: FeedbackEvent) => void
    /** The runs that somebody watches. */
    readonly watched: () => ReadonlyArray<WatchedRun>
    /** Calls `tell` when a run gets its first watcher, and when it loses its last. */
    readonly onWatch: (tell: (run: WatchedRun, isWatched: boolean) => void) => void
  }
>()("core/run/LiveFeedback") {
  static readonly layer = Layer.sync(LiveFeedback, () => {
    const watchers = new Map<string, { readonly run: WatchedRun; readonly queues: Set<Queue.Queue<FeedbackEvent>> }>()
    const tells: Array<(run: WatchedRun, isWatched: boolean) => void> = []
    const keyOf = ({ organizationId, runId }: WatchedRun) => `${organizationId} ${runId}`
    const enter = (run: WatchedRun, queue: Queue.Queue<FeedbackEvent>): void => {
      const among = watchers.get(keyOf(run))
      if (among !== undefined) return void among.queues.add(queue)
      watchers.set(keyOf(run), { queues: new Set([queue]), run })
      for (const tell of tells) tell(run, true)
    }
    const leave = (run: WatchedRun, queue: Queue.Queue<FeedbackEvent>): void => {
      const among = watchers.get(keyOf(run))
      among?.queues.delete(queue)
      if (among?.queues.size !== 0) return
      watchers.delete(keyOf(run))
      for (const tell of tells) tell(run, false)
    }
    const join = Effect.fnUntraced(function* (run: WatchedRun) {
      const queue = yield* Queue.sliding<FeedbackEvent>(BUFFERED)
      enter(run, queue)
      yield* Effect.addFinalizer(() => Effect.sync(() => leave(run, queue)))
      return Stream.fromQueue(queue)
    })
    const tell: LiveFeedback["Service"]["publish"] = (organizationId, runId, event) => {
      if (watchers.size === 0) return
      for (const queue of watchers.get(keyOf({ organizationId, runId }))?.queues ?? []) Queue.offerUnsafe(queue, event)
    }
    return LiveFeedback.of({
      watch: (organizationId, runId) => Stream.unwrap(join({ organizationId, runId })),
      publish: tell,
      heard: tell,
      watched: () => [...watchers.values()].map(({ run }) => run),
      onWatch: (tell) => void tells.push(tell)
    })
  })
}
