/**
 * A database that fails over to a standby that lacks the latest commits: what was claimed, answered, ended, paused and opted out a moment ago has
 * never happened for it. The callees judge that nobody is called twice.
 */
import t, { type Test } from "tap"
import { nowMillis, numbersOf, recounted, shownCounters, untilTrue, type Witness, World } from "#test/support/engine.ts"
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
const open = async (t: Test, talkMillis = 1500): Promise<Scene> => {
  const database = await ReplicatedPostgres.start(t)
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, seed: 3, talkMillis },
    environment: { DRAIN: "0", RECORDINGS: "off" },
    ways: { database: async () => database.url }
  })
  const sql = witness(database.url)
  t.teardown(() => sql.end())
  const numbers = numbersOf(contacts, ["01"])
  const { id } = await world.api.createCampaign(world.agentId, numbers, { max_concurrency: cap })
  return { database, id, numbers, sql, world }
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

t.test("given calls of which a standby knows nothing, when the database fails over to it", { buffered: true }, async (t) => {
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
  t.match(world.output(), /the database had lost attempts: they are written again/, "and the operator is told")
  const outcomes = await sql`SELECT DISTINCT outcome FROM attempts WHERE campaign_id = ${id} AND state <> 'void'`
  t.strictSame([...outcomes], [{ outcome: "answered" }], "what became of the calls is known")
  const [runs] = await sql`SELECT count(*)::int AS count FROM runs WHERE campaign_id = ${id} AND is_completed`
  t.strictSame(runs, { count: contacts }, "and each has its run")
})

t.test(
  "given such calls, when connections are led to the standby one by one, that of the engine's lock last",
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

t.test(
  "given a pause and an opt-out of which a standby knows nothing, when the database fails over to it",
  { buffered: true },
  async (t) => {
    const scene = await open(t, 600)
    const { database, id, numbers, sql, world } = scene
    const { log } = world.emulator
    await world.api.start(id)
    await world.seen("answered", 8)
    await database.lag()
    const last = numbers.at(-1) ?? ""
    t.equal((await world.api.ask("POST", "/organizations/opt-outs", { phone_numbers: [last] })).status, 200)
    await world.api.pause(id)
    const paused = log.count("originate")
    await database.failOver()
    const failedOver = nowMillis()
    await untilTrue("campaign that is paused again", async () => {
      const [row] = await sql`SELECT state FROM campaigns WHERE id = ${id}`.catch(() => [])
      return row?.["state"] === "paused"
    })
    t.match((await world.api.campaign(id)).logs.at(-1), { event: "database_failed_over", level: "warning" }, "then it is paused again")
    t.equal(log.count("originate"), paused, "and nobody is called")
    await world.api.resume(id)
    await world.api.untilState(id, "completed")
    await untilTrue("end of all calls", () => log.live() === 0)
    t.notOk(
      log.entries.some(({ at, kind, number }) => kind === "originate" && number === last && at >= failedOver),
      "nor who has opted out"
    )
    t.strictSame(dialedTwice(scene), [], "nobody is called twice")
  }
)
