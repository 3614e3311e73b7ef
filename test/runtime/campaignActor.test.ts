/** The owner of a campaign: when it claims contacts, and how many. */
import { Effect, Fiber } from "effect"
import t from "tap"
import type { ScheduleConfig } from "#core/campaign/Schedule.ts"
import { noReply, type World } from "#test/support/fakes.ts"
import { campaign, count, fast, play, type Scene, settled, steps, wait } from "#test/support/campaignScene.ts"
import { areUntouched, campaignIn, sets } from "#test/support/campaignTable.ts"

t.test("given more contacts than slots", async (t) => {
  t.test("then as many are claimed as there are slots, in the order of the file, and no more until one is free", async (t) => {
    const { at, contacts, statements, to } = await play(campaign(10, { ...fast, organizationShare: 3 }), () => wait("30 seconds"))
    t.strictSame(to, ["+15551", "+15552", "+15553"])
    t.ok(Math.max(...at) <= 60)
    t.equal(contacts.filter(({ state }) => state === "pending").length, 7)
    t.ok(count(statements, "claim") <= 3)
  })
  t.test("when a slot is free, then the next contact is dialed at once", async (t) => {
    const { at, to } = await play(campaign(10, { ...fast, organizationShare: 2 }), ({ ends }) =>
      steps(wait("10 seconds"), ends(0), ends(1), wait(50))
    )
    t.strictSame(to.slice(2), ["+15553", "+15554"])
    // As close together as the trunk's rate allows.
    t.strictSame(at.slice(2), [10_000, 10_021])
  })
  t.test("when the campaign's own limit is lower, then it applies", async (t) => {
    const { to } = await play(campaign(10, { ...fast, maxConcurrency: 1 }), ({ ends }) =>
      steps(wait("1 second"), ends(0), wait("1 second"), ends(1), wait("1 second"))
    )
    t.strictSame(to, ["+15551", "+15552", "+15553"])
  })
})

t.test("given calls in doubt that keep all the slots, then that is logged, and nobody else is dialed", async (t) => {
  const inDoubt = campaignIn({ lookup: Effect.succeed("gone"), originate: noReply }, 3, { ...fast, organizationShare: 2 })
  const { dials, entries } = await play(inDoubt, () => wait("9 minutes"))
  t.strictSame([dials.length, entries], [2, ["waiting_for_capacity"]])
})

t.test("given other calls that use all the slots, then that is logged once in ten minutes, and no contact suffers", async (t) => {
  const { contacts, dials, entries, statements } = await play(campaign(2, { organizationShare: 0 }), () => wait("9 minutes"))
  t.strictSame([dials, entries, count(statements, "claim")], [[], ["waiting_for_capacity"], 0])
  t.ok(areUntouched(contacts))
})

t.test("given a rate", async (t) => {
  t.test("then the calls leave at its pace, and contacts are claimed one by one", async (t) => {
    const { at } = await play(campaign(5, { rateLimit: 2 }), () => wait("5 seconds"))
    t.strictSame(at, [0, 515, 1030, 1545, 2060])
  })
  t.test("of the trunk that is lower, then it applies", async (t) => {
    const { at } = await play(campaign(20, { ...fast, organizationShare: 100 }), () => wait("5 seconds"))
    t.equal(at.length, 20)
    const areEven = at.every((moment, i) => Math.abs(moment - i * 20.6) <= 1)
    t.ok(areEven, `${at}`)
  })
  t.test("and a database that is slow for a while, then no second holds more calls than the rate", async (t) => {
    const slow = campaignIn({ marking: Effect.sleep(700) }, 12, { organizationShare: 100, rateLimit: 4 })
    const { at } = await play(slow, (scene) => steps(wait("2 seconds"), sets(scene, { marking: Effect.void }), wait("8 seconds")))
    t.equal(at.length, 12)
    const areFew = at.every((moment) => at.filter((other) => other >= moment && other < moment + 1000).length <= 4)
    t.ok(areFew, `${at}`)
  })
})

/** Open on Thursdays, the day on which the clock starts, until one minute past midnight, and again from two minutes past. */
const slots = [
  { dayOfWeek: 3, endTime: "00:01", startTime: "00:00" },
  { dayOfWeek: 3, endTime: "00:03", startTime: "00:02" }
]
const schedule: ScheduleConfig = { enabled: true, slots, timezone: "UTC" }

