/**
 * Two engines whose clocks are wrong by five seconds each, in opposite directions: windows, retries, rates and the proof of who decides follow the
 * database's clock, or no clock at all. Judged by the callees' log, on the clock of the test.
 */
import t, { type Test } from "tap"
import { mostWithin } from "#test/emulators/shared/CalleeLog.ts"
import { startCallNode } from "#test/support/callNode.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { attemptsOf, nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { wrote } from "#test/support/EngineProcess.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { leftAt } from "#test/support/leftAt.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 2

const wrongMillis = 5000
const MINUTE = 60_000
const rate = 5
const retryMillis = 8000
/** How much the clocks of the database and of the test may differ, as they are read by different calls of the system. */
const apartMillis = 50

/** Closed for the minute from `closes` to `opens`, and open otherwise, in a time zone where it is about noon. */
const schedule = (closes: number, opens: number) => {
  const ahead = 12 - new Date(closes).getUTCHours()
  const timeOf = (at: number) => new Date(at + ahead * 60 * MINUTE).toISOString().slice(11, 16)
  const slots = [0, 1, 2, 3, 4, 5, 6].flatMap((day_of_week) => [
    { day_of_week, end_time: timeOf(closes), start_time: "00:00" },
    { day_of_week, end_time: "24:00", start_time: timeOf(opens) }
  ])
  // The signs of these zones are reversed: Etc/GMT-5 is five hours ahead.
  return { enabled: true, slots, timezone: `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}` }
}

/** An engine that decides and another one, of which the first is ahead by so much and the second behind, or the other way around. */
const open = async (t: Test, aheadMillis: number) => {
  const environment = { ...(await sharing(t)), CALL_RATE: String(rate), ORG_CONCURRENCY: "50", TAKEOVER_AFTER: "10" }
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 500 },
    environment: { ...environment, CLOCK_WRONG: String(aheadMillis) }
  })
  const folder = temporaryFolder(t)
  const node = await startCallNode(t, world, "left", { CLOCK_WRONG: String(-aheadMillis), DATA_DIR: folder })
  return { dataDirs: [world.dataDir, folder], node, world }
}

/** How long after the end of each call its callee was called again. */
const gapsOf = ({ emulator: { log } }: World, numbers: ReadonlyArray<string>) =>
  numbers.flatMap((number) => {
    const calls = log.of(number)
    const [, again] = calls.filter(({ kind }) => kind === "originate")
    const ended = calls.find(({ kind }) => kind === "ended")
    return again === undefined || ended === undefined ? [] : [again.at - ended.at]
  })

for (const aheadMillis of variantsOfRun([wrongMillis, -wrongMillis], 1)) {
  const [decides, carries] = aheadMillis > 0 ? ["ahead", "behind"] : ["behind", "ahead"]
  t.test(
    `given an engine that decides whose clock is ${decides}, and another one whose clock is ${carries}`,
    { buffered: true },
    async (t) => {
      const { dataDirs, node, world } = await open(t, aheadMillis)
      const { emulator, sql } = world
      await wrote(world, "the clock of this machine is not that of the database")
      await wrote(node, "the clock of this machine is not that of the database")
      const busy = numbersOf(20, ["02"], "+1556")
      // Far enough for both engines to have calls before.
      const closes = Math.ceil((nowMillis() + 4 * wrongMillis) / MINUTE) * MINUTE
      const opens = closes + MINUTE
      const bounded = await world.campaign(numbersOf(1000, ["01"]), { rate_limit: 2, schedule_config: schedule(closes, opens) })
      const retried = await world.campaign(busy, { rate_limit: 2, retry: { retryDelaySeconds: retryMillis / 1000, retryOnBusy: true } })
      const lateness = watchLateness()
      await world.api.start(bounded.id)
      await world.api.start(retried.id)
      await world.api.untilState(retried.id, "completed")
      const dials = () => emulator.log.entries.filter(({ kind, number }) => kind === "originate" && number.startsWith("+1555"))
      await untilTrue("dials after the window has opened again", () => dials().filter(({ at }) => at > opens + wrongMillis).length > 4)
      await world.api.pause(bounded.id)

      const within = dials().filter(({ at }) => at > closes + lateness.worst() + apartMillis && at < opens - apartMillis)
      t.strictSame(within, [], "then nothing is dialed outside the window")
      const atEdges = [closes - wrongMillis, opens].map((from) => dials().filter(({ at }) => at >= from && at < from + wrongMillis).length)
      t.ok(Math.min(...atEdges) > 0, `and it is used from edge to edge: ${atEdges.join(" and ")} calls in the seconds next to them`)
      const gaps = gapsOf(world, busy)
      t.equal(gaps.length, busy.length, "each callee who was busy is called again")
      const shortest = Math.min(...gaps)
      t.ok(shortest >= retryMillis - apartMillis, `and none too early: after ${Math.round(shortest)} ms at least`)
      const typical = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0
      t.ok(typical < retryMillis + lateness.allow(wrongMillis), `nor as late as a clock is wrong: after ${Math.round(typical)} ms`)

      const departures = [...leftAt(dataDirs).values()].toSorted((a, b) => a - b)
      t.ok(mostWithin(departures, 1000) <= rate, `and no second has more than ${rate} calls: ${mostWithin(departures, 1000)}`)
      const carriers = await sql<Array<{ node: string }>>`SELECT DISTINCT node FROM attempts WHERE state = 'ended' ORDER BY node`
      t.strictSame(
        carriers.map((row) => row.node),
        ["journey", "left"],
        "both engines carry calls"
      )
      t.notMatch(world.output() + node.output(), /has lost its lock|this engine takes over/, "and none takes another one for dead")
      const unclear = (await attemptsOf(sql, retried.id)).filter(({ outcome, state }) => state !== "void" && outcome !== "busy")
      t.strictSame(unclear, [], "and what became of each is known")
    }
  )
}
