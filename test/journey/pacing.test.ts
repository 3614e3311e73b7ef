/** A campaign at full speed that is paused: nothing is dialed once the pause is answered, and everybody once it is resumed. */
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
  const numbers = numbersOf(75, ["01"])
  const { id } = await world.campaign(numbers)
  await api.start(id)
  const firstDials: Array<number> = []
  for (const dialed of [10, 25]) {
    await world.seen("originate", dialed)
    firstDials.push(await pauseAndResume(t, world, id))
  }
  t.comment(`first dial after the resume was answered, in ms: ${firstDials.join(", ")}`)
  await slowClaims(world)
  for (const dialed of [40, 50]) {
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
