/** The owner of a campaign when it must stop: trunks that fail, refusals, pauses, later owners. */
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { campaignId, noReply, refusal, type World } from "#test/support/fakes.ts"
import { afterwards, campaign, fast, idle, play, type Scene, settled, steps, wait } from "#test/support/campaignScene.ts"
import { areUntouched, campaignIn, sets } from "#test/support/campaignTable.ts"

const oneByOne = { ...fast, maxConcurrency: 1 }
const down =
  (reason: "auth" | "unreachable" | "replaced") =>
  ({ trunkIs }: Scene) =>
    trunkIs({ _tag: "Down", detail: "gone", reason })
const goes = down("unreachable")
const comes = ({ trunkIs }: Scene) => trunkIs({ _tag: "Up" })

t.test("given a trunk that goes down", async (t) => {
  const check = async (
    name: string,
    act: (scene: Scene) => Effect.Effect<unknown>,
    expected: ReadonlyArray<string>,
    dialed: ReadonlyArray<number> = [0]
  ) => {
    const { at, contacts, entries } = await play(campaign(2, oneByOne), (scene) => steps(wait("1 second"), act(scene)))
    t.strictSame([at, entries], [dialed, expected], name)
    t.match(contacts[1], { retriesUsed: 0 }, name)
  }
  const endsAfter = (seconds: number) => (scene: Scene) => steps(goes(scene), scene.ends(0), wait(seconds * 1000))
  await check("for long, then the campaign stops", endsAfter(136), ["telephony_unreachable"])
  const comesBack = (scene: Scene) => steps(endsAfter(130)(scene), comes(scene), wait("1 minute"))
  await check("not quite so long, then it continues", comesBack, [], [0, 131_000])
  const twice = (scene: Scene) => steps(goes(scene), wait("100 seconds"), comes(scene), endsAfter(100)(scene))
  await check("twice, then only the second outage counts", twice, [])
  await check("for its credentials, then the campaign stops at once", down("auth"), ["telephony_auth_failed"])
  await check("for another client, then the campaign stops at once", down("replaced"), ["telephony_unreachable"])
})

