/** The machine's clock is set while calls are up and campaigns dial: only calling windows and due times may be affected. */
import t from "tap"
import { attemptsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { mostLeftInASecond } from "#test/support/leftAt.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Less than the smallest step, and more than a busy machine needs. */
const AT_ONCE_MILLIS = 50_000

const dialsOf = ({ emulator }: World) => emulator.log.entries.filter(({ kind }) => kind === "originate")
const longestGap = (times: ReadonlyArray<number>) => Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at)))

t.test("given a campaign that dials, when the clock is set forward and back, then it keeps dialing at its rate", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 50, talkMillis: 100 },
    environment: { CALL_RATE: "10", ORG_CONCURRENCY: "50", RECORDINGS: "off" }
  })
  const { api, emulator, engine } = world
  const { id } = await world.campaign(numbersOf(120, ["01"]))
  await api.start(id)
  for (const [dialed, step] of [
    [20, HOUR],
    [40, -MINUTE],
    [60, -HOUR],
    [80, 3 * HOUR]
  ] as const) {
    await world.seen("originate", dialed)
    engine.stepClock(step)
    const before = performance.now()
    const [number = ""] = numbersOf(1, ["01"], `+1777${dialed}`)
    const { status } = await api.call(world.agentUuid, number)
    t.equal(status, 200)
    await untilTrue("the single call", () => emulator.log.of(number).length > 0, AT_ONCE_MILLIS)
    t.comment(`a step of ${step / 1000} s, and the single call left after ${Math.round(performance.now() - before)} ms`)
  }
  await api.untilState(id, "completed")
  const at = dialsOf(world)
    .filter(({ number }) => number.startsWith("+1555"))
    .map(({ at }) => at)
  t.ok(longestGap(at) < AT_ONCE_MILLIS, `then it never stops: the longest pause was ${Math.round(longestGap(at))} ms`)
  t.equal(new Set(dialsOf(world).map(({ number }) => number)).size, 124, "then everybody is called")
  t.ok(mostLeftInASecond(world) <= 11, `then the rate holds: ${mostLeftInASecond(world)} in a second`)
})

t.test("given a window, when the clock is set into it and out of it, then dialing starts and stops", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 50, talkMillis: 100 },
    environment: { CALL_RATE: "5", RECORDINGS: "off" }
  })
  const { api, engine } = world
  const tomorrow = (new Date().getUTCDay() + 6 + 1) % 7
  const toTomorrow = 24 * HOUR
  const slots = [{ day_of_week: tomorrow, start_time: "00:00", end_time: "24:00" }]
  const { id } = await world.campaign(numbersOf(40, ["01"]), { schedule_config: { slots, timezone: "UTC" } })
  await api.start(id)
  await untilTrue("word of the window", async () => (await api.campaign(id)).logs.at(-1)?.event === "schedule_window_closed")
  t.equal(dialsOf(world).length, 0)
  engine.stepClock(toTomorrow)
  await world.seen("originate", 10, AT_ONCE_MILLIS)
  engine.stepClock(-toTomorrow)
  await untilTrue("word of the window", async () => (await api.campaign(id)).logs.at(-1)?.event === "schedule_window_closed")
  const dialed = dialsOf(world).length
  t.ok(dialed < 40, `then it has stopped at ${dialed}`)
  engine.stepClock(toTomorrow)
  await world.seen("originate", dialed + 1, AT_ONCE_MILLIS)
})

t.test("given a retry that is due in an hour, when the clock is set an hour forward, then it is dialed", async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 50 }, environment: { RECORDINGS: "off" } })
  const { id } = await world.campaign(numbersOf(1, ["02"]), { retry: { retryDelaySeconds: 3600 } })
  await world.api.start(id)
  await untilTrue("the retry", async () => (await attemptsOf(world.sql, id))[0]?.contact === "retry_wait")
  world.engine.stepClock(HOUR + MINUTE)
  await world.seen("originate", 2, AT_ONCE_MILLIS)
  await world.api.untilState(id, "completed")
  await judge(t, world, id, 1)
})
