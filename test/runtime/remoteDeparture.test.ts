/** The right of a call node's call to leave, which its dispatcher gives. */
import { Clock, Effect } from "effect"
import { setImmediate } from "node:timers/promises"
import t from "tap"
import { RemoteDeparture } from "#runtime/nodes/RemoteDeparture.ts"
import { run } from "#test/support/run.ts"

t.test(
  "given a request that did not leave after all, when it asks again, then the dispatcher is told that it has left once it has",
  async (t) => {
    const log: Array<string> = []
    await run(
      Effect.gen(function* () {
        const departure: RemoteDeparture = new RemoteDeparture({
          ask: () => {
            log.push("ask")
            departure.answered("go")
          },
          clock: yield* Clock.Clock,
          left: () => log.push("left"),
          renewed: Effect.void
        })
        const granted = departure.granted(Number.POSITIVE_INFINITY)
        t.equal(yield* granted, true)
        t.equal(departure.leave(), true)
        departure.renew()
        yield* Effect.promise(() => setImmediate())
        t.strictSame(log, ["ask"], "it has not left")
        t.equal(departure.holds(), true)
        t.equal(yield* granted, true)
        t.equal(departure.leave(), true)
        yield* Effect.promise(() => setImmediate())
        departure.giveBack()
        t.equal(departure.holds(), true, "what has left is not given back")
      })
    )
    t.strictSame(log, ["ask", "ask", "left"])
  }
)
