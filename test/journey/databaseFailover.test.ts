/**
 * A database that fails over to a standby that lacks the latest commits: to the new primary, everything that was claimed, answered, ended,
 * paused and opted out a moment ago has never happened. The callees' log shows that nobody is called twice.
 */
import t, { type Test } from "tap"
import { type Environment, wrote } from "#test/support/EngineProcess.ts"
import { numbersOf, recounted, shownCounters, until, untilTrue, type Witness, World } from "#test/support/engine.ts"
import { witness } from "#test/support/postgres.ts"
import { ReplicatedPostgres } from "#test/support/ReplicatedPostgres.ts"

// Most of each story is waiting.
t.jobs = 2

const cap = 6
const contacts = 40

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
    environment: { DRAIN: "0", RECORDINGS: "off", ...own },
    ways: { database: async () => database.url }
  })
  const sql = witness(database.url)
  t.teardown(() => sql.end())
  const numbers = numbersOf(contacts, ["01"])
  const { id } = await world.api.createCampaign(world.agentId, numbers, { max_concurrency: cap })
  return { database, id, numbers, sql, world }
}

/** For how long the end of a call has been recorded. */
const settledMillis = async ({ sql }: Scene, callId: string): Promise<number> => {
  const [row] = await sql<Array<{ millis: number }>>`
    SELECT extract(epoch FROM clock_timestamp() - ended_at)::float8 * 1000 AS millis FROM attempts WHERE id = ${callId}::uuid AND state = 'ended'`
  return row?.millis ?? 0
}

const dialedTwice = ({ world }: Scene) => [...world.emulator.log.dialsByNumber()].filter(([, dials]) => dials !== 1)

const thenEverybodyWasCalledOnce = async (t: Test, scene: Scene) => {
  const { id, numbers, sql, world } = scene
  await untilTrue("end of all calls", () => world.emulator.log.live() === 0)
  t.strictSame(dialedTwice(scene), [], "nobody is called twice")
  t.equal(world.emulator.log.dialsByNumber().size, numbers.length, "nobody is forgotten")
  t.ok(world.emulator.log.mostLive() <= cap, "no call above the cap")
  t.strictSame(await shownCounters(world.api, id), await recounted(sql, id), "counters are what a recount gives")
}

t.test("given calls that are missing from a standby, when the database fails over to it", { buffered: true }, async (t) => {
  const scene = await open(t)
  const { database, id, sql, world } = scene
  const { log } = world.emulator
  await world.api.start(id)
  await world.seen("answered", 8)
  await database.lag()
  const [ended, dialed] = [log.count("ended"), log.count("originate")]
  await untilTrue("calls that end and begin meanwhile", () => log.count("ended") >= ended + 8 && log.count("originate") >= dialed + 10)
  await database.failOver()
  await world.api.untilState(id, "completed")
  await thenEverybodyWasCalledOnce(t, scene)
  await wrote(world, "the database had lost attempts: they are written again")
  const outcomes = await sql`SELECT DISTINCT outcome FROM attempts WHERE campaign_id = ${id} AND state <> 'void'`
  t.strictSame([...outcomes], [{ outcome: "answered" }], "what became of the calls is known")
  const [runs] = await sql`SELECT count(*)::int AS count FROM runs WHERE campaign_id = ${id} AND is_completed`
  t.strictSame(runs, { count: contacts }, "and each has its run")
})

t.test(
  "given such calls, when connections move to the standby one by one, and that of the engine's lock last",
  { buffered: true },
  async (t) => {
    const scene = await open(t)
    const { database, id, world } = scene
    const { log } = world.emulator
    await world.api.start(id)
    await world.seen("answered", 3)
    await database.lag()
    const ended = log.count("ended")
    await untilTrue("calls that end meanwhile", () => log.count("ended") >= ended + 6)
    await database.moveOver(({ opening }) => opening.includes(" lock"))
    await world.api.untilState(id, "completed")
    await thenEverybodyWasCalledOnce(t, scene)
  }
)

t.test("given such calls, when the engine dies with the database", { buffered: true }, async (t) => {
  const scene = await open(t)
  const { database, id, world } = scene
  const { log } = world.emulator
  await world.api.start(id)
  await world.seen("answered", 8)
  await database.lag()
  const dialed = log.count("originate")
  await untilTrue("calls that begin meanwhile", () => log.count("originate") >= dialed + 10)
  await world.end("SIGKILL")
  await database.failOver()
  await world.launch()
  await world.api.untilState(id, "completed")
  await thenEverybodyWasCalledOnce(t, scene)
})

