/** Who watches calls: call nodes tell only of calls that are watched, so they are told of each call's first watcher and of its last. */
import { Effect, Fiber, Stream } from "effect"
import t from "tap"
import { OrganizationId, RunId } from "#core/Id.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { test } from "./effectTest.ts"

const [ours, theirs, runId] = [OrganizationId.make(1), OrganizationId.make(2), RunId.make(7)]

test(t, "given a call, when clients begin to watch it and leave, then its first watcher and its last are told of", function* (t) {
  const { onWatch, watch, watched } = yield* Effect.provide(LiveFeedback, LiveFeedback.layer)
  const told: Array<string> = []
  onWatch(({ organizationId, runId }, isWatched) => void told.push(`${organizationId} ${runId} ${isWatched}`))
  const watching = (organizationId: OrganizationId) =>
    Effect.forkScoped(Stream.runDrain(watch(organizationId, runId)), { startImmediately: true })
  const [first, second] = [yield* watching(ours), yield* watching(ours)]
  t.strictSame(told, ["1 7 true"])
  const other = yield* watching(theirs)
  yield* Fiber.interrupt(first)
  t.strictSame(told, ["1 7 true", "2 7 true"])
  t.strictSame(watched(), [
    { organizationId: ours, runId },
    { organizationId: theirs, runId }
  ])
  yield* Fiber.interrupt(second)
  t.strictSame(watched(), [{ organizationId: theirs, runId }])
  yield* Fiber.interrupt(other)
  t.strictSame(told.slice(2), ["1 7 false", "2 7 false"])
})
