/** A running campaign whose organization's limit is changed. */
import { Effect, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import t from "tap"
import { FaultPauses } from "#core/campaign/FaultPause.ts"
import { Signals } from "#core/Signals.ts"
import { CampaignActor } from "#runtime/campaign/CampaignActor.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import * as CampaignSupervisor from "#runtime/campaign/CampaignSupervisor.ts"
import { Promises } from "#runtime/journal/Promises.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { CampaignInboxes } from "#runtime/campaign/CampaignInbox.ts"
import { faultPausesOf } from "#test/support/fakeStatements.ts"
import { campaignId, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"
import { afterwards, campaign, fast, play, type Scene, steps, wait } from "#test/support/campaignScene.ts"

const limited = ({ inboxes, world }: Scene, organizationShare: number) =>
  afterwards(() => {
    world.change({ organizationShare })
    inboxes.find(campaignId)?.look()
  })

t.test("given a campaign that waits for slots", async (t) => {
  t.test("when the limit is raised, then it dials more at once", async (t) => {
    const { at, to } = await play(campaign(10, { ...fast, organizationShare: 2 }), (scene) =>
      steps(wait("10 seconds"), limited(scene, 4), wait("10 seconds"))
    )
    t.strictSame(to, ["+15551", "+15552", "+15553", "+15554"])
    t.ok(at.slice(2).every((millis) => millis >= 10_000 && millis < 10_100))
  })
  t.test("when it is lowered, then calls continue, and the next is dialed once there are fewer than the limit", async (t) => {
    const { to } = await play(campaign(10, { ...fast, organizationShare: 3 }), (scene) =>
      steps(wait("10 seconds"), limited(scene, 2), scene.ends(0), wait("1 second"), scene.ends(1), wait("1 second"))
    )
    t.strictSame(to, ["+15551", "+15552", "+15553", "+15554"])
  })
})

t.test("given a campaign that a node owns, when a signal says that something has changed, then its owner looks", async (t) => {
  const looks: Array<boolean> = []
  const actor = Layer.effect(
    CampaignActor,
    Effect.map(CampaignInboxes, (inboxes) => ({
      run: Effect.fnUntraced(function* (id) {
        const inbox = inboxes.of(id)
        inbox.open(1)
        yield* inbox.news.close
        yield* inbox.news.await
        looks.push(inbox.rowChanged && inbox.isOpen)
      })
    }))
  )
  const engine = CampaignSupervisor.layerSignals.pipe(
    Layer.provide([CallNodes.layerNone, Promises.layerNone]),
    Layer.provideMerge(CampaignSupervisor.layer.pipe(Layer.provide(EngineLock.layerHeld))),
    Layer.provideMerge(Layer.mergeAll(actor, Layer.succeed(FaultPauses, faultPausesOf(new World())))),
    Layer.provideMerge(Layer.merge(CampaignInboxes.layer, TestRunner.layer))
  )
  const signalled = Effect.gen(function* () {
    const signals = yield* Signals
    yield* Effect.forkChild(signals.campaignRunning(campaignId, "1"))
    yield* wait(0)
    yield* signals.campaignChanged(campaignId)
    yield* wait(0)
  })
  await run(Effect.provide(signalled, engine))
  t.strictSame(looks, [true])
})
