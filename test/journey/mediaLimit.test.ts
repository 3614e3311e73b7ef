/** An engine with a configured limit of calls with audio, as seen by its callees, its campaigns' logs and its metrics. */
import t from "tap"
import { startCallNode } from "#test/support/callNode.ts"
import { eventsOf, numbersOf, World } from "#test/support/engine.ts"
import { parse } from "#test/support/prometheus.ts"
import { sharing } from "./cluster.ts"

t.test("given an engine with a limit of two calls with audio, when a campaign of four is started", async (t) => {
  const world = await World.open(t, { emulator: { ringMillis: 200, talkMillis: 1000 }, environment: { MAX_LIVE_MEDIA: "2" } })
  const { api, emulator } = world
  const [alone = "", ...contacts] = numbersOf(5, ["01"])
  const { id } = await world.campaign(contacts)
  emulator.letTalk(true)
  await api.start(id)
  await world.seen("answered", 2)
  const figures = parse(await (await fetch(`${world.engine.url}/metrics`)).text())

  await t.test("then the metrics show their number and the limit", async (t) => {
    t.strictSame([figures.values.get("media_calls"), figures.values.get("media_calls_limit")], [2, 2])
    t.ok(figures.values.has("media_streams") && figures.values.has("media_frames_late_total"))
  })
  await t.test("then a single call is refused, with the time to try again", async (t) => {
    const request = {
      method: "POST",
      headers: { "x-api-key": world.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ phone_number: alone })
    }
    const response = await fetch(`${world.engine.url}/api/v1/public/agent/workflow/${world.agentUuid}`, request)
    t.strictSame([response.status, response.headers.get("retry-after")], [503, "5"])
    t.match(await response.json(), { detail: /as many calls with audio as it can/ })
    emulator.letTalk(false)
  })
  await t.test("then the others are dialed as calls end, and the log says what they were waiting for", async (t) => {
    await api.untilState(id, "completed")
    t.equal(emulator.log.count("originate"), 4)
    t.equal(emulator.log.mostLive(), 2)
    t.equal(eventsOf(await api.campaign(id))["waiting_for_capacity"], 1)
  })
})

t.test("given an engine for one call with audio and a call node for ten, when campaigns of nine calls are started in turn", async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 100, talkMillis: 500 },
    environment: { ...(await sharing(t)), MAX_LIVE_MEDIA: "1", ORG_CONCURRENCY: "20", RECORDINGS: "on" }
  })
  const { api, emulator } = world
  await startCallNode(t, world, "left", { MAX_LIVE_MEDIA: "10" })
  emulator.letTalk(true)
  const ids: Array<number> = []
  for (const prefix of ["+1661", "+1662", "+1663"]) {
    const { id } = await world.campaign(numbersOf(3, ["01"], prefix))
    ids.push(id)
    await api.start(id)
    await world.seen("answered", 3 * ids.length)
  }
  const rows = await world.sql<Array<{ node: string; calls: number }>>`
    SELECT node, count(*)::int AS calls FROM attempts WHERE state IN ('sent', 'answered') GROUP BY node ORDER BY node`
  const carried = rows.map(({ calls, node }) => [node, calls])
  t.strictSame(
    carried,
    [
      ["journey", 1],
      ["left", 8]
    ],
    "then the engine has one of them, although together they have room for more"
  )
  emulator.letTalk(false)
  for (const id of ids) await api.untilState(id, "completed")
  t.equal(emulator.log.count("originate"), 9)
})
