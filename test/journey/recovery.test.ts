/**
 * Requests that certainly never left do not count against a contact, what is known is not forgotten, and a restart does not hold up dialing.
 * Judged by the callees' log.
 */
import t from "tap"
import { attemptsOf, contactStates, eventsOf, judge, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { dialsOf, launchBehindProxy, wrongedBy } from "#test/support/neverLeft.ts"

// Most of the time is spent waiting for calls to end.
t.jobs = 2

const environment = { ORG_CONCURRENCY: "100", RECORDINGS: "off" }
const short = { media: false, ringMillis: 200, talkMillis: 400 }

t.test("given campaigns in the middle of their claims, when the engine is stopped time and again", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: short, environment: { ...environment, CALL_RATE: "10", DRAIN: "0" } })
  const campaigns = await Promise.all(Array.from({ length: 4 }, (_, i) => world.campaign(numbersOf(40, ["01"], `+155${i}`))))
  const proxy = await launchBehindProxy(t, world)
  // Slow commits ensure that a stop finds claims under way, and this rate that contacts are left for the last stop, even if each takes long to
  // come.
  proxy.delayCommits(20)
  for (const { id } of campaigns) await world.api.start(id)
  for (let stops = 0; stops < 4; stops++) {
    const next = world.emulator.log.count("originate") + 3 + stops
    await until("moment to stop", () => (world.emulator.log.count("originate") >= next ? true : undefined))
    const { code } = await world.end("SIGTERM")
    t.equal(code, 0)
    const left = (
      await wrongedBy(
        world,
        campaigns.map(({ id }) => id)
      )
    ).filter(({ state }) => state !== "intent")
    t.strictSame(left, [], `then nobody is left waiting for a call that never left, stop ${stops + 1}`)
    await world.launch({ DATABASE_URL: proxy.url })
  }
})

t.test("given a claim whose reply is lost", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: short, environment })
  const { id } = await world.campaign(numbersOf(40, ["01"]))
  const proxy = await launchBehindProxy(t, world)
  await world.api.start(id)
  await world.seen("originate", 5)
  proxy.loseCommits("reply", 15)
  // Read from the database, because a request to the engine must not run into the fault that is meant for its claims.
  const state = async () => (await world.sql<Array<{ state: string }>>`SELECT state FROM campaigns WHERE id = ${id}`)[0]?.state
  await untilTrue("campaign that is completed", async () => (await state()) === "completed")
  const done = await world.api.campaign(id)
  t.equal(new Set(dialsOf(world).map(({ number }) => number)).size, 40, "then everybody was called")
  t.strictSame(await wrongedBy(world, [id]), [], "then no attempt that never left is recorded")
  t.notMatch(eventsOf(done), { attempt_written_off: 1 })
  await judge(t, world, id, 100)
})

t.test("given an orphan among many live calls", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    emulator: { ...short, talkMillis: 600_000 },
    environment: { ...environment, CALL_RATE: "100", ORG_CONCURRENCY: "200" },
    // No call needs audio, which a busy machine could be late with.
    greeting: ""
  })
  const { api, sql } = world
  const { id } = await world.campaign(numbersOf(130, ["01"]))
  await api.start(id)
  await world.seen("answered", 130)
  const other = await world.campaign(numbersOf(1, ["01"], "+1666"))
  await sql`UPDATE attempts SET created_at = created_at - interval '5 minutes'`
  await sql`
    INSERT INTO attempts (id, organization_id, campaign_id, row_no, telephony_configuration_id, node, state, created_at)
    SELECT 'ffffffff-0000-7000-8000-000000000001', organization_id, ${other.id}, row_no,
      (SELECT id FROM telephony_configurations LIMIT 1), 'journey', 'intent', now() - interval '2 minutes'
    FROM contacts WHERE campaign_id = ${other.id}`
  await sql`
    INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, initial_context)
    SELECT organization_id, agent_id, agent_definition_id, ${other.id}, 'ffffffff-0000-7000-8000-000000000001', name, mode, initial_context
    FROM runs LIMIT 1`
  await sql`UPDATE contacts SET state = 'dialing' WHERE campaign_id = ${other.id}`
  await until("orphan that is settled", async () => ((await contactStates(sql, other.id))["pending"] === 1 ? true : undefined))
  const others = (await attemptsOf(sql, id)).filter(({ state }) => state !== "answered" && state !== "void")
  t.strictSame(others, [], "then the conversations go on")
})

t.test("given an engine that was killed, when it comes back under another name", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    emulator: { ...short, talkMillis: 500 },
    environment: { ...environment, CALL_RATE: "20" }
  })
  const { id } = await world.campaign(numbersOf(20, ["01"]), { max_concurrency: 10 })
  // However long the engine takes to come back on this machine, nobody answers before.
  world.emulator.letRing(true)
  await world.api.start(id)
  await world.seen("ringing", 10)
  await world.end("SIGKILL")
  const left = new Set(world.emulator.log.entries.map(({ channelId }) => channelId))
  await world.launch({ NODE_NAME: "renamed" })
  await untilTrue("phones of its former name that stop ringing", () => world.emulator.log.count("ended") >= 10)
  world.emulator.letRing(false)
  const done = await world.api.untilState(id, "completed")
  const unattended = world.emulator.log.entries.filter(({ channelId, kind }) => kind === "answered" && left.has(channelId))
  t.strictSame(unattended, [], "then nobody answers a call without an agent")
  const said = done.logs.find(({ event }) => event === "recovery_completed")
  t.match(said, { details: { former_node_names: ["journey"] } }, "then the log names it")
  await judge(t, world, id, 10)
})
