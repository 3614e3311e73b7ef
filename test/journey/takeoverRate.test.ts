/** The rate of a campaign across a takeover, as the callees see it: what the previous engine dialed in the last second counts. */
import t from "tap"
import { numbersOf, World } from "#test/support/engine.ts"
import { wrote } from "#test/support/EngineProcess.ts"
import { watchLateness } from "#test/support/lateness.ts"
import { another, sharing } from "./cluster.ts"

t.jobs = 2

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
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
    t.strictSame(
      gaps.filter((gap) => gap < least),
      [],
      `then no two calls leave within a second: ${gaps.map(Math.round).join(", ")}`
    )
  })
}