t.test("given a provider that refuses", async (t) => {
  const refusing = (...how: Parameters<typeof refusal>) => campaignIn({ originate: refusal(...how) }, 3)
  t.test("every time, then it is tried ever later, then the campaign stops, and no contact has lost a try", async (t) => {
    const check = async (how: Parameters<typeof refusal>, dialed: ReadonlyArray<number>, ...expected: ReadonlyArray<string>) => {
      const { at, contacts, entries } = await play(refusing(...how), () => wait("10 minutes"))
      t.strictSame([at, entries], [dialed, expected], how[0])
      t.ok(areUntouched(contacts), how[0])
    }
    await check(["unreachable"], [0, 5000, 15_000, 35_000, 75_000, 135_000], "telephony_suspect", "telephony_unreachable")
    // It gets the rest it asks for at first.
    const itsRate = [0, 8000, 18_000, 38_000, 78_000, 138_000]
    await check(["rate_limited", 8000], itsRate, "provider_rate_limited", "telephony_unreachable")
    await check(["auth_refused"], [0], "telephony_auth_failed")
    await check(["no_credit"], [0], "quota_exhausted")
    await check(["misconfigured"], [0], "telephony_configuration_unavailable")
  })
  t.test("for a reason that nobody knows", async (t) => {
    const plan = { ...fast, maxConcurrency: 1 }
    const unknown = refusal("unexplained")
    /** Refuses the calls at these places, and takes the others. */
    const refusedAt = (...places: ReadonlyArray<number>) => {
      let calls = 0
      return Effect.suspend(() => (places.includes(++calls) ? unknown : Effect.void))
    }
    const play3 = async (originate: World["originate"], contacts: number, act = (_: Scene): Effect.Effect<unknown> => wait("1 minute")) => {
      const { contacts: rows, dials, entries, state } = await play(campaignIn({ originate }, contacts, plan), act)
      return { entries, rows: rows.map((row) => row.state), state, to: dials.map(({ to }) => Number(to.replace("+1555", ""))) }
    }
    const endsAll = ({ answers, ends }: Scene) =>
      steps(...[0, 1, 2, 3].map((at) => steps(wait("1 second"), answers(at), ends(at, "normal_clearing"))), wait("1 minute"))

    const fresh = await play3(unknown, 5)
    t.strictSame(fresh.to, [1, 2, 3], "and nothing was placed yet, then three contacts are tried")
    t.strictSame(fresh.entries, ["telephony_configuration_unavailable"], "and the campaign is paused")
    t.strictSame([fresh.state, ...fresh.rows], ["paused", ...fresh.rows.map(() => "pending")], "and no contact has lost a try")

    const two = await play3(unknown, 2)
    t.strictSame(two.to, [1, 2, 1, 2], "and there are two contacts, then each is tried twice")
    t.strictSame([two.state, ...two.rows], ["completed", "failed", "failed"])
    t.strictSame(two.entries, ["contacts_refused", "contacts_refused"], "and the log says so at once, and at the end")

    const one = await play3(refusedAt(1, 4), 3, endsAll)
    t.strictSame(one.to, [1, 2, 3, 1], "and the next is placed, then the contact has its turn again")
    t.strictSame([one.state, ...one.rows], ["completed", "failed", "completed", "completed"], "and fails")

    const tenth = await play3(refusedAt(...Array.from({ length: 30 }, (_, at) => at + 2)), 20, endsAll)
    t.equal(tenth.to.length, 11, "after a placed call, then ten in a row pause it")
    t.strictSame([tenth.state, tenth.rows.filter((row) => row === "failed").length], ["paused", 9])
    t.strictSame(tenth.entries, ["contacts_refused", "telephony_configuration_unavailable", "contacts_refused"])
  })
  t.test("and the campaign is resumed afterwards, then it is tried again", async (t) => {
    const { at, entries } = await play(refusing("unreachable"), (scene) =>
      steps(
        wait("10 minutes"),
        afterwards(() => scene.world.resumeRow()),
        sets(scene, { originate: Effect.void }),
        scene.own,
        wait("10 seconds")
      )
    )
    t.strictSame(entries, ["telephony_suspect", "telephony_unreachable", "telephony_recovered"])
    t.equal(at.length, 9)
  })
  t.test("because of its rate from time to time, then the log says so once a minute", async (t) => {
    let calls = 0
    const originate = Effect.suspend(() => (++calls % 2 === 1 ? refusal("rate_limited") : refusal("number_refused")))
    const { entries } = await play(campaignIn({ originate }, 200, { maxConcurrency: 1, rateLimit: 1 }), () => wait("59 seconds"))
    t.strictSame(entries, ["provider_rate_limited", "telephony_recovered"])
  })
  t.test("because of its rate once, then the next calls are further apart for a while", async (t) => {
    let calls = 0
    const originate = Effect.suspend(() => (++calls === 1 ? refusal("rate_limited") : Effect.void))
    const five = campaignIn({ originate }, 5, { ...fast, maxConcurrency: 5 })
    const { at } = await play(five, () => wait("30 seconds"), undefined, undefined, { TRUNK_RATE: "1" })
    const gaps = at.slice(2).map((one, i) => one - (at[i + 1] ?? 0))
    t.equal(gaps.length, 4)
    t.ok(Math.min(...gaps) > 1100, gaps.join(", "))
  })
  t.test("while other calls were claimed, then they do not leave either", async (t) => {
    const originate = Effect.andThen(Effect.sleep(50), refusal("rate_limited", 60_000))
    const claiming = Effect.sleep(100)
    const { at } = await play(campaignIn({ claiming, originate }, 8, { ...fast, organizationShare: 8 }), () => wait("30 seconds"))
    t.ok(at.length <= 4, `${at}`)
  })
})

const silent = Effect.andThen(Effect.sleep("15 seconds"), noReply)

