/** The slow sweep: it finds campaigns without an owner, and does not mistake a campaign for one if its owner is back in a moment. */
import { type Duration, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import t from "tap"
import { Signals } from "#core/Signals.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CampaignInboxes } from "#runtime/campaign/CampaignInbox.ts"
import { layerSweep } from "#runtime/campaign/Recovery.ts"
import { campaignId, layerOf, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"

/** The campaigns that were asked to be run during `play`, and the errors logged. The row says that the campaign runs, with the epochs of `row`. */
const sweeping = (
  play: (inboxes: CampaignInboxes["Service"], row: { dialEpoch: number; ownerEpoch: number }) => Effect.Effect<unknown>
) => {
  const errors: Array<unknown> = []
  const listener = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") errors.push(message)
  })
  return run(
    Effect.gen(function* () {
      const row = { dialEpoch: 3, id: campaignId, ownerEpoch: 4, ready: true }
      const called: Array<string> = []
      const signals = Layer.succeed(Signals, {
        campaignChanged: () => Effect.void,
        campaignRunning: (id, occasion) => Effect.sync(() => void called.push(`${id}: ${occasion}`)),
        campaignStopped: () => Effect.void
      })
      // The cast holds because the sweep queries only the running campaigns.
      const rows = (() => Effect.sync(() => [{ ...row }])) as unknown as SqlClient.SqlClient
      const sweep = layerSweep.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, rows)), Layer.provide(signals))
      yield* Effect.gen(function* () {
        yield* play(yield* CampaignInboxes, row)
      }).pipe(Effect.provide(sweep.pipe(Layer.provideMerge(layerOf(new World())))))
      return { called, errors }
    }).pipe(Effect.provide(Logger.layer([listener])))
  )
}

const after = (time: Duration.Input, act: () => unknown) =>
  Effect.andThen(
    TestClock.adjust(time),
    Effect.sync(() => void act())
  )

t.test("given a campaign that runs and has no owner, when the sweep finds it, then an owner is requested", async (t) => {
  const { called } = await sweeping(() => TestClock.adjust("41 seconds"))
  t.strictSame(called, [`${campaignId}: 3.4`])
})

const owners: ReadonlyArray<readonly [string, Parameters<typeof sweeping>[0]]> = [
  [
    "whose owner waits for its database, when the owner is back a moment after the sweep",
    (inboxes) =>
      Effect.andThen(
        after("31 seconds", () => inboxes.of(campaignId).open(5)),
        TestClock.adjust("3 minutes")
      )
  ],
  [
    "whose owners come and go, when the sweep finds it between two",
    (_, row) =>
      Effect.andThen(
        after("31 seconds", () => (row.ownerEpoch = 5)),
        TestClock.adjust("10 seconds")
      )
  ]
]
for (const [campaign, happens] of owners)
  t.test(`given a campaign ${campaign}, then no other owner is requested`, async (t) => {
    t.strictSame((await sweeping(happens)).called, [])
  })

t.test("given a campaign whose owner waits for what should take a moment, when it takes minutes, then the log says so", async (t) => {
  const { errors } = await sweeping((inboxes, { ownerEpoch }) =>
    Effect.gen(function* () {
      const inbox = inboxes.of(campaignId)
      inbox.open(ownerEpoch)
      inbox.waitFor("speech", yield* SteadyTime.now)
      yield* TestClock.adjust("31 seconds")
      inbox.waitFor("a claim", yield* SteadyTime.now)
      yield* TestClock.adjust("31 seconds")
      inbox.waitFor("a claim", yield* SteadyTime.now)
      yield* TestClock.adjust("61 seconds")
      inbox.waitFor(undefined, yield* SteadyTime.now)
      yield* TestClock.adjust("2 minutes")
    })
  )
  t.strictSame(errors, [["a campaign dials nothing although contacts are due", { campaignId, seconds: 89, waitsFor: "a claim" }]])
})
