/** An engine that is killed while phones ring through hosted carriers, and comes back before they are answered. Judged by what the callees heard. */
import t from "tap"
import { numbersOf, placedBy, untilTrue } from "#test/support/engine.ts"
import { openThroughEach } from "#test/support/hostedCarriers.ts"
import { callsIn, deafIn } from "./deaf.ts"

const people = 2

t.test("given phones that ring through each carrier, when the engine is killed and comes back", async (t) => {
  const { lines, world } = await openThroughEach(
    t,
    { ringMillis: 100, talkMillis: 500, talkOnceHeard: true },
    { environment: { RING_TIMEOUT: "300" }, greeting: "Hello there, and good morning." }
  )
  for (const { carrier } of lines) carrier.lives.letRing(true)
  const campaigns = await Promise.all(
    lines.map(async ({ carrier, prefix, settings }) => {
      const { id } = await world.campaign(numbersOf(people, ["01"], prefix), settings)
      await world.api.start(id)
      return { carrier, id }
    })
  )
  for (const { carrier } of campaigns) await untilTrue("phones that ring", () => carrier.log.count("ringing") === people)
  await world.end("SIGKILL")
  await world.launch()
  for (const { carrier } of campaigns) carrier.lives.letRing(false)
  for (const { carrier, id } of campaigns) {
    const { log, provider } = carrier
    await world.api.untilState(id, "completed")
    t.equal(log.count("originate"), people, `${provider}: then nobody is called again`)
    t.strictSame(deafIn(log, callsIn(log)), [], `${provider}: and the callees hear the agent`)
    const ends = log.entries.filter(({ kind }) => kind === "ended").map(({ by }) => by)
    t.strictSame([...new Set(ends)], ["callee"], `${provider}: whom nobody cuts off`)
    const outcomes = (await placedBy(world.sql, id)).map(({ outcome }) => outcome)
    t.strictSame([...new Set(outcomes)], ["answered"], provider)
  }
})