t.test("given a provider that does not answer", async (t) => {
  const hanging = campaignIn({ originate: silent }, 200, { organizationShare: 100, rateLimit: 10 })
  t.test("then after three doubts one call at a time tries it, ever later, until the campaign stops", async (t) => {
    const { at, contacts, entries, state } = await play(hanging, () => wait("10 minutes"))
    const crowd = at.filter((each) => each < 16_000)
    // The trunk lets four wait for an answer at once, and two more replace the first two in doubt.
    t.ok(crowd.length >= 4 && crowd.length <= 6, `${crowd}`)
    const probes = at.slice(crowd.length)
    t.equal(probes.length, 4, `${probes}`)
    const areApart = probes.every((each, index) => index === 0 || each - (probes[index - 1] ?? 0) >= 25_000)
    t.ok(areApart, `${probes}`)
    t.strictSame([entries, state], [["telephony_suspect", "telephony_unreachable"], "paused"])
    t.equal(contacts.filter((contact) => contact.state === "pending").length, 200 - at.length, "then no other contact has lost a try")
  })
  t.test("and then does, then all may leave again, and the log says so", async (t) => {
    const { at, entries } = await play(hanging, (scene) =>
      steps(wait("40 seconds"), sets(scene, { originate: Effect.void }), wait("60 seconds"))
    )
    t.strictSame(entries, ["telephony_suspect", "telephony_recovered"])
    t.ok(at.filter((each) => each > 54_000).length > 50, `${at}`)
  })
  t.test("when a probe is due while all slots are held by calls in doubt, then the campaign waits for a slot", async (t) => {
    let wakes = 0
    const countWakes = ({ inboxes }: Scene) =>
      afterwards(() => {
        const inbox = inboxes.of(campaignId)
        const { wake } = inbox
        inbox.wake = () => {
          wakes++
          wake.call(inbox)
        }
      })
    await play(campaignIn({ originate: silent }, 5, { ...fast, maxConcurrency: 3 }), (scene) =>
      steps(wait("16 seconds"), countWakes(scene), wait("10 seconds"))
    )
    t.ok(wakes <= 2, `it is woken ${wakes} times`)
  })
})

t.test("given nothing to dial through, then the campaign stops, nobody is called, and the log says what is missing", async (t) => {
  const check = async (name: string, arrange: (world: World) => unknown, message: RegExp, act = idle) => {
    const { dials, entries, messages, state } = await play((world) => [campaign(1)(world), arrange(world)], act)
    t.strictSame([entries, dials, state], [["telephony_configuration_unavailable"], [], "paused"], name)
    t.match(messages, [message], name)
  }
  const none = { telephonyConfigurationId: null, telephonyProvider: null }
  await check("no configuration", (world) => world.change(none), /no usable telephony configuration/)
  await check("a configuration that is gone", (world) => (world.trunk = undefined), /no usable telephony configuration/)
  const withoutAdapter = (world: World) => {
    world.trunk = undefined
    world.change({ telephonyProvider: "acme" })
  }
  await check("a configuration without its adapter", withoutAdapter, /does not have the adapter/)
  const withoutNumber = (world: World) => (world.manifest = { needsCallerId: true })
  await check("a hosted carrier without a number", withoutNumber, /no phone number left to call from/)
})

