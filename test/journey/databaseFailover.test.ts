/**
 * A database that fails over to a standby that lacks the latest commits: to the new primary, everything that was claimed, answered, ended,
 * paused and opted out a moment ago has never happened. The callees' log shows that nobody is called twice.
 */
import t, { type Test } from "tap"
import { type Environment, wrote } from "#test/support/EngineProcess.ts"
import { numbersOf, recounted, shownCounters, until, untilTrue, type Witness, World } from "#test/support/engine.ts"
import { witness } from "#test/support/postgres.ts"
import { ReplicatedPostgres } from "#test/support/ReplicatedPostgres.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"

// Most of each story is waiting.
t.jobs = 2

const cap = 6
const contacts = 40
/** A callee who stays until somebody hangs up. */
const patient = "+15598765411"

interface Scene {
  readonly database: ReplicatedPostgres
  readonly id: number
  readonly numbers: ReadonlyArray<string>
  readonly sql: Witness
  readonly world: World
}

/** A campaign whose callees talk for a second or two, and a standby that has everything so far. */
const open = async (t: Test, talkMillis = 1500, own: Environment = {}): Promise<Scene> => {
  const database = await ReplicatedPostgres.start(t)
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, seed: 3, talkMillis },
    environment: { DRAIN: "0", ORG_CONCURRENCY: "20", RECORDINGS: "off", ...own },
    ways: { database: async () => database.url }
  })
  const sql = witness(database.url)
  t.teardown(() => sql.end())
  const numbers = numbersOf(contacts, ["01"])
  const { id } = await world.api.createCampaign(world.agentId, numbers, { max_concurrency: cap })
  return { database, id, numbers, sql, world }
}

const failOver = async ({ database, world }: Scene) => {
  await database.failOver()
  await untilTrue("lock", () => world.output().includes("the engine has its lock again"))
}
const answersOf = ({ world }: Scene, number: string) => world.emulator.log.of(number).filter(({ kind }) => kind === "answered").length
const dialsTo = ({ world }: Scene, prefix: string) =>
  world.emulator.log.entries.filter(({ kind, number }) => kind === "originate" && number.startsWith(prefix)).length

const thenEverybodyIsCalledOnce = async (t: Test, { id, numbers, sql, world }: Scene) => {
  await world.api.untilState(id, "completed")
  const dials = world.emulator.log.dialsByNumber()
  const notOnce = numbers.filter((number) => dials.get(number) !== 1)
  t.strictSame(notOnce, [], "then nobody is called twice, and nobody forgotten")
  t.strictSame(await shownCounters(world.api, id), await recounted(sql, id), "and counters are what a recount gives")
}
const thenAllIsKnown = async (t: Test, { id, sql }: Scene) => {
  const outcomes = await sql`SELECT DISTINCT outcome FROM attempts WHERE campaign_id = ${id} AND state <> 'void'`
  t.strictSame([...outcomes], [{ outcome: "answered" }], "and what became of the calls is known")
  const [runs] = await sql`SELECT count(*)::int AS count FROM runs WHERE campaign_id = ${id} AND is_completed`
  t.strictSame(runs, { count: contacts }, "and each has its run")
}

/**
 * Besides the calls of the campaign, the standby lacks the second call to somebody who is on two lists, and has the first as still up; and a pause of
 * another campaign, whose last number has opted out.
 */
const openLagging = async (t: Test) => {
  const scene = await open(t)
  const { database, id, sql, world } = scene
  const { api, emulator } = world
  const create = (numbers: ReadonlyArray<string>) => api.createCampaign(world.agentId, numbers, { max_concurrency: 2 })
  const lists = [await create([patient]), await create([patient])] as const
  const listed = numbersOf(20, ["01"], "+1557")
  const stopped = await create(listed)
  await api.start(lists[0].id)
  await untilTrue("first call that is up", () => answersOf(scene, patient) === 1)
  await api.start(lists[1].id)
  await untilTrue("contact that waits for the number", async () => {
    const [row] = await sql`SELECT awaits_number FROM contacts WHERE campaign_id = ${lists[1].id}`
    return row?.["awaits_number"] === true
  })
  await api.start(stopped.id)
  await api.start(id)
  await world.seen("answered", 9)
  await database.lag()
  const [ended, dialed] = [emulator.log.count("ended"), emulator.log.count("originate")]
  emulator.hangUp(patient)
  await untilTrue("second call that is up", () => answersOf(scene, patient) === 2)
  const last = listed.at(-1) ?? ""
  t.equal((await api.ask("POST", "/organizations/opt-outs", { phone_numbers: [last] })).status, 200)
  await api.pause(stopped.id)
  await untilTrue(
    "calls that end and begin meanwhile",
    () => emulator.log.count("ended") >= ended + 8 && emulator.log.count("originate") >= dialed + 10
  )
  return { ...scene, last, lists, stopped: stopped.id, paused: dialsTo(scene, "+1557") }
}

