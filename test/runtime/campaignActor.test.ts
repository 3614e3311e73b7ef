/** The owner of a campaign: when it claims contacts, and how many. */
import { Effect, Fiber } from "effect"
import t from "tap"
import type { ScheduleConfig } from "#core/campaign/Schedule.ts"
import { noReply } from "#test/support/fakes.ts"
import { wait, settled, steps, afterwards, play, campaign, count, fast } from "#test/support/campaignScene.ts"

t.test("given more contacts than slots", async (t) => {
  t.test(
    "then no more are claimed than there are slots, in the order of the file, and there is no other claim until one is free",
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
  const { dials, entries } = await play(
    (world) => {
      campaign(3, { ...fast, organizationShare: 2 })(world)
      world.originate = noReply
      world.lookup = Effect.succeed("gone")
    },
    () => wait("9 minutes")
  )
  t.equal(dials.length, 2)
  t.match(entries, ["waiting_for_capacity"])
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
    t.strictSame(at, [0, 515, 1030, 1545, 2060])
  })
  t.test("of the trunk that is lower, then it applies", async (t) => {
    const { at } = await play(campaign(20, { ...fast, organizationShare: 100 }), () => wait("5 seconds"))
    t.equal(at.length, 20)
    t.ok(
      at.every((moment, i) => Math.abs(moment - i * 20.6) <= 1),
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
          afterwards(() => {
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

/** Open on Thursdays, the day on which the clock starts, until one minute past midnight, and again from two minutes past. */
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
  t.test("that closes while two owners wait, then the earlier one is over, and each edge is logged once", async (t) => {
    const { entries } = await play(campaign(200, { ...fast, organizationShare: 1, schedule }), ({ own, owner }) =>
      steps(wait("30 seconds"), own, settled, Fiber.join(owner), wait("40 seconds"), wait("1 minute"))
    )
    t.strictSame(entries, ["schedule_window_closed", "schedule_window_opened"])
  })
  t.test("that closes after the claim, then nothing is dialed, and the contact is unchanged", async (t) => {
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
  t.test("that is closed at the start, then that is logged, and the database is not queried", async (t) => {
    const { entries, statements } = await play(campaign(1, { schedule: { ...schedule, slots: schedule.slots.slice(1) } }), () =>
      wait("100 seconds")
    )
    t.strictSame(entries, ["schedule_window_closed"])
    t.strictSame(statements, ["own", "log"])
  })
})

t.test(
  "given a busy callee, then they are dialed again when the retry is due, not before, and the database is not asked in between",
  async (t) => {
    const { at, statements } = await play(campaign(2, fast), ({ answers, ends }) =>
      steps(wait("10 seconds"), answers(1), ends(0, "user_busy"), wait("119 seconds"), wait("1 second"), wait("1 second"))
    )
    t.strictSame(at.slice(2), [130_000])
    // One claim for both contacts, and one for the retry, which turns out to be the only one.
    t.equal(count(statements, "claim"), 2)
  }
)

t.test("given retries that were already waiting, then each is dialed on time", async (t) => {
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
