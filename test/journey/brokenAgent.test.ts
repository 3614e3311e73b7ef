/** An agent whose graph was published by an earlier release that accepted it, and that this one refuses: nobody is called with it. */
import t from "tap"
import { eventsOf, numbersOf, untilTrue, World } from "#test/support/engine.ts"

t.test("given a published agent without a start node, and a campaign that runs with it when the engine starts", async (t) => {
  const world = await World.open(t, { emulator: { media: false, talkMillis: 2000 }, environment: { RECORDINGS: "off" } })
  const { emulator, sql } = world
  const { id } = await world.campaign(numbersOf(5, ["01"]), { max_concurrency: 1 })
  const draft = await world.campaign(numbersOf(1, ["01"]))
  await world.api.start(id)
  await world.seen("answered", 1)
  await world.end("SIGKILL")
  const graph = {
    nodes: [{ id: "2", type: "endCall", position: { x: 0, y: 0 }, data: { name: "End", prompt: "Say goodbye." } }],
    edges: []
  }
  await sql`UPDATE agent_definitions SET definition = ${sql.json(graph)}`
  const dialed = emulator.log.count("originate")
  await world.launch()
  const { api } = world
  const reason = /published version is not finished: Workflow must have at least one Start Call/

  await t.test("then the campaign is paused, with the reason in its log", async (t) => {
    const campaign = await api.untilState(id, "paused")
    t.match(eventsOf(campaign), { agent_unfinished: 1 })
    t.match(campaign.logs.find(({ event }) => event === "agent_unfinished")?.details, { detail: /at least one Start Call/ })
  })
  await t.test("when somebody starts a call with it, then that is refused for the same reason", async (t) => {
    const refused = { status: 409, body: { detail: reason } }
    t.match(await api.call(world.agentUuid, "+15550109001"), refused)
    t.match(await api.ask("POST", `/public/agent/test/workflow/${world.agentUuid}`, { phone_number: "+15550109001" }), refused)
    t.match(await api.ask("POST", `/campaign/${id}/resume`), refused)
    t.match(await api.ask("POST", `/campaign/${draft.id}/start`), refused)
    await untilTrue("end of all calls", () => emulator.log.live() === 0)
    t.equal(emulator.log.count("originate"), dialed)
  })
  await t.test("when a complete graph is published, then the campaign continues", async (t) => {
    const start = { id: "1", type: "startCall", position: { x: 0, y: 0 }, data: { name: "Start", prompt: "Greet." } }
    t.match(await api.ask("PUT", `/workflow/${world.agentId}`, { workflow_definition: { nodes: [start], edges: [] } }), { status: 200 })
    await api.resume(id)
    await api.untilState(id, "completed")
  })
})
