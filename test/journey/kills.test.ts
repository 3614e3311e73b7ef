/** An engine that is killed again and again: nobody is lost, nobody is called twice, and the dialing goes on. Judged by the callees' log. */
import t from "tap"
import { killStory } from "#test/chaos/killStory.ts"
import { attemptsOf, judge, nowMillis, numbersOf, until, World } from "#test/support/engine.ts"
import { dialsOf } from "#test/support/neverLeft.ts"

t.setTimeout(600_000)
// One world at a time: each takes the machine's whole attention while its engine starts.
t.jobs = 1

// The short form of `npm run kills`.
t.test("given campaigns that share a fast trunk, when the engine is killed time and again", (t) =>
  killStory(t, { campaigns: 8, contacts: 40, dialsBetween: 30, kills: 4, seed: 5 })
)

t.test("given an engine that dies every few seconds", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 1500, seed: 9, talkMillis: 1500 },
    environment: { CALL_RATE: "2", ORG_CONCURRENCY: "100", RECORDINGS: "off" }
  })
  const { id } = await world.campaign(numbersOf(40, ["01", "02"]), { max_concurrency: 5 })
  await world.api.start(id)
  const settled = async () => (await attemptsOf(world.sql, id)).filter(({ state }) => state === "ended" || state === "void").length
  const signs: Array<number> = []
  for (let lives = 1; lives <= 8; lives++) {
    const ready = nowMillis()
    const before = { dials: dialsOf(world).length, settled: await settled() }
    // The benchmark `recovery` measures that three seconds are enough; here the machine may be busy.
    await until(
      `dial or end in life ${lives}`,
      async () => (dialsOf(world).length > before.dials || (await settled()) > before.settled ? true : undefined),
      60_000
    )
    signs.push(Math.round(nowMillis() - ready))
    // So that it dies in the middle of something else each time.
    await new Promise((resolve) => setTimeout(resolve, lives * 150))
    await world.end("SIGKILL")
    await world.launch()
  }
  t.comment(`from ready to the first dial or end: ${signs.join(", ")} ms`)
  await world.api.untilState(id, "completed", 180_000)
  t.equal(new Set(dialsOf(world).map(({ number }) => number)).size, 40, "then everybody was called")
  await judge(t, world, id, 5)
})
