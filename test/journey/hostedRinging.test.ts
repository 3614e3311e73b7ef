/** An engine that is killed while phones ring through hosted carriers, and comes back before they are answered. Judged by what the callees heard. */
import t from "tap"
import { numbersOf, placedBy, untilTrue } from "#test/support/engine.ts"
import { carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { callsIn, deafIn } from "./deaf.ts"

// Most of each story is waiting.
t.jobs = 3

const cap = 3

for (const [name, start] of Object.entries(carriers)) {
  t.test(`given phones that ring through ${name}, when the engine is killed and comes back`, { buffered: true }, async (t) => {
    const carrier = await start(t, { ringMillis: 100, talkMillis: 20_000 })
    const world = await openThrough(t, carrier, { environment: { RING_TIMEOUT: "300" }, greeting: "Hello there, and good morning." })
    const { lives, log } = carrier
    const { id } = await world.campaign(numbersOf(cap, ["01"]), { max_concurrency: cap, retry: { maxRetries: 0 } })
    lives.letRing(true)
    await world.api.start(id)
    await untilTrue("calls up to the cap", () => log.count("ringing") === cap)
    await world.end("SIGKILL")
    await world.launch()
    lives.letRing(false)
    await world.api.untilState(id, "completed")
    t.equal(log.count("originate"), cap, "then nobody is called again")
    t.strictSame(deafIn(log, callsIn(log)), [], "and the callees hear the agent")
    const ends = log.entries.filter(({ kind }) => kind === "ended").map(({ by }) => by)
    t.strictSame([...new Set(ends)], ["callee"], "whom nobody cuts off")
    const outcomes = (await placedBy(world.sql, id)).map(({ outcome }) => outcome)
    t.strictSame([...new Set(outcomes)], ["answered"])
  })
}
