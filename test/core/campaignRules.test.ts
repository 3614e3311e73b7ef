import fc from "fast-check"
import t from "tap"
import { Outcome } from "#core/outcome/Outcome.ts"
import { isTripped, resolve } from "#core/campaign/CircuitBreaker.ts"
import { complete, decide, defaultRetryConfig, type RetryConfig, type RetryReason, stillAllowed } from "#core/campaign/RetryPolicy.ts"
import { compile, type ScheduleConfig, type ScheduleSlot, stateAt, validate } from "#core/campaign/Schedule.ts"
import { isTimeZone } from "#core/TimeZone.ts"
import { forAllOf } from "#test/support/forAll.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const at = (iso: string) => Date.parse(`${iso}Z`)
const slot = (dayOfWeek: number, startTime: string, endTime: string): ScheduleSlot => ({ dayOfWeek, startTime, endTime })
const weekly = (timezone: string, ...slots: ReadonlyArray<ScheduleSlot>): ScheduleConfig => ({ enabled: true, timezone, slots })

t.test("given the outcome of an attempt, then it is dialed again, or final", async (t) => {
  const config: RetryConfig = { ...defaultRetryConfig, maxRetries: 2, retryDelaySeconds: 30 }
  const check = (outcome: Outcome, retriesUsed: number, settings: Partial<RetryConfig>, expected: unknown) =>
    t.strictSame(decide({ outcome, retriesUsed, config: { ...config, ...settings }, endedAt: 1000 }), expected, `${outcome} ${retriesUsed}`)
  const again = (reason: RetryReason) => ({ _tag: "Retry", dueAt: 31_000, reason })
  const failed = { _tag: "Final", contact: "failed" }
  check("busy", 0, {}, again("busy"))
  check("busy", 1, {}, again("busy"))
  check("busy", 2, {}, failed)
  check("busy", 0, { retryOnBusy: false }, failed)
  check("no_answer", 0, {}, again("no_answer"))
  check("no_answer", 0, { retryOnNoAnswer: false }, failed)
  check("voicemail", 0, {}, again("voicemail"))
  check("voicemail", 0, { retryOnVoicemail: false }, failed)
  check("busy", 0, { maxRetries: 0 }, failed)
  check("busy", 0, { enabled: false }, failed)
  check("busy", 0, { retryDelaySeconds: 0 }, { _tag: "Retry", dueAt: 1000, reason: "busy" })
  check("answered", 0, {}, { _tag: "Final", contact: "completed" })
  for (const outcome of ["canceled", "failed", "error", "unknown"] as const) check(outcome, 0, {}, failed)
})

t.test("given a message that was left on a machine, then its contact is not called again, whatever is retried", async (t) => {
  const end = { config: defaultRetryConfig, endedAt: 0, outcome: "voicemail", retriesUsed: 0 } as const
  t.strictSame(decide({ ...end, messageLeft: true }), { _tag: "Final", contact: "completed" })
  t.equal(decide({ ...end, messageLeft: false })._tag, "Retry")
  t.equal(decide({ ...end, messageLeft: true, outcome: "no_answer" })._tag, "Retry")
})

t.test("given a call that the trunk cut, then it is dialed again only if that is configured and its end is certain", async (t) => {
  const check = (outcome: Outcome, cutByTrunk: boolean, settings: Partial<RetryConfig>, expected: string) => {
    const config: RetryConfig = { ...defaultRetryConfig, ...settings }
    const { _tag } = decide({ outcome, cutByTrunk, retriesUsed: 0, config, endedAt: 0 })
    t.equal(_tag, expected, `${outcome} ${cutByTrunk} ${JSON.stringify(settings)}`)
  }
  const on = { retryOnTrunkLost: true }
  check("error", true, {}, "Final")
  check("error", true, on, "Retry")
  check("error", false, on, "Final")
  check("unknown", true, on, "Final")
  check("answered", true, on, "Final")
  check("failed", true, on, "Final")
  check("error", true, { ...on, enabled: false }, "Final")
  check("error", true, { ...on, maxRetries: 0 }, "Final")
  t.equal(stillAllowed({ retriesUsed: 1, reason: "trunk_lost", config: defaultRetryConfig }), false)
  t.equal(stillAllowed({ retriesUsed: 1, reason: "trunk_lost", config: { ...defaultRetryConfig, ...on } }), true)
})