t.test("given a standby that lacks calls which the engine has forgotten, when the database fails over", { buffered: true }, async (t) => {
  const scene = await open(t, 300, { MEMORY: "1000" })
  const { database, id, world } = scene
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
  t.strictSame(dialedTwice(scene), [], "and nobody is called twice")
  await wrote(world, "has lost more than this engine remembers: its running campaigns are paused")
})

/**
 * A contact is claimed, given back without having been called, claimed again, and called. The standby has only the first claim, which is written here as
 * the engine writes it, because nothing outside can make it give up one claim at the right moment. `journal`: of the process that had it, if not the
 * engine itself.
 */
const openReturned = async (t: Test, journal: string | null = null) => {
  const scene = await open(t, 600)
  const { database, id, numbers, sql, world } = scene
  const { api, emulator } = world
  // Its contact's turn comes after the standby has been cut off.
  const place = 20
  t.equal((await api.call(world.agentUuid, "+155598765401")).status, 200)
  await untilTrue("end of a single call", () => emulator.log.count("ended") === 1)
  const first = "01890000-0000-7000-8000-000000000001"
  await sql`
    WITH attempted AS (
      INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, journal, dial_epoch, breaker_epoch,
        state, sent_at, phone_number, holds_number)
      SELECT ${first}::uuid, a.organization_id, c.campaign_id, c.row_no, 1, a.telephony_configuration_id, a.node,
        coalesce(${journal}::uuid, a.journal), 1, 1, 'sent', now(), c.phone_number, true
      FROM contacts c CROSS JOIN attempts a WHERE c.campaign_id = ${id} AND a.campaign_id IS NULL ORDER BY c.row_no LIMIT 1 OFFSET ${place}
      RETURNING id, organization_id, campaign_id, row_no
    ), recorded AS (
      INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, initial_context)
      SELECT attempted.organization_id, r.agent_id, r.agent_definition_id, attempted.campaign_id, attempted.id, 'first', r.mode, r.initial_context
      FROM attempted CROSS JOIN runs r
    ), counted AS (INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count) SELECT campaign_id, 1, 1 FROM attempted)
    UPDATE contacts SET state = 'dialing' FROM attempted
    WHERE contacts.campaign_id = attempted.campaign_id AND contacts.row_no = attempted.row_no`
  emulator.letTalk(true)
  await api.start(id)
  await untilTrue("calls that are up", () => emulator.live() === cap)
  await database.lag()
  await sql`
    WITH unrecorded AS (DELETE FROM runs WHERE attempt_id = ${first}::uuid),
    returned AS (UPDATE attempts SET state = 'void', holds_number = false WHERE id = ${first}::uuid RETURNING campaign_id, row_no),
    counted AS (UPDATE campaign_dials SET processed_rows = processed_rows - 1, executed_count = executed_count - 1 WHERE campaign_id = ${id})
    UPDATE contacts SET state = 'pending' FROM returned
    WHERE contacts.campaign_id = returned.campaign_id AND contacts.row_no = returned.row_no`
  emulator.letTalk(false)
  await untilTrue("its contact's call", () => emulator.log.of(numbers[place] ?? "").length > 0)
  return { ...scene, first }
}

const thenItIsCalledOnce = async (t: Test, scene: Awaited<ReturnType<typeof openReturned>>) => {
  const { database, first, id, sql, world } = scene
  await database.failOver()
  await untilTrue("lock", () => world.output().includes("the engine has its lock again"))
  await world.api.untilState(id, "completed")
  await untilTrue("end of all calls", () => world.emulator.log.live() === 0)
  t.strictSame(dialedTwice(scene), [], "nobody is called twice")
  t.equal(world.emulator.log.dialsByNumber().size, contacts + 1, "nobody is forgotten")
  t.strictSame(
    [...(await sql`SELECT state FROM attempts WHERE id = ${first}::uuid`)],
    [{ state: "void" }],
    "what was given back is so again"
  )
  const outcomes = await sql`SELECT DISTINCT outcome FROM attempts WHERE campaign_id = ${id} AND state <> 'void'`
  t.strictSame([...outcomes], [{ outcome: "answered" }], "and what became of the calls is known")
}

for (const [whose, journal] of [
  ["the engine itself", null],
  ["a process of which nothing is known any more", "01890000-0000-4000-8000-000000000009"]
] as const)
  t.test(`given a contact that ${whose} gave back before it was called, when the database fails over`, { buffered: true }, async (t) => {
    await thenItIsCalledOnce(t, await openReturned(t, journal))
  })