const thenItIsPausedAgain = async (t: Test, scene: Awaited<ReturnType<typeof openLagging>>) => {
  const { last, paused, stopped, world } = scene
  const { logs, state } = await until("campaign that does not run", async () => {
    const found = await world.api.campaign(stopped).catch(() => undefined)
    return found?.state === "running" ? undefined : found
  })
  t.equal(state, "paused", "then what was paused is paused again")
  const entries = logs.filter(({ event }) => event === "database_failed_over")
  t.match(entries, [{ level: "warning" }], "and its log says why")
  t.equal(dialsTo(scene, "+1557"), paused, "and nobody is called")
  await world.api.resume(stopped)
  await world.api.untilState(stopped, "completed")
  t.equal(world.emulator.log.dialsByNumber().get(last), undefined, "nor who has opted out")
  t.equal(dialsTo(scene, "+1557"), 19, "and nobody twice")
}

/** What happens to the engine while the database fails over, and what is known afterwards. */
const ways: Readonly<Record<string, readonly [go: (scene: Scene) => Promise<void>, check: (t: Test, scene: Scene) => Promise<unknown>]>> = {
  "the database fails over": [
    async (scene) => {
      await failOver(scene)
      scene.world.emulator.hangUp(patient)
    },
    async (t, scene) => {
      await thenAllIsKnown(t, scene)
      await wrote(scene.world, "the database had lost attempts: they are written again")
    }
  ],
  "the engine dies with the database": [
    async ({ database, world }) => {
      await world.end("SIGKILL")
      await database.failOver()
      await world.launch()
    },
    async () => {}
  ]
}
for (const [what, [go, check]] of variantsOfRun(Object.entries(ways), 1)) {
  t.test(`given calls, a pause and an opt-out that are missing from a standby, when ${what}`, { buffered: true }, async (t) => {
    const scene = await openLagging(t)
    const { lists, world } = scene
    await go(scene)
    await thenItIsPausedAgain(t, scene)
    for (const { id } of lists) await world.api.untilState(id, "completed")
    t.equal(world.emulator.log.dialsByNumber().get(patient), 2, "then who is on two lists is called once for each")
    await thenEverybodyIsCalledOnce(t, scene)
    await check(t, scene)
    t.ok(world.emulator.log.mostLive() <= cap + 3, "and no call was above the caps")
  })
}

t.test("given such calls, when connections move to the standby one by one, the engine's lock last", { buffered: true }, async (t) => {
  const scene = await open(t)
  const { database, id, world } = scene
  const { log } = world.emulator
  await world.api.start(id)
  await world.seen("answered", 3)
  await database.lag()
  const ended = log.count("ended")
  await untilTrue("calls that end meanwhile", () => log.count("ended") >= ended + 6)
  await database.moveOver(({ opening }) => opening.includes(" lock"))
  await thenEverybodyIsCalledOnce(t, scene)
  t.ok(log.mostLive() <= cap, "and no call was above the cap")
})

/** For how long the end of a call has been recorded. */
const settledMillis = async ({ sql }: Scene, callId: string): Promise<number> => {
  const [row] = await sql<Array<{ millis: number }>>`
    SELECT extract(epoch FROM clock_timestamp() - ended_at)::float8 * 1000 AS millis FROM attempts WHERE id = ${callId}::uuid AND state = 'ended'`
  return row?.millis ?? 0
}

t.test("given a standby that lacks calls which the engine has forgotten, when the database fails over", { buffered: true }, async (t) => {
  const scene = await open(t, 300, { MEMORY: "1000" })
  const { database, id, numbers, world } = scene
  const { api, emulator } = world
  await api.start(id)
  await world.seen("answered", 3)
  await database.lag()
  const dialed = emulator.log.count("originate")
  await untilTrue("calls that begin meanwhile", () => emulator.log.count("originate") >= dialed + 10)
  const first = emulator.log.entries.filter(({ kind }) => kind === "originate")[dialed]?.channelId ?? ""
  await untilTrue("a call that is forgotten", async () => (await settledMillis(scene, first)) > 2000)
  await database.failOver()
  const { logs } = await api.untilState(id, "paused")
  t.match(logs.at(-1), { event: "database_failed_over", message: /has lost more than the engine remembers/ }, "then the campaign is paused")
  await untilTrue("end of all calls", () => emulator.log.live() === 0)
  const dials = emulator.log.dialsByNumber()
  const twice = numbers.filter((number) => (dials.get(number) ?? 0) > 1)
  t.strictSame(twice, [], "and nobody is called twice")
  await wrote(world, "has lost more than this engine remembers: its running campaigns are paused")
})

/**
 * The first claims of two contacts, as the engine writes them, because nothing outside can make it give up claims at the right moment: one of the engine
 * itself, and one of a process of which nothing is known any more.
 */
