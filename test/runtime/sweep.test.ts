/** The slow sweep: it finds campaigns without an owner, and takes none for one that has its owner in a moment. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import t from "tap"
import { Signals } from "#core/Signals.ts"
import { Desks } from "#runtime/campaign/Desk.ts"
import { layerSweep } from "#runtime/Recovery.ts"
import { campaignId, layerOf, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"

/** What campaigns were called to be run during `play`. The row says that the campaign runs, and has the epochs of `row`. */
const sweeping = (play: (desks: Desks["Service"], row: { dialEpoch: number; ownerEpoch: number }) => Effect.Effect<unknown>) =>
  run(
    Effect.gen(function* () {
      const row = { dialEpoch: 3, id: campaignId, ownerEpoch: 4, ready: true }
      const called: Array<string> = []
      const signals = Layer.succeed(Signals, {
        campaignChanged: () => Effect.void,
        campaignRunning: (id, occasion) => Effect.sync(() => void called.push(`${id}: ${occasion}`)),
        campaignStopped: () => Effect.void
      })
      // The sweep asks for the campaigns that run, and for nothing else.
      const rows = (() => Effect.sync(() => [{ ...row }])) as unknown as SqlClient.SqlClient
      const sweep = layerSweep.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, rows)), Layer.provide(signals))
      yield* Effect.gen(function* () {
        yield* play(yield* Desks, row)
      }).pipe(Effect.provide(sweep.pipe(Layer.provideMerge(layerOf(new World())))))
      return called
    })
  )

t.test("given a campaign that runs and has no owner, when the sweep comes upon it, then somebody is called to run it", async (t) => {
  const called = await sweeping(() => TestClock.adjust("41 seconds"))
  t.strictSame(called, [`${campaignId}: 3.4`])
})

t.test(
  "given a campaign whose owner waits for its database, when the owner is back a moment after the sweep, then nobody else is called",
  async (t) => {
    const called = await sweeping((desks) =>
      Effect.andThen(
        TestClock.adjust("31 seconds"),
        Effect.andThen(
          Effect.sync(() => desks.of(campaignId).open(5)),
          TestClock.adjust("3 minutes")
        )
      )
    )
    t.strictSame(called, [])
  }
)

t.test("given a campaign whose owners come and go, when the sweep finds it between two of them, then nobody else is called", async (t) => {
  const called = await sweeping((_, row) =>
    Effect.andThen(
      TestClock.adjust("31 seconds"),
      Effect.andThen(
        Effect.sync(() => (row.ownerEpoch = 5)),
        TestClock.adjust("10 seconds")
      )
    )
  )
  t.strictSame(called, [])
})