/** Somebody is on two lists: their first call has ended and the second is up, but the standby has only the first, as still up. */
const openTwice = async (t: Test) => {
  const scene = await open(t)
  const { database, id, numbers, sql, world } = scene
  const { api, emulator } = world
  const [number = ""] = numbers
  const other = await api.createCampaign(world.agentId, [number])
  const isWaiting = async () => {
    const [row] = await sql`SELECT awaits_number FROM contacts WHERE campaign_id = ${other.id}`
    return row?.["awaits_number"] === true
  }
  emulator.letTalk(true)
  await api.start(id)
  await untilTrue("first call that is up", () => emulator.log.of(number).some(({ kind }) => kind === "answered"))
  await api.start(other.id)
  await untilTrue("contact that waits for the number", isWaiting)
  await database.lag()
  emulator.hangUp(number)
  await untilTrue("second call that is up", () => emulator.log.of(number).filter(({ kind }) => kind === "answered").length === 2)
  return { ...scene, ids: [id, other.id], number }
}

/** What happens to the engine while the database fails over. */
const ways: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  "the database fails over": async ({ database, world }) => {
    await database.failOver()
    return untilTrue("lock", () => world.output().includes("the engine has its lock again"))
  },
  "the engine dies with the database": async ({ database, world }) => {
    await world.end("SIGKILL")
    await database.failOver()
    return world.launch()
  }
}

for (const [what, go] of Object.entries(ways)) {
  t.test(`given a callee on a second list, when ${what}`, { buffered: true }, async (t) => {
    const scene = await openTwice(t)
    const { ids, number, world } = scene
    await go(scene)
    const { api, emulator } = world
    emulator.letTalk(false)
    for (const id of ids) await api.untilState(id, "completed")
    await untilTrue("end of all calls", () => emulator.log.live() === 0)
    t.equal(emulator.log.dialsByNumber().get(number), 2, "then they are called once for each list")
  })
}

/** A campaign is paused and its last number opts out, and the standby has neither. */
const openPaused = async (t: Test) => {
  const scene = await open(t, 600)
  const { database, id, numbers, world } = scene
  await world.api.start(id)
  await world.seen("answered", 8)
  await database.lag()
  const last = numbers.at(-1) ?? ""
  t.equal((await world.api.ask("POST", "/organizations/opt-outs", { phone_numbers: [last] })).status, 200)
  await world.api.pause(id)
  return { ...scene, last, paused: world.emulator.log.count("originate") }
}

for (const [what, go] of Object.entries(ways)) {
  t.test(`given a pause and an opt-out that are missing from a standby, when ${what}`, { buffered: true }, async (t) => {
    const scene = await openPaused(t)
    const { id, last, paused, world } = scene
    const { log } = world.emulator
    await go(scene)
    const { logs, state } = await until("campaign that does not run", async () => {
      const found = await world.api.campaign(id).catch(() => undefined)
      return found?.state === "running" ? undefined : found
    })
    t.equal(state, "paused", "then it is paused again")
    t.match(
      logs.filter(({ event }) => event === "database_failed_over"),
      [{ level: "warning" }],
      "and its log says why"
    )
    t.equal(log.count("originate"), paused, "and nobody is called")
    await world.api.resume(id)
    await world.api.untilState(id, "completed")
    await untilTrue("end of all calls", () => log.live() === 0)
    t.equal(log.dialsByNumber().get(last), undefined, "nor who has opted out")
    t.strictSame(dialedTwice(scene), [], "nobody is called twice")
  })
}

t.test("given a single call that is missing from a standby, when the database fails over", { buffered: true }, async (t) => {
  const { database, id, numbers, world } = await open(t, 300)
  const { api, emulator } = world
  const [number = ""] = numbers
  emulator.letTalk(true)
  await database.lag()
  const begun = await api.call(world.agentUuid, number)
  t.equal(begun.status, 200)
  await world.seen("answered", 1)
  await database.failOver()
  await untilTrue("lock", () => world.output().includes("the engine has its lock again"))
  await api.start(id)
  await world.seen("answered", cap)
  t.equal(emulator.log.of(number).filter(({ kind }) => kind === "originate").length, 1, "nobody else calls its callee meanwhile")
  emulator.letTalk(false)
  await api.untilState(id, "completed")
  t.equal(emulator.log.dialsByNumber().get(number), 2, "but the campaign does afterwards")
  const { workflow_run_id: runId } = begun.body as { readonly workflow_run_id: number }
  t.match(
    (await api.ask("GET", `/workflow/${world.agentId}/runs/${runId}`)).body,
    { id: runId, is_completed: true },
    "and it keeps its run"
  )
})

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
