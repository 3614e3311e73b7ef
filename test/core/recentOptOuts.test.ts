/** How long the engine remembers a number that has opted out, for calls that were claimed before. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { OrganizationId } from "#core/Id.ts"
import { run } from "#test/support/run.ts"

const [ours, theirs] = [OrganizationId.make(1), OrganizationId.make(11)]
const number = "+15550100001"

t.test("given a number that has opted out, then its organization remembers it until it is removed or an hour has passed", async (t) => {
  const seen = await run(
    Effect.gen(function* () {
      const recent = yield* RecentOptOuts
      const seen: Array<boolean> = [recent.has(ours, number)]
      const look = () => seen.push(recent.has(ours, number))
      recent.add(ours, [number])
      look()
      seen.push(recent.has(theirs, number))
      recent.remove(ours, number)
      look()
      recent.add(ours, [number])
      yield* TestClock.adjust("59 minutes")
      recent.add(theirs, [number])
      look()
      yield* TestClock.adjust("2 minutes")
      recent.add(theirs, ["+15550100002"])
      look()
      seen.push(recent.has(theirs, number))
      return seen
    }).pipe(Effect.provide(RecentOptOuts.layer))
  )
  t.strictSame(seen, [false, true, false, false, true, false, true])
})
