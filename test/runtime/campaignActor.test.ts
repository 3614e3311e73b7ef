/** One campaign and its calls on a virtual clock: when it dials, when it waits, and when it stops. */
import { Deferred, type Duration, Effect, Fiber, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { TestClock } from "effect/testing"
import t from "tap"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import type { ScheduleConfig } from "#core/campaign/Schedule.ts"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { Signals } from "#core/Signals.ts"
import { CampaignActor } from "#runtime/campaign/CampaignActor.ts"
import * as CampaignSupervisor from "#runtime/campaign/CampaignSupervisor.ts"
import { Desks } from "#runtime/campaign/Desk.ts"
import { Slots } from "#runtime/Slots.ts"
import { campaignId, layerOf, ownershipOf, refusal, World } from "#test/support/fakes.ts"
import { run } from "#test/support/run.ts"

/** A word goes through several fibers until it is a deed. */
const settled = Effect.repeat(TestClock.adjust(0), { times: 30 })
const wait = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled)
/** One after the other. */
const steps = (...all: ReadonlyArray<Effect.Effect<unknown>>) => Effect.all(all, { discard: true })
const then = (act: () => unknown) => Effect.andThen(Effect.sync(act), settled)

/** A campaign whose owner has just begun, and a node around it. */
interface Scene {
  readonly world: World
  readonly slots: Slots["Service"]
  readonly desks: Desks["Service"]
  readonly owner: Fiber.Fiber<void>
  /** One more owner, as after a resume. */
  readonly own: Effect.Effect<Fiber.Fiber<void>>
  /** Ends the call that was dialed as number `index`. */
  readonly ends: (index: number, cause?: "normal_clearing" | "user_busy") => Effect.Effect<unknown>
  readonly answers: (index: number) => Effect.Effect<unknown>
  readonly trunkIs: (status: TrunkStatus) => Effect.Effect<unknown>
}

const play = (arrange: (world: World) => unknown, act: (scene: Scene) => Effect.Effect<unknown>) =>
  run(
    Effect.gen(function* () {
      const world = new World()
      arrange(world)
      const played = yield* Deferred.make<void>()
      const says = (index: number, event: Parameters<NonNullable<World["provider"]["onEvent"]>>[1]) =>
        then(() => world.provider.onEvent?.(world.dials[index]?.callId ?? "", event))
      const engine = yield* Effect.gen(function* () {
        const actor = yield* CampaignActor
        const own = Effect.forkChild(actor.run(campaignId))
        const scene: Scene = {
          answers: (index) => says(index, { _tag: "Answered" }),
          desks: yield* Desks,
          ends: (index, cause = "normal_clearing") => says(index, { _tag: "HungUp", cause }),
          own,
          owner: yield* own,
          slots: yield* Slots,
          trunkIs: (status) => then(() => world.provider.onStatus?.(status)),
          world
        }
        yield* settled
        yield* act(scene)
        yield* Deferred.succeed(played, undefined)
      }).pipe(Effect.provide(layerOf(world, { DRAIN: "0" })), Effect.forkChild)
      yield* Effect.race(Deferred.await(played), Fiber.join(engine))
      const { dials, entries, state, statements } = world
      const seen = {
        contacts: structuredClone(world.contacts),
        dials: [...dials],
        entries: [...entries],
        state,
        statements: [...statements]
      }
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(engine)
      return { ...seen, at: seen.dials.map(({ at }) => Math.round(at)), to: seen.dials.map(({ to }) => to) }
    })
  )
const campaign =
  (contacts: number, plan: Partial<World["plan"]> = {}) =>
  (world: World) => {
    world.withContacts(contacts)
    world.change(plan)
  }
const count = (statements: ReadonlyArray<string>, statement: string) => statements.filter((each) => each === statement).length
const idle: (scene: Scene) => Effect.Effect<unknown> = () => Effect.void
const fast = { rateLimit: 1000 }

