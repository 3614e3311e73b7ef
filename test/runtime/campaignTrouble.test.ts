/** The owner of a campaign when it has to stop: trunks that fail, refusals, pauses, later owners, its own death. */
import { Effect, Fiber, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { TestClock } from "effect/testing"
import t from "tap"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { Signals } from "#core/Signals.ts"
import { CampaignActor } from "#runtime/campaign/CampaignActor.ts"
import * as CampaignSupervisor from "#runtime/campaign/CampaignSupervisor.ts"
import { Desks } from "#runtime/campaign/Desk.ts"
import { campaignId, ownershipOf, refusal, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"
import { settled, wait, steps, afterwards, type Scene, play, campaign, idle, fast } from "#test/support/campaignScene.ts"

const down = (reason: "auth" | "unreachable" | "replaced"): TrunkStatus => ({ _tag: "Down", detail: "gone", reason })

t.test("given a trunk that goes down", async (t) => {
  const check = async (
    name: string,
    act: (scene: Scene) => Effect.Effect<unknown>,
    expected: ReadonlyArray<string>,
    dialed: ReadonlyArray<number>
  ) => {
    const { at, contacts, entries } = await play(campaign(2, { ...fast, maxConcurrency: 1 }), (scene) =>
      steps(wait("1 second"), act(scene))
    )
    t.strictSame(entries, expected, name)
    t.strictSame(at, dialed, name)
    t.match(contacts[1], { retriesUsed: 0 }, name)
  }
  await check(
    "for long, then the campaign stops",
    ({ ends, trunkIs }) => steps(trunkIs(down("unreachable")), ends(0), wait("136 seconds")),
    ["telephony_unreachable"],
    [0]
  )
  await check(
    "not quite so long, then it goes on",
    ({ ends, trunkIs }) => steps(trunkIs(down("unreachable")), ends(0), wait("130 seconds"), trunkIs({ _tag: "Up" }), wait("1 minute")),
    [],
    [0, 131_000]
  )
  await check(
    "twice, then only the second time counts",
    ({ ends, trunkIs }) =>
      steps(
        trunkIs(down("unreachable")),
        wait("100 seconds"),
        trunkIs({ _tag: "Up" }),
        trunkIs(down("unreachable")),
        ends(0),
        wait("100 seconds")
      ),
    [],
    [0]
  )
  await check(
    "for its credentials, then the campaign stops at once",
    ({ trunkIs }) => trunkIs(down("auth")),
    ["telephony_auth_failed"],
    [0]
  )
  await check(
    "for another client, then the campaign stops at once",
    ({ trunkIs }) => trunkIs(down("replaced")),
    ["telephony_unreachable"],
    [0]
  )
})

t.test("given a provider that refuses", async (t) => {
  const refusing = (reason: Parameters<typeof refusal>[0], retryAfterMillis?: number) => (world: World) => {
    campaign(3)(world)
    world.originate = refusal(reason, retryAfterMillis)
  }
  t.test("to begin, then it is tried six times, ever later, then the campaign stops, and no contact has lost a try", async (t) => {
    const { at, contacts, entries } = await play(refusing("unreachable"), () => wait("10 minutes"))
    t.strictSame(at, [0, 5000, 15_000, 35_000, 75_000, 135_000])
    t.strictSame(entries, ["telephony_unreachable"])
    t.ok(contacts.every(({ retriesUsed, state }) => state === "pending" && retriesUsed === 0))
  })
  t.test("and is resumed afterwards, then it is tried again", async (t) => {
    const { at, entries } = await play(refusing("unreachable"), ({ own, world }) =>
      steps(
        wait("10 minutes"),
        afterwards(() => {
          world.resumeRow()
          world.originate = Effect.void
        }),
        own,
        wait("10 seconds")
      )
    )
    t.strictSame(entries, ["telephony_unreachable"])
    t.equal(at.length, 9)
  })
  t.test("for its rate, then it gets its rest, and that is logged once a minute", async (t) => {
    const { at, entries } = await play(refusing("rate_limited", 8000), () => wait("50 seconds"))
    t.strictSame(at, [0, 8000, 16_000, 24_000, 32_000, 40_000, 48_000])
    t.strictSame(entries, ["provider_rate_limited"])
  })
  t.test("for good, then the campaign stops at the first call", async (t) => {
    const check = async (reason: Parameters<typeof refusal>[0], event: string) => {
      const { at, contacts, entries } = await play(refusing(reason), () => wait("1 minute"))
      t.strictSame(entries, [event])
      t.equal(at.length, 1)
      t.match(contacts, [{ state: "pending" }, { state: "pending" }, { state: "pending" }])
    }
    await check("auth_refused", "telephony_auth_failed")
    await check("no_credit", "quota_exhausted")
    await check("misconfigured", "telephony_configuration_unavailable")
  })
  t.test("while other calls were claimed, then they do not leave either", async (t) => {
    const { at } = await play(
      (world) => {
        campaign(8, { ...fast, organizationShare: 8 })(world)
        world.originate = Effect.andThen(Effect.sleep(50), refusal("rate_limited", 60_000))
        world.claiming = Effect.sleep(100)
      },
      () => wait("30 seconds")
    )
    t.ok(at.length <= 4, `${at}`)
  })
})

t.test("given no configuration, then the campaign stops", async (t) => {
  const { entries } = await play(campaign(1, { telephonyConfigurationId: null }), idle)
  t.strictSame(entries, ["telephony_configuration_unavailable"])
})

t.test("given a pause", async (t) => {
  const pause = ({ desks, world }: Scene) =>
    steps(
      afterwards(() => world.pauseRow()),
      desks.withdraw(campaignId)
    )
  /** Pauses, and sees how long that took. */
  const paused = (arrange: (world: World) => unknown) =>
    play(arrange, (scene) =>
      Effect.gen(function* () {
        const pausing = yield* Effect.forkChild(pause(scene))
        for (let i = 0; i < 300 && pausing.pollUnsafe() === undefined; i++) yield* TestClock.adjust(10)
        const dialed = scene.world.dials.length
        yield* wait("1 minute")
        scene.world.entries.push(`${scene.world.dials.length - dialed} dialed after the pause`)
      })
    )
  for (const rateLimit of [1000, 50]) {
    t.test(`while attempts are being marked at ${rateLimit} a second, then nothing is dialed after it`, async (t) => {
      const { contacts, dials, entries } = await paused((world) => {
        campaign(5, { ...fast, rateLimit })(world)
        world.marking = Effect.sleep("1 second")
      })
      t.strictSame(entries, ["0 dialed after the pause"])
      t.strictSame(dials, [])
      t.ok(contacts.every(({ state }) => state === "pending"))
    })
  }
  t.test("and a resume while contacts are being claimed, then the contact is claimed anew", async (t) => {
    const { dials } = await play(
      (world) => {
        campaign(1, fast)(world)
        world.marking = Effect.sleep("1 second")
      },
      (scene) =>
        steps(
          wait(100),
          pause(scene),
          afterwards(() => scene.world.resumeRow()),
          afterwards(() => scene.desks.find(campaignId)?.look()),
          wait("5 seconds")
        )
    )
    // Not at one second, when the claim of the former permit came back.
    t.strictSame(
      dials.map(({ at }) => at >= 2000),
      [true]
    )
  })
  t.test("while the provider takes its time, then it waits no longer than a permit is good for", async (t) => {
    const { contacts, dials, entries } = await paused((world) => {
      campaign(50, { ...fast, organizationShare: 50 })(world)
      world.originate = Effect.sleep("10 seconds")
    })
    t.strictSame(entries, ["0 dialed after the pause"])
    t.equal(dials.length + contacts.filter(({ state }) => state === "pending").length, 50)
  })
  t.test("while contacts are being claimed, then nothing is dialed, and the owner is done", async (t) => {
    const { contacts, dials } = await play(
      (world) => {
        campaign(5, fast)(world)
        world.claiming = Effect.sleep(500)
      },
      (scene) => steps(wait(400), pause(scene), wait("1 minute"), Fiber.join(scene.owner))
    )
    t.strictSame(dials, [])
    t.ok(contacts.every(({ state }) => state === "pending"))
  })
  t.test("and a resume while a call goes on, when it ends busy, then the new owner dials its retry on time", async (t) => {
    const { at } = await play(campaign(1), (scene) =>
      steps(
        wait("1 second"),
        pause(scene),
        settled,
        afterwards(() => scene.world.resumeRow()),
        scene.own,
        wait("9 seconds"),
        scene.ends(0, "user_busy"),
        wait("3 minutes")
      )
    )
    t.strictSame(at, [0, 130_000])
  })
  t.test("and a resume that the owner did not hear of, then it goes on under the new permits", async (t) => {
    const { to } = await play(campaign(2, { ...fast, maxConcurrency: 1 }), ({ ends, world }) =>
      steps(
        afterwards(() => {
          world.pauseRow()
          world.resumeRow()
        }),
        ends(0),
        wait("1 second")
      )
    )
    t.strictSame(to, ["+15551", "+15552"])
  })
})

t.test("given the row changes, when the owner hears of it, then it dials by the new settings", async (t) => {
  const { to } = await play(campaign(5, { ...fast, maxConcurrency: 1 }), ({ desks, world }) =>
    steps(
      wait("1 second"),
      afterwards(() => {
        world.change({ maxConcurrency: 3, settingsVersion: 2 })
        desks.find(campaignId)?.look()
      }),
      wait("1 second")
    )
  )
  t.strictSame(to, ["+15551", "+15552", "+15553"])
})

t.test("given a later owner, then the one before is done, and dials no more", async (t) => {
  const { to } = await play(campaign(3, { ...fast, maxConcurrency: 1 }), ({ ends, own, owner }) =>
    steps(wait("1 second"), own, settled, ends(0), Fiber.join(owner), wait("1 second"))
  )
  t.strictSame(to, ["+15551", "+15552"])
})

t.test("given an owner that ends half-way, then no slot is lost and no contact is left behind", async (t) => {
  const check = async (name: string, arrange: (world: World) => unknown, act: (scene: Scene) => Effect.Effect<unknown>) => {
    const { contacts, entries } = await play(
      (world) => {
        campaign(3, { ...fast, organizationShare: 3 })(world)
        arrange(world)
      },
      (scene) =>
        steps(
          act(scene),
          settled,
          afterwards(() => scene.world.entries.push(`${scene.slots.used("organization:1")} slots`))
        )
    )
    t.strictSame(entries, ["0 slots"], name)
    t.ok(
      contacts.every(({ state }) => state === "pending"),
      name
    )
  }
  await check(
    "stopped during the claim",
    (world) => {
      world.claiming = Effect.sleep("1 second")
    },
    ({ owner }) => steps(wait(500), Fiber.interrupt(owner))
  )
  await check(
    "a failing claim",
    (world) => {
      world.claiming = Effect.die("no connection")
    },
    idle
  )
  await check(
    "no call can be made of a claim",
    (world) => {
      world.finding = Effect.die("no connection")
    },
    idle
  )
})

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
