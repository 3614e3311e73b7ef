/** An engine that is killed again and again: nobody is lost, nobody is called twice, and dialing continues. Judged by the callees' log. */
import t from "tap"
import { killStory } from "#test/chaos/killStory.ts"
import { judge, nowMillis, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { dialsOf, thenKillsLeaveFewDoubts } from "#test/support/neverLeft.ts"

// One world at a time, because each takes up the whole machine while its engine starts.
t.jobs = 1

/** Shorter than the time of three lookups that are ten seconds apart. On a busy machine, a life is as many times as long as the start takes. */
const LIFE_MILLIS = 15_000
const STARTS = 3

// The short form of `npm run kills`.
t.test("given campaigns that share a fast trunk, when the engine is killed time and again", (t) =>
  killStory(t, { campaigns: 4, contacts: 30, dialsBetween: 25, kills: 2, seed: 5 })
)

t.test("given an engine that dies whenever its slots are full of calls that end while it is dead", async (t) => {
  const lives = 4
  const slots = 5
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 300, seed: 9, talkMillis: 500 },
    environment: { CALL_RATE: "10", ORG_CONCURRENCY: "100", RECORDINGS: "off", RING_TIMEOUT: "60" }
  })
  const { emulator } = world
  const { id } = await world.campaign(numbersOf(40, ["01"]), { max_concurrency: slots })
  emulator.letRing(true)
  await world.api.start(id)
  const signs: Array<string> = []
  let before = 0
  let startMillis = 0
  for (let life = 1; life <= lives; life++) {
    const [ready, lateness] = [nowMillis(), watchLateness()]
    const sign = await until("slots that are full again", () => {
      if (emulator.log.count("ringing") >= before + slots) return Math.round(nowMillis() - ready)
      return nowMillis() - ready > lateness.allow(Math.max(LIFE_MILLIS, STARTS * startMillis)) ? "none" : undefined
    })
    signs.push(String(sign))
    await world.end("SIGKILL")
    emulator.letRing(false)
    await untilTrue("ends that nobody hears", () => emulator.log.live() === 0)
    emulator.letRing(true)
    // Counted before the start, because an engine may have dialed by the time this process hears that it is ready.
    before = emulator.log.count("ringing")
    const launchedAt = nowMillis()
    await world.launch()
    startMillis = nowMillis() - launchedAt
  }
  emulator.letRing(false)
  t.comment(`from ready until the slots were full again: ${signs.join(", ")} ms`)
  // The bench `recovery` checks that three seconds are enough for every process; here the machine may be busy.
  t.ok(signs.filter((sign) => sign !== "none").length > lives / 2, "then it settles calls that are over, and dials")
  await world.api.untilState(id, "completed")
  const neverLeft = await thenKillsLeaveFewDoubts(t, world, [id], lives)
  t.equal(new Set(dialsOf(world).map(({ number }) => number)).size, 40 - neverLeft, "then everybody else was called")
  await judge(t, world, id, slots)
})