const claims = [
  { callId: "01890000-0000-7000-8000-000000000001", journal: null, row: 20 },
  { callId: "01890000-0000-7000-8000-000000000002", journal: "01890000-0000-4000-8000-000000000009", row: 21 }
]
const claimed = ({ id, sql }: Scene) =>
  Promise.all(
    claims.map(
      ({ callId, journal, row }) => sql`
    WITH attempted AS (
      INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, journal, dial_epoch, breaker_epoch,
        state, sent_at, phone_number, holds_number)
      SELECT ${callId}::uuid, a.organization_id, c.campaign_id, c.row_no, 1, a.telephony_configuration_id, a.node,
        coalesce(${journal}::uuid, a.journal), 1, 1, 'sent', now(), c.phone_number, true
      FROM contacts c CROSS JOIN attempts a WHERE c.campaign_id = ${id} AND a.campaign_id IS NULL ORDER BY c.row_no LIMIT 1 OFFSET ${row}
      RETURNING id, organization_id, campaign_id, row_no
    ), recorded AS (
      INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, initial_context)
      SELECT attempted.organization_id, r.agent_id, r.agent_definition_id, attempted.campaign_id, attempted.id, 'first', r.mode, r.initial_context
      FROM attempted CROSS JOIN (SELECT * FROM runs WHERE campaign_id IS NULL) r
    ), counted AS (
      INSERT INTO campaign_dials AS d (campaign_id, processed_rows, executed_count) SELECT campaign_id, 1, 1 FROM attempted
      ON CONFLICT (campaign_id) DO UPDATE SET processed_rows = d.processed_rows + 1, executed_count = d.executed_count + 1
    )
    UPDATE contacts SET state = 'dialing' FROM attempted
    WHERE contacts.campaign_id = attempted.campaign_id AND contacts.row_no = attempted.row_no`
    )
  )
const givenBack = ({ id, sql }: Scene) => sql`
  WITH returned AS (
    UPDATE attempts SET state = 'void', holds_number = false WHERE id = ANY(${claims.map(({ callId }) => callId)}::uuid[])
    RETURNING id, campaign_id, row_no
  ), unrecorded AS (DELETE FROM runs USING returned WHERE attempt_id = returned.id),
  counted AS (UPDATE campaign_dials SET processed_rows = processed_rows - 2, executed_count = executed_count - 2 WHERE campaign_id = ${id})
  UPDATE contacts SET state = 'pending' FROM returned
  WHERE contacts.campaign_id = returned.campaign_id AND contacts.row_no = returned.row_no`

t.test(
  "given contacts that were claimed, given back, claimed again and called, and a standby that has only the first claims, when the database fails over",
  { buffered: true },
  async (t) => {
    const scene = await open(t, 600)
    const { database, id, numbers, sql, world } = scene
    const { api, emulator } = world
    t.equal((await api.call(world.agentUuid, "+15597654301")).status, 200)
    await untilTrue("end of a single call", () => emulator.log.count("ended") === 1)
    await claimed(scene)
    emulator.letTalk(true)
    await api.start(id)
    await untilTrue("calls that are up", () => emulator.live() === cap)
    await database.lag()
    await givenBack(scene)
    const begun = await api.call(world.agentUuid, patient)
    t.equal(begun.status, 200)
    await untilTrue("a single call that is up", () => answersOf(scene, patient) === 1)
    emulator.letTalk(false)
    await untilTrue("calls to the contacts", () => claims.every(({ row }) => emulator.log.of(numbers[row] ?? "").length > 0))
    await failOver(scene)
    const other = await api.createCampaign(world.agentId, [patient])
    await api.start(other.id)
    await thenEverybodyIsCalledOnce(t, scene)
    await thenAllIsKnown(t, scene)
    const states = await sql`SELECT DISTINCT state FROM attempts WHERE id = ANY(${claims.map(({ callId }) => callId)}::uuid[])`
    t.strictSame([...states], [{ state: "void" }], "and what was given back is so again")
    t.equal(emulator.log.dialsByNumber().get(patient), 1, "and nobody else calls the callee of the single call meanwhile")
    emulator.hangUp(patient)
    await untilTrue("the other call", () => answersOf(scene, patient) === 2)
    emulator.hangUp(patient)
    await api.untilState(other.id, "completed")
    const { workflow_run_id: runId } = begun.body as { readonly workflow_run_id: number }
    const run = await api.ask("GET", `/workflow/${world.agentId}/runs/${runId}`)
    t.match(run.body, { id: runId, is_completed: true }, "which keeps its run")
  }
)

t.test("given a pause that the campaign's owner has not read, when the database fails over", { buffered: true }, async (t) => {
  const { database, id, sql, world } = await open(t, 600)
  const { log } = world.emulator
  await world.api.start(id)
  await world.seen("answered", 8)
  await database.lag()
  const slow = await sql.reserve()
  // The owner reads this table together with its campaign, so it now waits.
  await slow`BEGIN`
  await slow`LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE`
  await world.api.pause(id)
  const paused = log.count("originate")
  await database.failOver()
  await untilTrue("lock", () => world.output().includes("the engine has its lock again"))
  await untilTrue("campaign that is paused again, or done", async () => (await world.api.campaign(id)).state !== "running")
  t.match((await world.api.campaign(id)).logs.at(-1), { event: "database_failed_over", level: "warning" }, "then it is paused again")
  t.equal(log.count("originate"), paused, "and nobody is called")
})
