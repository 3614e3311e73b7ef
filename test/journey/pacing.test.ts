/** When a campaign dials and when it does not: pauses, windows, the circuit breaker, and campaigns that share the slots of an organization. */
import t, { type Test } from "tap"
import { attemptsOf, contactStates, judge, nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { leftAfter, momentNow, mostLeftInASecond } from "#test/support/leftAt.ts"

const dialsOf = ({ emulator }: World) => emulator.log.entries.filter(({ kind }) => kind === "originate")
/** Slows down claims, so that many calls are between their claim and their request when a pause comes. */
const slowClaims = ({ sql }: World) =>
  sql.unsafe(`
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.15); RETURN NULL; END';
    CREATE TRIGGER slow BEFORE INSERT ON attempts FOR EACH STATEMENT EXECUTE FUNCTION slow()`)
const quiet = (world: World) => untilTrue("end of all calls", () => world.emulator.log.live() === 0)

/** Milliseconds from the answer to the resume until the next dial. */
const pauseAndResume = async (t: Test, world: World, id: number): Promise<number> => {
  await world.api.pause(id)
  const paused = await momentNow()
  await quiet(world)
  t.strictSame(leftAfter([world.dataDir], dialsOf(world), paused), [], "then nothing is dialed once the pause is answered")
  await untilTrue("nobody who is left half-way", async () => !("dialing" in (await contactStates(world.sql, id))))
  const before = dialsOf(world).length
  await world.api.resume(id)
  const [resumedAt, lateness] = [nowMillis(), watchLateness()]
  await world.seen("originate", before + 1)
  const millis = Math.round((dialsOf(world)[before]?.at ?? 0) - resumedAt)
  t.ok(millis < lateness.allow(1000), `then it dials again within a second: ${millis} ms`)
  return millis
}

t.test("given a campaign of twenty dials a second, when it is paused and resumed again and again", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 300 },
    environment: { CALL_RATE: "20", ORG_CONCURRENCY: "50", RECORDINGS: "off" }
  })
  const { api, sql } = world
  const numbers = numbersOf(150, ["01"])
  const { id } = await world.campaign(numbers)
  await api.start(id)
  const firstDials: Array<number> = []
  for (const dialed of [20, 45, 70]) {
    await world.seen("originate", dialed)
    firstDials.push(await pauseAndResume(t, world, id))
  }
  t.comment(`first dial after the resume was answered, in ms: ${firstDials.join(", ")}`)
  await slowClaims(world)
  for (const dialed of [90, 105, 120]) {
    await world.seen("originate", dialed)
    await pauseAndResume(t, world, id)
  }
  await api.untilState(id, "completed")
  const called = dialsOf(world).map(({ number }) => number)
  t.strictSame(called.toSorted(), [...numbers], "then nobody is skipped, and nobody called twice")
  t.equal((await attemptsOf(sql, id)).filter(({ outcome }) => outcome === "answered").length, numbers.length, "then all are reached")
  t.ok(mostLeftInASecond(world) <= 20, `then the rate holds: ${mostLeftInASecond(world)} in a second`)
  await judge(t, world, id, 50)
})

/**
 * Over a hundred dials, from when all campaigns have begun: the average number of calls of each that were up, and how many of the dials were its own.
 */
const shares = (world: World, prefixes: ReadonlyArray<string>) => {
  const counts = prefixes.map(() => ({ calls: 0, dials: 0, live: 0, hasBegun: false }))
  let dials = 0
  for (const { kind, number } of world.emulator.log.entries) {
    const own = counts[prefixes.findIndex((prefix) => number.startsWith(prefix))]
    if (own === undefined || (kind !== "originate" && kind !== "ended")) continue
    own.live += kind === "originate" ? 1 : -1
    own.hasBegun = true
    if (kind !== "originate" || counts.some(({ hasBegun }) => !hasBegun) || ++dials > 100) continue
    own.dials++
    for (const count of counts) count.calls += count.live
  }
  return counts.map((count) => ({ calls: count.calls / Math.min(dials, 100), dials: count.dials }))
}

t.test("given ten slots for campaigns and one more, when two campaigns and single calls compete for them", async (t) => {
  const world = await World.open(t, {
    configurations: { max_call_duration: 3 },
    emulator: { ringMillis: 100, seed: 5, talkMillis: 500 },
    environment: { ORG_CONCURRENCY: "11", RECORDINGS: "off" }
  })
  const { api } = world
  await world.sql`UPDATE organizations SET concurrency_reserve = 1`
  const prefixes = ["+1555", "+1666"]
  const campaigns = await Promise.all(prefixes.map((prefix) => world.campaign(numbersOf(160, ["01"], prefix))))
  for (const { id } of campaigns) await api.start(id)
  await world.seen("originate", 110)

  const singles = numbersOf(12, ["11"], "+1777")
  const answers = await Promise.all(singles.map((number) => api.call(world.agentUuid, number)))
  const placed = answers.filter(({ status }) => status === 200).length
  t.ok(placed > 0, `then single calls get through: ${placed} of ${singles.length}`)
  // A call that has its slot may wait in vain until it may leave, on a busy machine.
  const others = answers.filter(({ body, status }) => status !== 200 && !JSON.stringify(body).includes("try again in"))
  t.strictSame([...new Set(others.map(({ status }) => status))], [429], "then the others are told that there is no slot")

  for (const { id } of campaigns) await api.untilState(id, "completed")
  await quiet(world)
  const [one, other] = shares(world, prefixes)
  const calls = (one?.calls ?? 0) - (other?.calls ?? 0)
  t.ok(Math.abs(calls) <= 2, `then the campaigns share evenly: on average, one has ${calls.toFixed(1)} live calls more`)
  const dials = [one?.dials ?? 0, other?.dials ?? 0]
  t.ok(Math.abs((dials[0] ?? 0) - 50) <= 10, `then of a hundred dials each has about half: ${dials.join(" and ")}`)
  for (const { id } of campaigns) await judge(t, world, id, 11)
  t.equal(dialsOf(world).filter(({ number }) => number.startsWith("+1777")).length, placed, "then no refused call was dialed")
})