t.test("given retry settings with holes, then they are filled with the defaults", async (t) => {
  t.strictSame(complete(undefined), {
    enabled: true,
    maxRetries: 2,
    retryDelaySeconds: 120,
    retryOnBusy: true,
    retryOnNoAnswer: true,
    retryOnVoicemail: true,
    retryOnTrunkLost: false
  })
  t.strictSame(complete({ maxRetries: 0, retryOnBusy: false, enabled: undefined }), {
    ...defaultRetryConfig,
    maxRetries: 0,
    retryOnBusy: false
  })
})

t.test("given a waiting retry, when the settings change, then it is judged again", async (t) => {
  const check = (retriesUsed: number, reason: RetryReason, settings: Partial<RetryConfig>, expected: boolean) =>
    t.equal(stillAllowed({ retriesUsed, reason, config: { ...defaultRetryConfig, ...settings } }), expected)
  check(2, "busy", {}, true)
  check(2, "busy", { maxRetries: 1 }, false)
  check(1, "busy", { retryOnBusy: false }, false)
  check(1, "no_answer", { retryOnBusy: false }, true)
  check(1, "voicemail", { retryOnVoicemail: false }, false)
  check(1, "busy", { enabled: false }, false)
})

t.test("given any outcomes, then a contact is never dialed more than N + 1 times, and never after an answer", async () => {
  const config = fc.record({
    enabled: fc.boolean(),
    maxRetries: fc.nat(10),
    retryDelaySeconds: fc.nat(3600),
    retryOnBusy: fc.boolean(),
    retryOnNoAnswer: fc.boolean(),
    retryOnVoicemail: fc.boolean()
  })
  forAllOf(
    { numRuns: 2000 },
    config,
    fc.array(fc.constantFrom(...Outcome.literals), { minLength: 12, maxLength: 12 }),
    (config, outcomes) => {
      let attempts = 0
      for (const outcome of outcomes) {
        attempts++
        const decision = decide({ outcome, retriesUsed: attempts - 1, config, endedAt: attempts })
        if (decision._tag === "Final") return (decision.contact === "completed") === (outcome === "answered")
        if (
          outcome !== decision.reason ||
          decision.dueAt < attempts ||
          !stillAllowed({ retriesUsed: attempts, reason: decision.reason, config })
        )
          return false
        if (attempts > config.maxRetries || !config.enabled) return false
      }
      return false
    }
  )
})