t.test("given a pause", async (t) => {
  const pause = ({ inboxes, world }: Scene) =>
    steps(
      afterwards(() => world.pauseRow()),
      inboxes.withdraw(campaignId)
    )
  const resume = ({ world }: Scene) => afterwards(() => world.resumeRow())
  /** Pauses the campaign, and notes how many were dialed once that was confirmed. */
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
      const { contacts, dials, entries } = await paused(campaignIn({ marking: Effect.sleep("1 second") }, 5, { rateLimit }))
      t.strictSame([entries, dials], [["0 dialed after the pause"], []])
      t.ok(areUntouched(contacts))
    })
  }
  t.test("while the provider is slow, then it waits no longer than a permit is valid", async (t) => {
    const slow = campaignIn({ originate: Effect.sleep("10 seconds") }, 50, { ...fast, organizationShare: 50 })
    const { contacts, dials, entries } = await paused(slow)
    t.strictSame(entries, ["0 dialed after the pause"])
    t.equal(dials.length + contacts.filter(({ state }) => state === "pending").length, 50)
  })
  t.test("while contacts are being claimed, then nothing is dialed, and the owner is done", async (t) => {
    const { contacts, dials } = await play(campaignIn({ claiming: Effect.sleep(500) }, 5, fast), (scene) =>
      steps(wait(400), pause(scene), wait("1 minute"), Fiber.join(scene.owner))
    )
    t.strictSame(dials, [])
    t.ok(areUntouched(contacts))
  })
  t.test("and a resume while contacts are being claimed, then the contact is claimed again", async (t) => {
    const looks = ({ inboxes }: Scene) => afterwards(() => inboxes.find(campaignId)?.look())
    const { dials } = await play(campaignIn({ marking: Effect.sleep("1 second") }, 1, fast), (scene) =>
      steps(wait(100), pause(scene), resume(scene), looks(scene), wait("5 seconds"))
    )
    // Not at one second, when the claim under the old permit returned.
    const areLate = dials.map(({ at }) => at >= 2000)
    t.strictSame(areLate, [true])
  })
  t.test("and a resume during a call, when it ends busy, then the new owner dials its retry on time", async (t) => {
    const { at } = await play(campaign(1), (scene) =>
      steps(
        wait("1 second"),
        pause(scene),
        settled,
        resume(scene),
        scene.own,
        wait("9 seconds"),
        scene.ends(0, "user_busy"),
        wait("3 minutes")
      )
    )
    t.strictSame(at, [0, 130_000])
  })
})

t.test("given the row changes", async (t) => {
  const dialed = async (name: string, contacts: number, act: (scene: Scene) => Effect.Effect<unknown>, expected: number) => {
    const { to } = await play(campaign(contacts, oneByOne), (scene) => steps(wait("1 second"), act(scene), wait("1 second")))
    t.strictSame(to, ["+15551", "+15552", "+15553"].slice(0, expected), name)
  }
  const settings = ({ inboxes, world }: Scene) =>
    afterwards(() => {
      world.change({ maxConcurrency: 3, settingsVersion: 2 })
      inboxes.find(campaignId)?.look()
    })
  await dialed("when the owner hears of it, then it dials with the new settings", 5, settings, 3)
  const unheard = ({ ends, world }: Scene) =>
    steps(
      afterwards(() => [world.pauseRow(), world.resumeRow()]),
      ends(0)
    )
  await dialed("by a pause and a resume that the owner was not told of, then it continues under the new permits", 2, unheard, 2)
  const laterOwner = ({ ends, own, owner }: Scene) => steps(own, settled, ends(0), Fiber.join(owner))
  await dialed("to a later owner, then the earlier one is done, and no longer dials", 3, laterOwner, 2)
})

t.test("given an owner that ends halfway, then no slot is lost and no contact is left behind", async (t) => {
  const check = async (name: string, changes: Partial<World>, act = idle) => {
    const { contacts, entries } = await play(campaignIn(changes, 3, { ...fast, organizationShare: 3 }), (scene) =>
      steps(
        act(scene),
        settled,
        afterwards(() => scene.world.entries.push(`${scene.slots.used("organization:1")} slots`))
      )
    )
    t.strictSame(entries, ["0 slots"], name)
    t.ok(areUntouched(contacts), name)
  }
  const interrupts = ({ owner }: Scene) => steps(wait(500), Fiber.interrupt(owner))
  await check("stopped during the claim", { claiming: Effect.sleep("1 second") }, interrupts)
  await check("a failing claim", { claiming: Effect.die("no connection") })
  await check("no call can be made of a claim", { finding: Effect.die("no connection") })
})
