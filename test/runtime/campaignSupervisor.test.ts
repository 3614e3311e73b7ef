/** What becomes of a campaign whose actor dies. */
import { Effect, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import t from "tap"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { Signals } from "#core/Signals.ts"
import { CampaignActor } from "#runtime/campaign/CampaignActor.ts"
import * as CampaignSupervisor from "#runtime/campaign/CampaignSupervisor.ts"
import { Desks } from "#runtime/campaign/Desk.ts"
import { wait } from "#test/support/campaignScene.ts"
import { campaignId, ownershipOf, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"

/** The entity around an actor that does as it is told. */
const supervise = (life: (world: World, lives: number) => Effect.Effect<void>, act: Effect.Effect<unknown>) =>
  run(
    Effect.gen(function* () {
      const world = new World()
      const begun: Array<number> = []
      const actor = Layer.succeed(CampaignActor, {
        run: () =>
          Effect.flatMap(
            TestClock.testClockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe())),
            (at) => Effect.suspend(() => (world.state === "running" ? life(world, begun.push(at)) : Effect.void))
          )
      })
      const engine = CampaignSupervisor.layerSignals.pipe(
        Layer.provideMerge(CampaignSupervisor.layer),
        Layer.provideMerge(Layer.mergeAll(actor, Desks.layer, Layer.succeed(CampaignOwnership, ownershipOf(world)))),
        Layer.provideMerge(TestRunner.layer)
      )
      yield* Effect.gen(function* () {
        const signals = yield* Signals
        yield* Effect.forkChild(signals.campaignRunning(campaignId, "1"))
        yield* wait(0)
        yield* act
      }).pipe(Effect.provide(engine))
      const first = begun[0] ?? 0
      return { begun: begun.map((at) => at - first), entries: world.entries }
    })
  )

t.test("given a database that is away for minutes, then the owner waits for it, and the campaign is not paused", async (t) => {
  const gone = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("refused") }) })
  const { begun, entries } = await supervise((_, lives) => (lives < 100 ? Effect.die(gone) : Effect.never), wait("5 minutes"))
  t.equal(begun.length, 100, "then it begins as soon as the database is back")
  t.strictSame(entries, [])
})

t.test("given an owner that dies", async (t) => {
  t.test("once, then it begins anew after a second", async (t) => {
    const { begun, entries } = await supervise((_, lives) => (lives === 1 ? Effect.die("once") : Effect.never), wait("5 minutes"))
    t.strictSame(begun, [0, 1000])
    t.strictSame(entries, [])
  })
  t.test("five times within a minute, then the campaign is paused, and it does not begin again", async (t) => {
    const { begun, entries } = await supervise(() => Effect.die("always"), wait("5 minutes"))
    t.strictSame(begun, [0, 1000, 3000, 7000, 15_000])
    t.strictSame(entries, ["campaign_paused"])
  })
  t.test("now and afterwards, then it begins anew each time, without ever longer waits", async (t) => {
    const { begun, entries } = await supervise(() => Effect.andThen(Effect.sleep("40 seconds"), Effect.die("again")), wait("4 minutes"))
    t.strictSame(begun, [0, 41_000, 83_000, 125_000, 167_000, 209_000])
    t.strictSame(entries, [])
  })
})