t.test("given a slot on a day of changing clocks, then it is open at these instants and at no others of that day", async (t) => {
  /** Every open window that begins in the day and a half around, found by going from edge to edge. */
  const check = (
    timezone: string,
    from: string,
    slots: ReadonlyArray<ScheduleSlot>,
    expected: ReadonlyArray<readonly [string, string]>
  ) => {
    const schedule = compile(weekly(timezone, ...slots))
    const windows: Array<readonly [string, string]> = []
    let state = schedule.stateAt(at(from))
    t.equal(state.open, false, "closed at first")
    while (!state.open && state.opensAt !== undefined && state.opensAt < at(from) + 30 * hour) {
      const { opensAt } = state
      const inside = schedule.stateAt(opensAt)
      if (!inside.open || inside.closesAt === undefined) return t.fail("an opening that is none")
      windows.push([new Date(opensAt).toISOString().slice(0, 16), new Date(inside.closesAt).toISOString().slice(0, 16)])
      state = schedule.stateAt(inside.closesAt)
    }
    return t.strictSame(windows, expected, `${timezone} ${slots.map((each) => `${each.startTime}-${each.endTime}`).join()}`)
  }
  const sunday = (start: string, end: string) => [slot(6, start, end)]
  const newYork = "America/New_York"
  check(newYork, "2026-03-08T04:00", sunday("02:30", "03:30"), [["2026-03-08T07:00", "2026-03-08T07:30"]])
  check(newYork, "2026-03-08T04:00", sunday("02:00", "03:00"), [])
  check(newYork, "2026-03-08T04:00", sunday("01:30", "02:30"), [["2026-03-08T06:30", "2026-03-08T07:00"]])
  check(newYork, "2026-03-08T04:00", sunday("09:00", "17:00"), [["2026-03-08T13:00", "2026-03-08T21:00"]])
  check(newYork, "2026-03-08T04:00", sunday("00:00", "24:00"), [["2026-03-08T05:00", "2026-03-09T04:00"]])
  check(newYork, "2026-11-01T03:00", sunday("01:00", "02:00"), [["2026-11-01T05:00", "2026-11-01T07:00"]])
  check(newYork, "2026-11-01T03:00", sunday("01:30", "02:00"), [
    ["2026-11-01T05:30", "2026-11-01T06:00"],
    ["2026-11-01T06:30", "2026-11-01T07:00"]
  ])
  check(newYork, "2026-11-01T03:00", sunday("01:30", "02:30"), [
    ["2026-11-01T05:30", "2026-11-01T06:00"],
    ["2026-11-01T06:30", "2026-11-01T07:30"]
  ])
  check(newYork, "2026-11-01T03:00", sunday("09:00", "17:00"), [["2026-11-01T14:00", "2026-11-01T22:00"]])
  check(newYork, "2026-11-01T03:00", sunday("00:00", "24:00"), [["2026-11-01T04:00", "2026-11-02T05:00"]])
  check("Europe/London", "2026-03-28T22:00", sunday("00:30", "01:30"), [["2026-03-29T00:30", "2026-03-29T01:00"]])
  check("Australia/Lord_Howe", "2026-10-03T12:00", sunday("02:00", "03:00"), [["2026-10-03T15:30", "2026-10-03T16:00"]])
  check("Australia/Lord_Howe", "2026-04-04T12:00", sunday("01:30", "02:00"), [["2026-04-04T14:30", "2026-04-04T15:30"]])
  check("Asia/Kathmandu", "2026-03-01T20:00", [slot(0, "09:00", "09:15")], [["2026-03-02T03:15", "2026-03-02T03:30"]])
  check("Pacific/Auckland", "2026-03-01T12:00", [slot(0, "09:00", "10:00")], [["2026-03-01T20:00", "2026-03-01T21:00"]])
  // Samoa had no 30 December 2011, which would have been a Friday.
  check(
    "Pacific/Apia",
    "2011-12-30T09:00",
    [slot(4, "09:00", "17:00"), slot(5, "09:00", "10:00")],
    [["2011-12-30T19:00", "2011-12-30T20:00"]]
  )
})

