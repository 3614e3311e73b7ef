/** The owner of a campaign when it must stop: trunks that fail, refusals, pauses, later owners. */
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { campaignId, noReply, refusal, type World } from "#test/support/fakes.ts"
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
    "not quite so long, then it continues",
    ({ ends, trunkIs }) => steps(trunkIs(down("unreachable")), ends(0), wait("130 seconds"), trunkIs({ _tag: "Up" }), wait("1 minute")),
    [],
    [0, 131_000]
  )
  await check(
    "twice, then only the second outage counts",
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
    t.strictSame(entries, ["telephony_suspect", "telephony_unreachable"])
    t.ok(contacts.every(({ retriesUsed, state }) => state === "pending" && retriesUsed === 0))
  })
  t.test("and the campaign is resumed afterwards, then it is tried again", async (t) => {
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
    t.strictSame(entries, ["telephony_suspect", "telephony_unreachable", "telephony_suspect", "telephony_recovered"])
    t.equal(at.length, 9)
  })
  t.test("because of its rate, then it gets the rest it asks for, and ever longer ones, then the campaign stops", async (t) => {
    const { at, contacts, entries } = await play(refusing("rate_limited", 8000), () => wait("10 minutes"))
    t.strictSame(at, [0, 8000, 18_000, 38_000, 78_000, 138_000])
    t.strictSame(entries, ["provider_rate_limited", "telephony_unreachable"])
    t.ok(contacts.every(({ retriesUsed, state }) => state === "pending" && retriesUsed === 0))
  })
  t.test("because of its rate from time to time, then the log says so once a minute", async (t) => {
    let calls = 0
    const { entries } = await play(
      (world) => {
        campaign(200, { maxConcurrency: 1, rateLimit: 1 })(world)
        world.originate = Effect.suspend(() => (++calls % 2 === 1 ? refusal("rate_limited") : refusal("number_refused")))
      },
      () => wait("59 seconds")
    )
    t.strictSame(entries, ["provider_rate_limited", "telephony_recovered"])
  })
  t.test("because of its rate once, then the next calls are further apart for a while", async (t) => {
    const { at } = await play(
      (world) => {
        campaign(5, { ...fast, maxConcurrency: 5 })(world)
        world.originate = Effect.suspend(() => (world.dials.length === 1 ? refusal("rate_limited") : Effect.void))
      },
      () => wait("30 seconds"),
      undefined,
      undefined,
      { TRUNK_RATE: "1" }
    )
    const gaps = at.slice(2).map((one, i) => one - (at[i + 1] ?? 0))
    t.equal(gaps.length, 4)
    t.ok(Math.min(...gaps) > 1100, gaps.join(", "))
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

t.test("given a provider that does not answer", async (t) => {
  const silent = Effect.andThen(Effect.sleep("15 seconds"), noReply)
  const hanging = (world: World) => {
    campaign(200, { organizationShare: 100, rateLimit: 10 })(world)
    world.originate = silent
  }
  t.test("then after three doubts one call at a time tries it, ever later, until the campaign stops", async (t) => {
    const { at, contacts, entries, state } = await play(hanging, () => wait("10 minutes"))
    const crowd = at.filter((each) => each < 16_000)
    // The trunk lets four wait for an answer at once, and two more replace the first two in doubt.
    t.ok(crowd.length >= 4 && crowd.length <= 6, `${crowd}`)
    const probes = at.slice(crowd.length)
    t.equal(probes.length, 4, `${probes}`)
    t.ok(
      probes.every((each, index) => index === 0 || each - (probes[index - 1] ?? 0) >= 25_000),
      `${probes}`
    )
    t.strictSame(entries, ["telephony_suspect", "telephony_unreachable"])
    t.equal(state, "paused")
    t.equal(contacts.filter((contact) => contact.state === "pending").length, 200 - at.length, "then no other contact has lost a try")
  })
  t.test("and then does, then all may leave again, and the log says so", async (t) => {
    const { at, entries } = await play(hanging, ({ world }) =>
      steps(
        wait("40 seconds"),
        afterwards(() => {
          world.originate = Effect.void
        }),
        wait("60 seconds")
      )
    )
    t.strictSame(entries, ["telephony_suspect", "telephony_recovered"])
    t.ok(at.filter((each) => each > 54_000).length > 50, `${at}`)
  })
  t.test("but one of whose calls in doubt rings, then it is no longer suspect", async (t) => {
    const { entries } = await play(hanging, ({ world }) =>
      steps(
        wait("16 seconds"),
        afterwards(() => world.provider.onEvent?.(world.dials[1]?.callId ?? "", { _tag: "Rang" })),
        wait("1 second")
      )
    )
    t.strictSame(entries, ["telephony_suspect", "telephony_recovered"])
  })
  t.test("while its socket comes and goes, then it is given up anyway", async (t) => {
    const flap = ({ trunkIs }: Scene) => steps(trunkIs(down("unreachable")), wait("1 second"), trunkIs({ _tag: "Up" }), wait("6 seconds"))
    const { at, entries } = await play(hanging, (scene) => steps(...Array.from({ length: 40 }, () => flap(scene))))
    t.equal(entries.at(-1), "telephony_unreachable")
    t.ok(at.length < 16, `${at}`)
  })
})

t.test("given no configuration, then the campaign stops", async (t) => {
  const { entries } = await play(campaign(1, { telephonyConfigurationId: null }), idle)
  t.strictSame(entries, ["telephony_configuration_unavailable"])
})

t.test("given a pause", async (t) => {
  const pause = ({ inboxes, world }: Scene) =>
    steps(
      afterwards(() => world.pauseRow()),
      inboxes.withdraw(campaignId)
    )
  /** Pauses the campaign, and returns how long that took. */
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
  t.test("and a resume while contacts are being claimed, then the contact is claimed again", async (t) => {
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
          afterwards(() => scene.inboxes.find(campaignId)?.look()),
          wait("5 seconds")
        )
    )
    // Not at one second, when the claim under the old permit returned.
    t.strictSame(
      dials.map(({ at }) => at >= 2000),
      [true]
    )
  })
  t.test("while the provider is slow, then it waits no longer than a permit is valid", async (t) => {
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
  t.test("and a resume during a call, when it ends busy, then the new owner dials its retry on time", async (t) => {
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
  t.test("and a resume that the owner was not told of, then it continues under the new permits", async (t) => {
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

t.test("given the row changes, when the owner hears of it, then it dials with the new settings", async (t) => {
  const { to } = await play(campaign(5, { ...fast, maxConcurrency: 1 }), ({ inboxes, world }) =>
    steps(
      wait("1 second"),
      afterwards(() => {
        world.change({ maxConcurrency: 3, settingsVersion: 2 })
        inboxes.find(campaignId)?.look()
      }),
      wait("1 second")
    )
  )
  t.strictSame(to, ["+15551", "+15552", "+15553"])
})

t.test("given a later owner, then the earlier one is done, and no longer dials", async (t) => {
  const { to } = await play(campaign(3, { ...fast, maxConcurrency: 1 }), ({ ends, own, owner }) =>
    steps(wait("1 second"), own, settled, ends(0), Fiber.join(owner), wait("1 second"))
  )
  t.strictSame(to, ["+15551", "+15552"])
})

t.test("given an owner that ends halfway, then no slot is lost and no contact is left behind", async (t) => {
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

t.test(
  "given a provider that does not answer, when a probe is due while all slots are held by calls in doubt, then the campaign waits for a slot",
  async (t) => {
    let wakes = 0
    await play(
      (world) => {
        campaign(5, { ...fast, maxConcurrency: 3 })(world)
        world.originate = Effect.andThen(Effect.sleep("15 seconds"), noReply)
      },
      ({ inboxes }) =>
        steps(
          wait("16 seconds"),
          afterwards(() => {
            const inbox = inboxes.of(campaignId)
            const { wake } = inbox
            inbox.wake = () => {
              wakes++
              wake.call(inbox)
            }
          }),
          wait("10 seconds")
        )
    )
    t.ok(wakes <= 2, `it is woken ${wakes} times`)
  }
)
