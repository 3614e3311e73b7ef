/**
 * The engine is killed without warning, and started again. Whatever it was doing: nobody is called twice for one attempt, nobody is forgotten,
 * there are never too many calls at once, and the counters are right.
 */
import t, { type Test } from "tap"
import { dialPoints } from "#runtime/call/DialPoint.ts"
import type { ResponseFault } from "#test/emulators/ari/AriEmulator.ts"
import { attemptsOf, eventsOf, judge, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { untilTrunkUp } from "#test/support/trunkUp.ts"

t.setTimeout(1_800_000)
t.jobs = 2

const slots = 10
const awayMillis = 30_000

const thenAllIsWell = async (t: Test, world: World, id: number) => {
  const done = await world.api.untilState(id, "completed")
  await untilTrue("last hang-up", () => world.emulator.log.live() === 0)
  await judge(t, world, id, slots)
  const attempts = await attemptsOf(world.sql, id)
  const dialed = new Set(world.emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ channelId }) => channelId))
  const forgotten = attempts.filter((attempt) => attempt.state === "ended" && attempt.outcome !== "unknown" && !dialed.has(attempt.id))
  t.strictSame(forgotten, [], "only what nobody can know is told of calls that no callee saw")
  const unknown = attempts.filter(({ outcome }) => outcome === "unknown").length
  t.equal(eventsOf(done)["attempt_written_off"] ?? 0, unknown, "each written-off attempt is in the log")
  const mended = /a campaign's counters had to be mended|had no actor|had no owner|slept although/.exec(world.output())
  t.equal(mended?.[0], undefined, "nothing had to be mended")
  t.comment(`${attempts.length} attempts, ${unknown} written off, ${attempts.filter(({ state }) => state === "void").length} void`)
  return done
}

/** How an engine dies, given what it finds when it starts. */
interface Death {
  readonly name: string
  readonly crashAt?: string
  readonly fault?: ResponseFault
}
const deaths: ReadonlyArray<Death> = [
  ...dialPoints.map(
    (point): Death => ({ name: `at "${point}"`, crashAt: point, ...(point === "refused" ? { fault: "allocation-failed" } : {}) })
  ),
  { name: "while replies are lost to calls that were placed", fault: "hang-after-placing" },
  { name: "while replies are lost to calls that were not placed", fault: "hang-before-placing" }
]

t.test("given a campaign, when the engine dies at every point of the dialing and comes back", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 1000, seed: 3, talkMillis: 1500 },
    environment: { ORG_CONCURRENCY: "50", RECORDINGS: "off" }
  })
  const { emulator, sql } = world
  const { id } = await world.campaign(numbersOf(90, ["01", "01", "02", "10", "06", "01", "13", "05"]), { max_concurrency: slots })
  await world.api.start(id)
  await world.seen("ringing", 3)
  for (const [index, { crashAt = "", fault, name }] of deaths.entries()) {
    await world.end("SIGKILL")
    if (fault !== undefined) emulator.setResponseFault(fault, crashAt === "" ? 2 : 1)
    // The clock is set half a minute further ahead each time, because the time at which doubts end must not depend on it.
    const CLOCK_AHEAD = String(index * awayMillis)
    if (crashAt === "") {
      await world.launch({ CLOCK_AHEAD })
      await untilTrue("requests without a reply", () => emulator.requests.filter((one) => one.fault === fault).length === 2)
    } else {
      // It may die before it is ready.
      const dying = world.spawn({ CLOCK_AHEAD, CRASH_AT: crashAt, CRASH_AFTER: fault === undefined ? "3" : "1" })
      t.equal((await dying.exited).signal, "SIGKILL", name)
      world.keep(dying)
    }
  }
  await world.end("SIGKILL")
  await world.launch({ CLOCK_AHEAD: String(deaths.length * awayMillis) })
  const done = await thenAllIsWell(t, world, id)
  t.equal(eventsOf(done)["recovery_completed"], deaths.length + 1)
  const refused = emulator.requests.filter(({ fault }) => fault === "allocation-failed").map(({ channelId }) => channelId)
  t.strictSame(
    (await attemptsOf(sql, id)).filter((attempt) => refused.includes(attempt.id)).map(({ outcome, state }) => ({ outcome, state })),
    [{ outcome: null, state: "void" }],
    "then it is certain that nobody was called by the request that was refused"
  )
})

t.test("given calls that ring and calls that are up, when the engine dies and comes back", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 300, talkMillis: 1000, talkOnceHeard: true },
    environment: { ORG_CONCURRENCY: "50", RECORDINGS: "off", RING_TIMEOUT: "300" }
  })
  const { emulator, sql } = world

  await t.test("before they are answered, then those calls continue", async (t) => {
    const { id } = await world.campaign(numbersOf(2 * slots, ["01"]), { max_concurrency: slots })
    // However long the engine takes to come back on this machine, nobody answers before.
    emulator.letRing(true)
    await world.api.start(id)
    await world.seen("ringing", slots)
    await world.end("SIGKILL")
    await world.launch()
    await untilTrunkUp(world)
    emulator.letRing(false)
    const done = await thenAllIsWell(t, world, id)
    t.equal(done.failed_rows, 0)
    t.equal(emulator.log.firstSpoken().length, 2 * slots, "and their callees hear the agent")
  })

  await t.test("during the conversations, then they are hung up, and distinguished from the calls of the second process", async (t) => {
    const { id } = await world.campaign(numbersOf(2 * slots, ["11"]), { max_concurrency: slots })
    await world.api.start(id)
    const up = async () => (await attemptsOf(sql, id)).filter(({ state }) => state === "answered").length
    await untilTrue("calls that are up", async () => (await up()) === slots)
    await world.end("SIGKILL")
    await sql`UPDATE agent_definitions SET configurations = '{"max_call_duration": 3}'`
    await world.launch()
    await thenAllIsWell(t, world, id)
    // On a busy machine, a claim of the second process may come too late to leave.
    const dialed = (await attemptsOf(sql, id)).filter(({ state }) => state !== "void")
    t.strictSame(
      dialed.map(({ cause, outcome }) => `${outcome}: ${cause}`),
      [...new Array<string>(slots).fill("error: node_lost"), ...new Array<string>(slots).fill("answered: duration_exceeded")]
    )
  })
})
