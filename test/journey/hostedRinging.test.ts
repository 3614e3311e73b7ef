/** An engine is killed while phones ring through hosted carriers. Judged by the callees. */
import t from "tap"
import { numbersOf, placedBy, untilTrue } from "#test/support/engine.ts"
import { startCallNode } from "#test/support/callNode.ts"
import { carriers, openThrough, openThroughEach } from "#test/support/hostedCarriers.ts"
import { callsIn, deafIn } from "./deaf.ts"
import { sharing } from "./cluster.ts"

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

t.test("given phones that ring through Telnyx for two engines, when the one that only carries calls is killed", async (t) => {
  const carrier = await carriers["Telnyx"]?.(t, { ringMillis: 100, talkMillis: 400 })
  if (carrier === undefined) throw new Error("no carrier")
  const { lives, log } = carrier
  const world = await openThrough(t, carrier, { environment: { ...(await sharing(t)), RING_TIMEOUT: "300", TAKEOVER_AFTER: "300" } })
  const node = await startCallNode(t, world)
  // So slowly that each call is given to whichever engine has fewer.
  const { id } = await world.campaign(numbersOf(12, ["01"]), { max_concurrency: 6, rate_limit: 1, retry: { maxRetries: 0 } })
  lives.letRing(true)
  await world.api.start(id)
  await untilTrue("calls up to the cap", () => log.count("ringing") === 6)
  const rows = await world.sql<Array<{ number: string }>>`
    SELECT phone_number AS number FROM attempts WHERE node = 'left' AND state <> 'void'`
  const its = new Set(rows.map(({ number }) => number))
  node.kill("SIGKILL")
  const hungUp = () => log.entries.filter(({ by, kind }) => kind === "ended" && by === "us")
  await untilTrue("the ends of its calls", () => hungUp().length === its.size)
  t.ok(its.size >= 1)
  t.strictSame(new Set(hungUp().map(({ number }) => number)), its, "then its calls are hung up, and no others")
  lives.letRing(false)
  await world.api.untilState(id, "completed")
  t.equal(log.dialsByNumber().size, log.count("originate"), "and nobody is called twice")
})
