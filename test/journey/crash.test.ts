/**
 * The engine is killed without warning, and started again. Whatever it was doing: nobody is called twice for one attempt, nobody is forgotten,
 * there are never too many calls at once, and the counters are right.
 */
import t, { type Test } from "tap"
import { dialPoints } from "#runtime/call/DialPoint.ts"
import type { ResponseFault } from "#test/emulators/ari/AriEmulator.ts"
import type { Environment } from "#test/support/EngineProcess.ts"
import { aloud, attemptsOf, eventsOf, judge, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { untilTrunkUp } from "#test/support/trunkUp.ts"

t.setTimeout(1_800_000)
// Most of each story is waiting until a call that cannot be found is written off.
t.jobs = 4

const slots = 10
const endings = ["01", "01", "02", "10", "06", "01", "13", "05"]

const given = async (t: Test, contacts: number, environment: Environment = {}, greeting = "") => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 1000, seed: 3, talkMillis: 1500 },
    greeting,
    environment: { ORG_CONCURRENCY: "50", RECORDINGS: "off", ...environment }
  })
  const { id } = await world.campaign(numbersOf(contacts, endings), { max_concurrency: slots })
  return { world, id }
}

/** Each time with a clock that is set half a minute further ahead, because the time at which doubts end must not depend on it. */
const launchLater = (world: World, times = 1) => world.launch({ CLOCK_AHEAD: String(times * awayMillis), CRASH_AT: "" })

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

const points = [...dialPoints.filter((point) => point !== "refused").entries()]
for (const [index, point] of variantsOfRun(points, 3)) {
  t.test(`given a campaign, when the engine dies at "${point}" and comes back`, { buffered: true }, async (t) => {
    const { id, world } = await given(t, 28, { CRASH_AT: point, CRASH_AFTER: String(5 + index) })
    await world.api.start(id)
    t.equal((await world.engine.exited).signal, "SIGKILL")
    await launchLater(world)
    const done = await thenAllIsWell(t, world, id)
    t.equal(eventsOf(done)["recovery_completed"], 1)
  })
}

t.test("given a request that has just been refused, when the engine dies before anything comes of that", { buffered: true }, async (t) => {
  const { id, world } = await given(t, 28, { CRASH_AT: "refused" })
  world.emulator.setResponseFault("allocation-failed", 1)
  await world.api.start(id)
  t.equal((await world.engine.exited).signal, "SIGKILL")
  await launchLater(world)
  await thenAllIsWell(t, world, id)
  const refused = world.emulator.requests.filter(({ fault }) => fault === "allocation-failed").map(({ channelId }) => channelId)
  const attempts = (await attemptsOf(world.sql, id)).filter((attempt) => refused.includes(attempt.id))
  const ends = attempts.map(({ outcome, state }) => ({ outcome, state }))
  t.strictSame(ends, [{ outcome: null, state: "void" }], "then it is certain that nobody was called")
})

const lost: ReadonlyArray<ResponseFault> = ["hang-after-placing", "hang-before-placing"]
for (const fault of variantsOfRun(lost, 1)) {
  t.test(`given requests under way (${fault}), when the engine dies and comes back`, { buffered: true }, async (t) => {
    const { id, world } = await given(t, 28)
    world.emulator.setResponseFault(fault, 3)
    await world.api.start(id)
    await untilTrue("requests without an answer", async () => {
      const sent = (await attemptsOf(world.sql, id)).filter(({ state }) => state === "sent")
      return sent.length >= 3
    })
    await world.end("SIGKILL")
    await world.launch()
    const done = await thenAllIsWell(t, world, id)
    t.equal(eventsOf(done)["recovery_completed"], 1)
  })
}

t.test("given phones that ring, when the engine dies and comes back before they are answered", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 300, talkMillis: 1000, talkOnceHeard: true },
    environment: { ORG_CONCURRENCY: "50", RECORDINGS: "off", RING_TIMEOUT: "300" }
  })
  const { id } = await world.campaign(numbersOf(2 * slots, ["01"]), { max_concurrency: slots })
  // However long the engine takes to come back on this machine, nobody answers before.
  world.emulator.letRing(true)
  await world.api.start(id)
  await world.seen("ringing", slots)
  await world.end("SIGKILL")
  await world.launch()
  await untilTrunkUp(world)
  world.emulator.letRing(false)
  const done = await thenAllIsWell(t, world, id)
  t.equal(done.failed_rows, 0, "then those calls continue")
  t.equal(world.emulator.log.firstSpoken().length, 2 * slots, "and their callees hear the agent")
})

t.test("given calls that are up, when the engine dies and comes back", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 300 },
    environment: { ORG_CONCURRENCY: "50" }
  })
  const { id } = await world.campaign(numbersOf(2 * slots, ["11"]), { max_concurrency: slots })
  await world.api.start(id)
  await untilTrue(
    "calls that are up",
    async () => (await attemptsOf(world.sql, id)).filter(({ state }) => state === "answered").length === slots
  )
  await world.end("SIGKILL")
  await world.sql`UPDATE agent_definitions SET configurations = '{"max_call_duration": 3}'`
  await world.launch()
  await thenAllIsWell(t, world, id)
  // On a busy machine, a claim of the second process may come too late to leave.
  const dialed = (await attemptsOf(world.sql, id)).filter(({ state }) => state !== "void")
  const causes = dialed.map(({ cause, outcome }) => `${outcome}: ${cause}`)
  const expected = [...new Array<string>(slots).fill("error: node_lost"), ...new Array<string>(slots).fill("answered: duration_exceeded")]
  t.strictSame(causes, expected, "then they are hung up, and distinguished from the calls of the second process")
})

/** mulberry32 */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

for (const seed of variantsOfRun([11, 12], 1)) {
  t.test(`given a campaign, when the engine dies three times at random moments (seed ${seed})`, { buffered: true }, async (t) => {
    const { id, world } = await given(t, 60, {}, aloud)
    const chance = seeded(seed)
    await world.api.start(id)
    for (let deaths = 0; deaths < 3; deaths++) {
      const { entries } = world.emulator.log
      const next = entries.length + 1 + Math.floor(chance() * 40)
      await until("moment of death", () => entries[next])
      await world.end("SIGKILL")
      await launchLater(world, deaths + 1)
    }
    const done = await thenAllIsWell(t, world, id)
    t.equal(eventsOf(done)["recovery_completed"], 3)
  })
}
