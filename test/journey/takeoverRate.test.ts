/**
 * The rate of a campaign across a takeover and a freeze, as the callees see it: what the previous engine dialed in the last second counts, and an
 * engine that wakes up sends nothing beside what is due then.
 */
import { setTimeout as sleep } from "node:timers/promises"
import t from "tap"
import { mostWithin } from "#test/emulators/shared/CalleeLog.ts"
import { numbersOf, World } from "#test/support/engine.ts"
import { wrote } from "#test/support/EngineProcess.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { another, sharing } from "./cluster.ts"

t.jobs = 2

for (const signal of variantsOfRun(["SIGKILL", "SIGTERM"] as const, 1)) {
  t.test(`given a campaign at one call a second, when its engine gets ${signal}`, { buffered: true }, async (t) => {
    const world = await World.open(t, {
      emulator: { media: false, ringMillis: 100, talkMillis: 20_000 },
      environment: { ...(await sharing(t)), DRAIN: "600" }
    })
    const { emulator, engine: old } = world
    const { id } = await world.campaign(numbersOf(50, ["01"]), { max_concurrency: 50, rate_limit: 1 })
    const next = await another(t, world, { NODE_NAME: "second", TAKEOVER_AFTER: "300" })
    await wrote(next, "stands by")
    const lateness = watchLateness()
    await world.api.start(id)
    await world.seen("originate", 3)
    old.kill(signal)
    await next.ready
    const dialed = () => emulator.log.entries.filter(({ kind }) => kind === "originate")
    const before = dialed().length
    await world.seen("originate", before + 2)
    // The callee may have noticed the earlier of two calls late.
    const least = 990 - lateness.worst()
    const gaps = dialed().map(({ at }, index, all) => at - (all[index - 1]?.at ?? Number.NEGATIVE_INFINITY))
    const tooEarly = gaps.filter((gap) => gap < least)
    t.strictSame(tooEarly, [], `then no two calls leave within a second: ${gaps.map(Math.round).join(", ")}`)
  })
}

t.test("given a campaign at five calls a second, when its engine is killed and frozen again and again", { buffered: true }, async (t) => {
  const rate = 5
  const world = await World.open(t, { emulator: { media: false, ringMillis: 100, talkMillis: 200 } })
  const { emulator } = world
  const { id } = await world.campaign(numbersOf(500, ["01"]), { max_concurrency: 50, rate_limit: rate })
  await world.api.start(id)
  await world.seen("originate", 2 * rate)
  const lateness = watchLateness()
  const goOn = () => world.seen("originate", emulator.log.count("originate") + 2 * rate)
  for (let life = 0; life < 2; life++) {
    await world.end()
    await world.launch()
    await goOn()
    world.engine.kill("SIGSTOP")
    // Longer than its proof that no other engine dials.
    await sleep(3000)
    world.engine.kill("SIGCONT")
    await goOn()
  }
  const times = emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ at }) => at)
  // The callee may have noticed the first of these late.
  t.ok(mostWithin(times, 1000 - lateness.worst()) <= rate, `then no second holds more than ${rate}: ${mostWithin(times, 1000)}`)
})