t.test("given a schedule, then it knows whether it is open, and its next edge", async (t) => {
  const check = (config: ScheduleConfig | undefined, instant: string, expected: unknown) =>
    t.strictSame(stateAt(config, at(instant)), expected, instant)
  t.test("none, or one not enabled, is always open", async () => {
    check(undefined, "2026-03-02T00:00", { open: true, closesAt: undefined })
    check({ enabled: false, timezone: "Nowhere/At_All", slots: [] }, "2026-03-02T00:00", { open: true, closesAt: undefined })
  })
  t.test("one without a usable slot or a known zone never opens", async (t) => {
    check(weekly("UTC"), "2026-03-02T00:00", { open: false, opensAt: undefined })
    check(weekly("UTC", slot(0, "17:00", "09:00")), "2026-03-02T00:00", { open: false, opensAt: undefined })
    check(weekly("Nowhere/At_All", slot(0, "00:00", "24:00")), "2026-03-02T12:00", { open: false, opensAt: undefined })
    t.equal(compile(weekly("Nowhere/At_All")).isZoneKnown, false)
    t.equal(compile(weekly("Europe/Paris")).isZoneKnown, true)
  })
  t.test("start is inclusive, end is exclusive, 0 is Monday", async () => {
    const monday = weekly("UTC", slot(0, "09:00", "17:00"))
    check(monday, "2026-03-02T08:59:59.999", { open: false, opensAt: at("2026-03-02T09:00") })
    check(monday, "2026-03-02T09:00", { open: true, closesAt: at("2026-03-02T17:00") })
    check(monday, "2026-03-02T16:59:59.999", { open: true, closesAt: at("2026-03-02T17:00") })
    check(monday, "2026-03-02T17:00", { open: false, opensAt: at("2026-03-09T09:00") })
    check(weekly("UTC", slot(6, "09:00", "17:00")), "2026-03-01T12:00", { open: true, closesAt: at("2026-03-01T17:00") })
  })
  t.test("adjacent and overlapping slots are one window, also over Sunday midnight", async () => {
    const night = weekly("UTC", slot(6, "22:00", "24:00"), slot(0, "00:00", "02:00"), slot(0, "01:00", "03:00"), slot(0, "01:00", "03:00"))
    check(night, "2026-03-01T23:00", { open: true, closesAt: at("2026-03-02T03:00") })
    check(night, "2026-03-02T02:30", { open: true, closesAt: at("2026-03-02T03:00") })
    const allWeek = weekly("Europe/Paris", ...[0, 1, 2, 3, 4, 5, 6].map((each) => slot(each, "00:00", "24:00")))
    check(allWeek, "2026-03-29T01:00", { open: true, closesAt: undefined })
  })
  t.test("a slot inside the skipped hour opens a fortnight later", async () => {
    check(weekly("America/New_York", slot(6, "02:00", "03:00")), "2026-03-01T08:00", { open: false, opensAt: at("2026-03-15T06:00") })
  })
})

t.test("given a schedule of a client, then everything wrong in it is named", async (t) => {
  const check = (config: ScheduleConfig, expected: ReadonlyArray<string>) =>
    t.strictSame(
      validate(config).map(({ message, path }) => `${path.join(".")}: ${message}`),
      expected
    )
  check(weekly("Europe/Berlin", slot(0, "00:00", "24:00"), slot(6, "23:58", "23:59")), [])
  check(weekly("US/Eastern", slot(0, "00:00", "24:00")), [])
  check(weekly("Mars/Olympus"), ["timezone: Invalid timezone: Mars/Olympus"])
  check(weekly("+02:00"), ["timezone: Invalid timezone: +02:00"])
  check(weekly("UTC", slot(0, "09:00", "17:00"), slot(1, "17:00", "17:00")), ["slots.1: start_time must be before end_time"])
  check(weekly("UTC", slot(0, "22:00", "02:00")), ["slots.0: start_time must be before end_time"])
  check(weekly("UTC", slot(7, "99:99", "9:00")), [
    "slots.0.dayOfWeek: day_of_week must be 0 (Monday) to 6 (Sunday)",
    "slots.0.startTime: start_time must be a time from 00:00 to 23:59",
    "slots.0.endTime: end_time must be a time from 00:00 to 24:00"
  ])
  check(weekly("UTC", slot(1.5, "24:00", "24:01")), [
    "slots.0.dayOfWeek: day_of_week must be 0 (Monday) to 6 (Sunday)",
    "slots.0.startTime: start_time must be a time from 00:00 to 23:59",
    "slots.0.endTime: end_time must be a time from 00:00 to 24:00"
  ])
  t.equal(isTimeZone("Asia/Kathmandu"), true)
  t.equal(isTimeZone(""), false)
})