t.test("given more contacts than slots", async (t) => {
  t.test(
    "then no more are claimed than there are slots, in the order of the file, and nobody is asked again until one is free",
    async (t) => {
      const { at, contacts, statements, to } = await play(campaign(10, { ...fast, organizationShare: 3 }), () => wait("30 seconds"))
      t.strictSame(to, ["+15551", "+15552", "+15553"])
      t.ok(Math.max(...at) <= 60)
      t.equal(contacts.filter(({ state }) => state === "pending").length, 7)
      t.ok(count(statements, "claim") <= 3)
    }
  )
  t.test("when a slot is free, then the next contact is dialed at once", async (t) => {
    const { at, to } = await play(campaign(10, { ...fast, organizationShare: 2 }), ({ ends }) =>
      steps(wait("10 seconds"), ends(0), ends(1), wait(50))
    )
    t.strictSame(to.slice(2), ["+15553", "+15554"])
    // As close together as the trunk's rate allows.
    t.strictSame(at.slice(2), [10_000, 10_020])
  })
  t.test("when the campaign's own limit is lower, then that one holds", async (t) => {
    const { to } = await play(campaign(10, { ...fast, maxConcurrency: 1 }), ({ ends }) =>
      steps(wait("1 second"), ends(0), wait("1 second"), ends(1), wait("1 second"))
    )
    t.strictSame(to, ["+15551", "+15552", "+15553"])
  })
})

t.test("given other calls that use all the slots, then that is logged once in ten minutes, and no contact suffers", async (t) => {
  const { contacts, dials, entries, statements } = await play(campaign(2, { organizationShare: 0 }), () => wait("9 minutes"))
  t.strictSame(entries, ["waiting_for_capacity"])
  t.strictSame(dials, [])
  t.equal(count(statements, "claim"), 0)
  t.match(contacts, [{ state: "pending" }, { state: "pending" }])
})

t.test("given a rate", async (t) => {
  t.test("then the calls leave at its pace, and contacts are claimed one by one", async (t) => {
    const { at } = await play(campaign(5, { rateLimit: 2 }), () => wait("5 seconds"))
    t.strictSame(at, [0, 510, 1020, 1530, 2040])
  })
  t.test("of the trunk that is lower, then that one holds", async (t) => {
    const { at } = await play(campaign(20, { ...fast, organizationShare: 100 }), () => wait("5 seconds"))
    t.equal(at.length, 20)
    t.ok(
      at.every((moment, i) => Math.abs(moment - i * 20.4) <= 1),
      `${at}`
    )
  })
  t.test("and a database that is slow for a while, then no second holds more calls than the rate", async (t) => {
    const { at } = await play(
      (world) => {
        campaign(12, { organizationShare: 100, rateLimit: 4 })(world)
        world.marking = Effect.sleep(700)
      },
      ({ world }) =>
        steps(
          wait("2 seconds"),
          then(() => {
            world.marking = Effect.void
          }),
          wait("8 seconds")
        )
    )
    t.equal(at.length, 12)
    t.ok(
      at.every((moment) => at.filter((other) => other >= moment && other < moment + 1000).length <= 4),
      `${at}`
    )
  })
})

/** Open on Thursdays, the day on which the clock begins, until one minute past midnight, and again from two minutes past. */
const schedule: ScheduleConfig = {
  enabled: true,
  slots: [
    { dayOfWeek: 3, endTime: "00:01", startTime: "00:00" },
    { dayOfWeek: 3, endTime: "00:03", startTime: "00:02" }
  ],
  timezone: "UTC"
}

