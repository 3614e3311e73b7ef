/** How long the engine remembers a number that has opted out, for calls that were claimed before. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { OrganizationId } from "#core/Id.ts"
import { test } from "./effectTest.ts"

const [ours, theirs] = [OrganizationId.make(1), OrganizationId.make(11)]
const number = "+15550100001"

test(t, "given a number that has opted out, then its organization remembers it until it is removed or an hour has passed", function* (t) {
  const recent = yield* Effect.provide(RecentOptOuts, RecentOptOuts.layer)
  const known = () => [ours, theirs].filter((id) => recent.has(id, number))
  t.strictSame(known(), [])
  recent.add(ours, [number])
  t.strictSame(known(), [ours])
  recent.remove(ours, number)
  t.strictSame(known(), [])
  recent.add(ours, [number])
  yield* TestClock.adjust("59 minutes")
  recent.add(theirs, [number])
  t.strictSame(known(), [ours, theirs])
  yield* TestClock.adjust("2 minutes")
  recent.add(theirs, ["+15550100002"])
  t.strictSame(known(), [theirs])
})
