/** A campaign on a test clock: its owner, surrounded by fakes of our own ports. */
import { Deferred, type Duration, Effect, Fiber, type Layer } from "effect"
import { TestClock } from "effect/testing"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { CampaignActor } from "#runtime/campaign/CampaignActor.ts"
import { CampaignInboxes } from "#runtime/campaign/CampaignInbox.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { campaignId, layerOf, World } from "./fakes.ts"
import { run } from "./run.ts"

/** Lets messages pass through all fibers involved. */
export const settled = Effect.repeat(TestClock.adjust(0), { times: 30 })
export const wait = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled)
export const steps = (...all: ReadonlyArray<Effect.Effect<unknown>>) => Effect.all(all, { discard: true })
export const afterwards = (act: () => unknown) => Effect.andThen(Effect.sync(act), settled)

/** A campaign whose owner has just started, and a node around it. */
export interface Scene {
  readonly world: World
  readonly slots: Slots["Service"]
  readonly media: MediaRoom["Service"]
  readonly inboxes: CampaignInboxes["Service"]
  readonly owner: Fiber.Fiber<void>
  /** Starts another owner, as after a resume. */
  readonly own: Effect.Effect<Fiber.Fiber<void>>
  /** Ends the call that was dialed as number `index`. */
  readonly ends: (index: number, cause?: "no_answer" | "normal_clearing" | "user_busy") => Effect.Effect<unknown>
  readonly answers: (index: number) => Effect.Effect<unknown>
  readonly trunkIs: (status: TrunkStatus) => Effect.Effect<unknown>
}

export const play = (
  arrange: (world: World) => unknown,
  act: (scene: Scene) => Effect.Effect<unknown>,
  voice: Layer.Layer<VoiceAgent> = VoiceAgent.layerNone,
  media: typeof MediaRoom.layer = MediaRoom.layer,
  environment: Readonly<Record<string, string>> = {}
) =>
  run(function* () {
    const world = new World()
    arrange(world)
    const played = yield* Deferred.make<void>()
    const says = (index: number, event: Parameters<NonNullable<World["provider"]["onEvent"]>>[1]) =>
      afterwards(() => world.provider.onEvent?.(world.dials[index]?.callId ?? "", event))
    const engine = yield* Effect.gen(function* () {
      const actor = yield* CampaignActor
      const own = Effect.forkChild(actor.run(campaignId))
      const scene: Scene = {
        answers: (index) => says(index, { _tag: "Answered" }),
        inboxes: yield* CampaignInboxes,
        media: yield* MediaRoom,
        ends: (index, cause = "no_answer") => says(index, { _tag: "HungUp", cause }),
        own,
        owner: yield* own,
        slots: yield* Slots,
        trunkIs: (status) => afterwards(() => world.provider.onStatus?.(status)),
        world
      }
      yield* settled
      yield* act(scene)
      yield* Deferred.succeed(played, undefined)
    }).pipe(Effect.provide(layerOf(world, { DRAIN: "0", ...environment }, voice, media)), Effect.forkChild)
    yield* Effect.race(Deferred.await(played), Fiber.join(engine))
    const { dials, entries, state, statements } = world
    const seen = {
      contacts: structuredClone(world.contacts),
      dials: [...dials],
      entries: [...entries],
      details: [...world.details],
      messages: [...world.messages],
      state,
      statements: [...statements]
    }
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(engine)
    return { ...seen, at: seen.dials.map(({ at }) => Math.round(at)), to: seen.dials.map(({ to }) => to) }
  })
export const campaign =
  (contacts: number, plan: Partial<World["plan"]> = {}) =>
  (world: World) => {
    world.withContacts(contacts)
    world.change(plan)
  }
export const count = (statements: ReadonlyArray<string>, statement: string) => statements.filter((each) => each === statement).length
export const idle: (scene: Scene) => Effect.Effect<unknown> = () => Effect.void
export const fast = { rateLimit: 1000 }
