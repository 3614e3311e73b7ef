/** What happens to a campaign whose actor dies. */
import { Cause, Effect, Exit, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import t from "tap"
import { FaultPauses } from "#core/campaign/FaultPause.ts"
import { Signals } from "#core/Signals.ts"
import { CampaignActor } from "#runtime/campaign/CampaignActor.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import * as CampaignSupervisor from "#runtime/campaign/CampaignSupervisor.ts"
import { Promises } from "#runtime/journal/Promises.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { CampaignInboxes } from "#runtime/campaign/CampaignInbox.ts"
import { wait } from "#test/support/campaignScene.ts"
import { faultPausesOf } from "#test/support/fakeStatements.ts"
import { campaignId, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"

/** The entity around an actor that does what the test says. */
const supervise = (
  life: (world: World, lives: number) => Effect.Effect<void>,
  act: (world: World) => Effect.Effect<unknown, never, Signals>,
  arrange: (world: World) => void = () => {},
  inboxes = CampaignInboxes.layer
) =>
  run(function* () {
    const world = new World()
    arrange(world)
    const begun: Array<number> = []
    const actor = Layer.succeed(CampaignActor, {
      run: () =>
        Effect.flatMap(
          TestClock.testClockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe())),
          (at) => Effect.suspend(() => (world.state === "running" ? life(world, begun.push(at)) : Effect.void))
        )
    })
    const engine = CampaignSupervisor.layerSignals.pipe(
      Layer.provide([CallNodes.layerNone, Promises.layerNone]),
      Layer.provideMerge(CampaignSupervisor.layer.pipe(Layer.provide(EngineLock.layerHeld))),
      Layer.provideMerge(Layer.mergeAll(actor, inboxes, Layer.succeed(FaultPauses, faultPausesOf(world)))),
      Layer.provideMerge(TestRunner.layer)
    )
    yield* Effect.gen(function* () {
      const signals = yield* Signals
      yield* Effect.forkChild(signals.campaignRunning(campaignId, "1"))
      yield* wait(0)
      yield* act(world)
    }).pipe(Effect.provide(engine))
    const first = begun[0] ?? 0
    return { begun: begun.map((at) => at - first), entries: world.entries, first, state: world.state }
  })

const minutes = (count: number) => () => Effect.repeat(wait("1 minute"), { times: count - 1 })
const dies = (after: "30 seconds" | "40 seconds" | "5 minutes" | 0) => Effect.andThen(Effect.sleep(after), Effect.die("broken"))

t.test("given an owner that dies", async (t) => {
  const gone = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("refused") }) })
  const away = await supervise((_, lives) => (lives < 100 ? Effect.die(gone) : Effect.never), minutes(5))
  t.strictSame(
    [away.begun.length, away.entries],
    [100, []],
    "of a database that is away for minutes, then it starts as soon as that is back"
  )
  const once = await supervise((_, lives) => (lives === 1 ? Effect.die("once") : Effect.never), minutes(5))
  t.strictSame([once.begun, once.entries], [[0, 1000], []], "once, then it starts again after a second")
  const { begun, entries } = await supervise(() => dies("40 seconds"), minutes(4))
  const each = [0, 41_000, 83_000, 125_000, 167_000, 209_000]
  t.strictSame([begun, entries], [each, []], "from time to time, then it starts again each time, without ever longer waits")
})

/** When an owner starts that dies each time, until the fifth death pauses its campaign. The last look is 16 s later. */
const deaths = [0, 1000, 3000, 7000, 15_000]
const paused = 31_000
const minute = 60_000
const diesFor = (lives: number) => (_: World, life: number) => (life <= lives ? Effect.die("broken") : Effect.never)

t.test("given an owner that dies five times within a minute, then the campaign is paused", async (t) => {
  t.test("and it is tried again, ever later, without another entry in its log", async (t) => {
    const { begun, entries, state } = await supervise(diesFor(100), minutes(45))
    const tries = [1, 3, 8, 18, 28, 38].map((at, index) => paused + at * minute + index * 1000)
    t.strictSame(begun, [...deaths, ...tries])
    t.strictSame([entries, state], [["campaign_paused"], "paused"])
  })
  t.test("when the cause is gone, then it runs again, and the log says so once", async (t) => {
    const { begun, entries, state } = await supervise(diesFor(6), minutes(60))
    t.strictSame(begun.slice(5), [paused + minute, paused + 3 * minute + 1000])
    t.strictSame([entries, state], [["campaign_paused", "campaign_resumed"], "running"])
  })
  t.test("when it fails half a minute into each try, then no try counts", async (t) => {
    const { entries, state } = await supervise((_, life) => dies(life <= 5 ? 0 : "30 seconds"), minutes(30))
    t.strictSame([entries, state], [["campaign_paused"], "paused"])
  })
  t.test("when it dies as often again much later, then it is paused again, and tried after a minute", async (t) => {
    const { begun, entries } = await supervise((world, life) => (life === 6 ? dies("5 minutes") : diesFor(10)(world, life)), minutes(12))
    t.strictSame(entries, ["campaign_paused", "campaign_resumed", "campaign_paused", "campaign_resumed"])
    const again = paused + 6 * minute
    t.strictSame(begun.slice(6), [...[1, 3, 7, 15].map((seconds) => again + seconds * 1000), again + paused + minute])
  })
  t.test("when the engine is restarted, then it waits before the next try as long as without a restart", async (t) => {
    const { entries, first } = await supervise(diesFor(0), minutes(5), (world) => {
      world.pauseRow()
      world.resumeTries = 1
    })
    t.strictSame([first, entries], [2 * minute, ["campaign_resumed"]])
  })
})

/** What a request to stop comes to if the owner needs `owner` to answer it. */
const stopping = async (owner: Effect.Effect<void>) => {
  let asked = 0
  const inboxes = Layer.effect(
    CampaignInboxes,
    Effect.map(CampaignInboxes, (own) => ({
      ...own,
      // The node that sends the request withdraws its own permits first.
      withdraw: (id) => Effect.andThen(own.withdraw(id), asked++ === 0 ? Effect.void : owner)
    }))
  ).pipe(Layer.provide(CampaignInboxes.layer))
  let told = ""
  const stop = Effect.gen(function* () {
    const signals = yield* Signals
    const { [0]: exit } = yield* Effect.all([Effect.exit(signals.campaignStopped(campaignId)), wait("6 seconds")], { concurrency: 2 })
    told = Exit.isSuccess(exit) ? "confirmed" : String(Cause.squash(exit.cause))
  })
  await supervise(diesFor(0), () => stop, undefined, inboxes)
  return told
}

t.test("given a campaign that must stop, when its owner does not answer in time, then that is not confirmed", async (t) => {
  t.equal(await stopping(Effect.void), "confirmed")
  t.match(await stopping(Effect.never), /StopUnconfirmed/)
})