t.test("given any schedule, then it is open when the local clock says so, and its edges are exact", async () => {
  const zones =
    "UTC America/New_York Europe/London Australia/Lord_Howe Pacific/Apia Asia/Kathmandu Africa/Casablanca America/St_Johns".split(" ")
  const names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  const isOpenOnTheWall = (config: ScheduleConfig, instant: number) => {
    const wall = new Intl.DateTimeFormat("en-GB", {
      timeZone: config.timezone,
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23"
    })
    const part = Object.fromEntries(wall.formatToParts(instant).map(({ type, value }) => [type, value]))
    const time = `${part.hour}:${part.minute}`
    return config.slots.some((each) => names[each.dayOfWeek] === part.weekday && each.startTime <= time && time < each.endTime)
  }
  const clock = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`
  const anySlot = fc
    .tuple(fc.nat(6), fc.nat(1439), fc.integer({ min: 1, max: 1440 }))
    .filter(([, start, end]) => start < end)
    .map(([dayOfWeek, start, end]) => slot(dayOfWeek, clock(start), clock(end)))
  const config = fc
    .tuple(fc.constantFrom(...zones), fc.array(anySlot, { minLength: 1, maxLength: 6 }))
    .map(([zone, slots]) => weekly(zone, ...slots))
  // Around the changes of clocks in 2026, and anywhere from 2005 to 2035.
  const changes =
    "2026-03-08T07:00 2026-11-01T06:00 2026-03-29T01:00 2026-10-25T01:00 2026-10-03T15:30 2026-04-04T15:00 2011-12-30T10:00".split(" ")
  const instant = fc.oneof(
    fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -2 * day, max: 2 * day })).map(([iso, off]) => at(iso) + off),
    fc.integer({ min: at("2005-01-01T00:00"), max: at("2035-01-01T00:00") })
  )
  const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 20, size: "max" })
  forAllOf(
    { seed: 2, numRuns: 400 },
    config,
    fc.array(instant, { minLength: 1, maxLength: 4 }),
    fractions,
    (config, instants, fractions) => {
      const schedule = compile(config)
      return instants.every((instant) => {
        const state = schedule.stateAt(instant)
        const edge = state.open ? state.closesAt : state.opensAt
        const until = edge ?? instant + 14 * day
        return (
          state.open === isOpenOnTheWall(config, instant) &&
          (edge === undefined ||
            (edge > instant && isOpenOnTheWall(config, edge) !== state.open && isOpenOnTheWall(config, edge - 1) === state.open)) &&
          fractions.every((fraction) => isOpenOnTheWall(config, instant + Math.floor((until - instant) * fraction)) === state.open) &&
          fractions.every((fraction) => {
            const later = schedule.stateAt(instant + Math.floor((until - instant) * fraction))
            return edge === undefined || (later.open ? later.closesAt : later.opensAt) === edge
          })
        )
      })
    }
  )
})

t.test("given a window of calls, then the breaker trips, or not", async (t) => {
  const config = { enabled: true, failureThreshold: 0.5, windowSeconds: 120, minCallsInWindow: 5 }
  const check = (failures: number, total: number, settings: Partial<typeof config>, expected: boolean) =>
    t.equal(isTripped({ failures, total, config: { ...config, ...settings } }), expected, `${failures}/${total}`)
  check(2, 5, {}, false)
  check(3, 6, {}, true)
  check(4, 4, {}, false)
  check(5, 5, {}, true)
  check(5, 5, { enabled: false }, false)
  check(0, 9, { failureThreshold: 0 }, false)
  check(1, 9, { failureThreshold: 0 }, true)
  check(8, 9, { failureThreshold: 1 }, false)
  check(9, 9, { failureThreshold: 1 }, true)
  check(0, 0, { minCallsInWindow: 0 }, false)

  t.strictSame(resolve(undefined), { ...config, enabled: false })
  t.strictSame(resolve({}), config)
  t.strictSame(resolve({ enabled: false, windowSeconds: 60 }), { ...config, enabled: false, windowSeconds: 60 })
})