t.test("given a calling window", async (t) => {
  t.test("that closes and opens, then each edge is logged once, and the first call leaves as it opens", async (t) => {
    const { at, entries, statements } = await play(campaign(200, { ...fast, organizationShare: 1, schedule }), ({ ends }) =>
      steps(wait("59 seconds"), ends(0), wait("2 seconds"), ends(1), wait("30 seconds"), wait("69 seconds"), ends(2), wait("50 seconds"))
    )
    t.strictSame(at, [0, 59_000, 120_000, 160_000])
    t.strictSame(entries, ["schedule_window_closed", "schedule_window_opened", "schedule_window_closed"])
    t.equal(count(statements, "claim"), 4)
  })
  t.test("that closes while two owners wait, then the earlier one is over, and each edge is logged once", async (t) => {
    const { entries } = await play(campaign(200, { ...fast, organizationShare: 1, schedule }), ({ own, owner }) =>
      steps(wait("30 seconds"), own, settled, Fiber.join(owner), wait("40 seconds"), wait("1 minute"))
    )
    t.strictSame(entries, ["schedule_window_closed", "schedule_window_opened"])
  })
  t.test("that closes before a claimed call has left, then nothing is dialed, and the contact is unchanged", async (t) => {
    const check = async (name: string, changes: Partial<World>) => {
      const { contacts, dials } = await play(campaignIn(changes, 1, { ...fast, schedule }), () => wait("90 seconds"))
      t.strictSame(dials, [], name)
      t.ok(areUntouched(contacts), name)
    }
    await check("during the claim", { claiming: Effect.sleep("61 seconds") })
    await check("while the attempt is marked", { claiming: Effect.sleep("59 seconds"), marking: Effect.sleep("2 seconds") })
  })
  t.test("that is closed at the start, then that is logged, and the database is not queried", async (t) => {
    const closed = { schedule: { ...schedule, slots: slots.slice(1) } }
    const { entries, statements } = await play(campaign(1, closed), () => wait("100 seconds"))
    t.strictSame([entries, statements], [["schedule_window_closed"], ["own", "last words", "log"]])
  })
})

t.test("given a campaign that gets a new owner again and again, as after a resume or a restart", async (t) => {
  const [closes, opens] = ["schedule_window_closed", "schedule_window_opened"]
  const owners = ({ own }: Scene) => steps(...Array.from({ length: 5 }, () => steps(own, wait("1 second"))))
  const laterSlots = { schedule: { ...schedule, slots: slots.slice(1) } }
  t.test("while its window is closed, then the log says once that it closed, and once that it opened", async (t) => {
    const { entries } = await play(campaign(1, laterSlots), (scene) => steps(wait("10 seconds"), owners(scene), wait("120 seconds")))
    t.strictSame(entries, [closes, opens])
  })
  t.test("while others use all the slots, then the log says so once in ten minutes", async (t) => {
    const full = "waiting_for_capacity"
    const { entries } = await play(campaign(2, { organizationShare: 0 }), (scene) =>
      steps(owners(scene), wait("590 seconds"), owners(scene), wait("1 minute"), owners(scene))
    )
    t.strictSame(entries, [full, full])
  })
  t.test("and nobody looked while its window opened, then the log says so, and of a later closing that it is one", async (t) => {
    const before = (nextOpenAt: number) => (world: World) => {
      const details = { next_open_at: new Date(nextOpenAt).toISOString() }
      world.words.push({ event: "schedule_window_closed", level: "info", details, at: 0 })
    }
    const check = async (name: string, plan: Parameters<typeof campaign>[1], expected: ReadonlyArray<unknown>) => {
      const { details, entries } = await play(
        (world) => [campaign(1, plan)(world), before(-3_600_000)(world)],
        (scene) => steps(wait("1 second"), owners(scene))
      )
      t.match([entries, details], expected, name)
    }
    await check("it is open", { schedule, organizationShare: 10 }, [[opens], [{ closes_at: String }]])
    await check("it has closed again", laterSlots, [[closes], [{ next_open_at: String }]])
  })
})

t.test("given a busy callee, then they are dialed again when the retry is due, and the database is not asked before that", async (t) => {
  const { at, statements } = await play(campaign(2, fast), ({ answers, ends }) =>
    steps(wait("10 seconds"), answers(1), ends(0, "user_busy"), wait("119 seconds"), wait("1 second"), wait("1 second"))
  )
  t.strictSame(at.slice(2), [130_000])
  // One claim for both contacts, and one for the retry, which turns out to be the only one.
  t.equal(count(statements, "claim"), 2)
})

t.test("given retries that were already waiting, then each is dialed on time", async (t) => {
  const contacts = [70_000, 20_000].map((dueAt, i) => ({ dueAt, retriesUsed: 1, rowNo: i + 1, state: "retry_wait" as const }))
  const { at } = await play(campaignIn({ contacts }, 2), () => wait("2 minutes"))
  t.strictSame(at, [20_000, 70_000])
})

t.test("given all contacts are done, then the owner is done", async (t) => {
  const { state } = await play(campaign(1), ({ answers, ends, owner }) => steps(answers(0), ends(0), Fiber.join(owner)))
  t.equal(state, "completed")
})
