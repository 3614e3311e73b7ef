/** A disk that is full, and a database that is away: dialing waits, and nothing that is known is forgotten. Judged by the callees' log. */
import { glob, readFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { attemptsOf, contactStates, eventsOf, judge, nowMillis, numbersOf, until, untilTrue, World } from "#test/support/engine.ts"
import { dialsOf, launchBehindProxy, numbersDialed } from "#test/support/neverLeft.ts"
import { wrote } from "#test/support/EngineProcess.ts"

// Most of the time is spent waiting for the database to come back.
t.jobs = 3

const environment = { ORG_CONCURRENCY: "100", RECORDINGS: "off" }
const short = { media: false, ringMillis: 200, talkMillis: 400 }
/** How long the database is away in the story of a long outage. */
const awayMillis = 70_000

/** How many ends the engine's journal holds for the next process. */
const endsInJournal = async ({ dataDir }: World): Promise<number> => {
  let ends = 0
  for await (const path of glob(join(dataDir, "journal", "*", "*", "ends.*")))
    ends += (await readFile(path, "utf8")).match(/^ended \S+ .*\n/gm)?.length ?? 0
  return ends
}

// Runs first, because it takes longest.
t.test("given a database that is away for longer than a minute, when it comes back", { buffered: true }, async (t) => {
  const world = await World.open(t, {
    emulator: { ...short, talkMillis: 3000 },
    environment: { ...environment, CALL_RATE: "5", PACED: "on" }
  })
  const { id } = await world.campaign(numbersOf(40, ["01"]), { max_concurrency: 10 })
  const proxy = await launchBehindProxy(t, world)
  await world.api.start(id)
  await world.seen("answered", 5)
  await proxy.tcp.refuse(true)
  proxy.tcp.cut()
  await world.engine.forward(awayMillis)
  const before = dialsOf(world).length
  const [row] = await world.sql<Array<{ state: string }>>`SELECT state FROM campaigns WHERE id = ${id}`
  t.equal(row?.state, "running", "then it is not paused in the meantime")
  t.ok(before < 40, `then the dialing waits: ${before} were called before`)
  await proxy.tcp.refuse(false)
  const back = nowMillis()
  // The API's own connections may take a moment longer to come back.
  await untilTrue("API that answers again", async () => (await world.api.ask("GET", `/campaign/${id}`)).status === 200)
  const done = await world.api.untilState(id, "completed")
  const next = dialsOf(world)[before]
  t.comment(`the next dial came ${next === undefined ? "never" : Math.round(next.at - back)} ms after the database`)
  t.strictSame(
    numbersDialed(world),
    numbersOf(40, ["01"]).toSorted(),
    "then the campaign continues by itself, and everybody is called once"
  )
  t.notOk(eventsOf(done)["campaign_paused"], "then it was never paused")
  t.notOk(eventsOf(done)["campaign_resumed"], "then nobody had to resume it")
  t.strictSame(await contactStates(world.sql, id), { completed: 40 }, "then every conversation is known")
  await judge(t, world, id, 10)
})

t.test("given a database that refuses claims while it is restarting, when it accepts them again", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: short, environment })
  const { api, sql } = world
  const { id } = await world.campaign(numbersOf(10, ["01"]))
  await sql`CREATE SEQUENCE claims`
  // Unlike a table, a sequence also counts what is rolled back.
  await sql`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('claims') <= 7 THEN RAISE EXCEPTION 'the database system is shutting down' USING ERRCODE = '57P01'; END IF;
      RETURN NEW;
    END $$`
  await sql`CREATE TRIGGER refuse BEFORE INSERT ON attempts FOR EACH STATEMENT EXECUTE FUNCTION refuse()`
  await api.start(id)
  const done = await api.untilState(id, "completed")
  t.notOk(eventsOf(done)["campaign_paused"], "then it is not paused because of that, and continues by itself")
  t.strictSame(numbersDialed(world), numbersOf(10, ["01"]).toSorted(), "then everybody is called once")
})

t.test("given calls that end while the database is away, when the engine dies too", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: short, environment })
  const { id } = await world.campaign(numbersOf(6, ["01"]))
  const proxy = await launchBehindProxy(t, world)
  // However long it takes until the calls are recorded, nobody hangs up before the database is away.
  world.emulator.letTalk(true)
  await world.api.start(id)
  await untilTrue("conversations", async () => (await attemptsOf(world.sql, id)).filter(({ state }) => state === "answered").length === 6)
  await proxy.tcp.refuse(true)
  proxy.tcp.cut()
  world.emulator.letTalk(false)
  await world.seen("ended", 6)
  const ended = nowMillis()
  // The engine does not know yet what the callees have seen.
  await untilTrue("ends in the journal", async () => (await endsInJournal(world)) === 6)
  t.comment(`all ends were in the journal ${Math.round(nowMillis() - ended)} ms after the last one`)
  await world.end("SIGKILL")
  await world.launch()
  await world.api.untilState(id, "completed")
  const ends = (await attemptsOf(world.sql, id)).map(({ cause, outcome }) => `${outcome}: ${cause}`)
  t.strictSame(ends, new Array<string>(6).fill("answered: normal_clearing"), "then the next process knows how they ended")
  await judge(t, world, id, 100)
})

t.test("given a full disk", { buffered: true }, async (t) => {
  const world = await World.open(t, { emulator: short, environment: { ...environment, CALL_RATE: "20" } })
  const { id } = await world.campaign(numbersOf(40, ["01"]), { max_concurrency: 5 })
  await world.api.start(id)
  await world.seen("originate", 5)
  world.engine.setDisk("full")
  await until("engine that says so", async () => ((await world.api.ask("GET", "/health/ready")).status === 503 ? true : undefined))
  const from = dialsOf(world).length
  await untilTrue("last hang-up", () => world.emulator.log.live() === 0)
  t.equal(dialsOf(world).length, from, "then nothing leaves")
  await wrote(world, "local journal cannot be written")
  world.engine.setDisk("free")
  await world.api.untilState(id, "completed")
  t.strictSame(await contactStates(world.sql, id), { completed: 40 }, "then the contacts are untouched")
  await judge(t, world, id, 5)
})