t.test("given a calling window", async (t) => {
  t.test("that closes and opens, then each edge is logged once, and the first call leaves as it opens", async (t) => {
    const { at, entries, statements } = await play(campaign(200, { ...fast, organizationShare: 1, schedule }), ({ ends }) =>
      steps(
        wait("59 seconds"),
        ends(0),
        wait("2 seconds"),
        ends(1),
        wait("30 seconds"),
        wait("29 seconds"),
        wait("40 seconds"),
        ends(2),
        wait("50 seconds")
      )
    )
    t.strictSame(at, [0, 59_000, 120_000, 160_000])
    t.strictSame(entries, ["schedule_window_closed", "schedule_window_opened", "schedule_window_closed"])
    t.equal(count(statements, "claim"), 4)
  })
  t.test("that closes after the claim, then nothing is dialed, and the contact is as it was", async (t) => {
    const { contacts, dials } = await play(
      (world) => {
        campaign(1, { ...fast, schedule })(world)
        world.claiming = Effect.sleep("61 seconds")
      },
      () => wait("90 seconds")
    )
    t.strictSame(dials, [])
    t.match(contacts, [{ retriesUsed: 0, state: "pending" }])
  })
  t.test("that closes while the attempt is marked, then nothing is dialed", async (t) => {
    const { contacts, dials } = await play(
      (world) => {
        campaign(1, { ...fast, schedule })(world)
        world.claiming = Effect.sleep("59 seconds")
        world.marking = Effect.sleep("2 seconds")
      },
      () => wait("90 seconds")
    )
    t.strictSame(dials, [])
    t.match(contacts, [{ retriesUsed: 0, state: "pending" }])
  })
  t.test("that is closed at the start, then that is logged, and the database is left alone", async (t) => {
    const { entries, statements } = await play(campaign(1, { schedule: { ...schedule, slots: schedule.slots.slice(1) } }), () =>
      wait("100 seconds")
    )
    t.strictSame(entries, ["schedule_window_closed"])
    t.strictSame(statements, ["own", "log"])
  })
})

t.test(
  "given a busy callee, then he is dialed again when the retry is due, not before, and the database is not asked in between",
  async (t) => {
    const { at, statements } = await play(campaign(2, fast), ({ answers, ends }) =>
      steps(wait("10 seconds"), answers(1), ends(0, "user_busy"), wait("119 seconds"), wait("1 second"), wait("1 second"))
    )
    t.strictSame(at.slice(2), [130_000])
    // Each contact, and twice that there is no more.
    t.equal(count(statements, "claim"), 5)
  }
)

t.test("given retries that wait from before, then each is dialed on time", async (t) => {
  const { at } = await play(
    (world) => {
      world.contacts = [70_000, 20_000].map((dueAt, i) => ({ dueAt, retriesUsed: 1, rowNo: i + 1, state: "retry_wait" }))
    },
    () => wait("2 minutes")
  )
  t.strictSame(at, [20_000, 70_000])
})

t.test("given all contacts are done, then the owner is done", async (t) => {
  const { state } = await play(campaign(1), ({ answers, ends, owner }) => steps(answers(0), ends(0), Fiber.join(owner)))
  t.equal(state, "completed")
})

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
        then(() => {
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
      then(() => world.pauseRow()),
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
  t.test("while attempts are being marked, then it waits, and nothing is dialed", async (t) => {
    const { contacts, dials, entries } = await paused((world) => {
      campaign(5, fast)(world)
      world.marking = Effect.sleep(300)
    })
    t.strictSame(entries, ["0 dialed after the pause"])
    t.strictSame(dials, [])
    t.ok(contacts.every(({ state }) => state === "pending"))
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
        then(() => scene.world.resumeRow()),
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
        then(() => {
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
      then(() => {
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
          then(() => scene.world.entries.push(`${scene.slots.used("organization:1")} slots`))
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
  t.test("now and then, then it begins anew each time, without ever longer waits", async (t) => {
    const { begun, entries } = await supervise(() => Effect.andThen(Effect.sleep("40 seconds"), Effect.die("again")), wait("4 minutes"))
    t.strictSame(begun, [0, 41_000, 83_000, 125_000, 167_000, 209_000])
    t.strictSame(entries, [])
  })
})
