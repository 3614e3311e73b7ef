/** A database that is a copy of an earlier one, as from a backup: nobody whose call it lacks is called again until a person has looked. */
import t, { type Test } from "tap"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { eventsOf, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { witness } from "#test/support/postgres.ts"

const command = fileURLToPath(new URL("../../runtime/restoredNow.ts", import.meta.url))

const open = async (t: Test) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 50, talkMillis: 300 },
    environment: { DRAIN: "0", RECORDINGS: "off", SECRETS_KEY: "5".repeat(64) }
  })
  const { id } = await world.api.createCampaign(world.agentId, numbersOf(60, ["01"]), { max_concurrency: 2 })
  return { id, world }
}

/** Creates a database with the same content. Nobody may be connected to the original. */
const copied = async (t: Test, url: string): Promise<string> => {
  const name = new URL(url).pathname.slice(1)
  const [admin, copy] = [new URL(url), new URL(url)]
  admin.pathname = "/postgres"
  copy.pathname = `/${name}_copy`
  const sql = witness(admin.href)
  t.teardown(() => sql.end())
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`
  await untilTrue("copy", () =>
    sql`CREATE DATABASE ${sql(`${name}_copy`)} TEMPLATE ${sql(name)}`.then(
      () => true,
      () => false
    )
  )
  t.teardown(() => sql`DROP DATABASE IF EXISTS ${sql(`${name}_copy`)} WITH (FORCE)`)
  return copy.href
}

t.test("given a backup from which calls are missing, when an engine starts on it", { buffered: true }, async (t) => {
  const { id, world } = await open(t)
  const { log } = world.emulator
  const { api } = world
  await api.start(id)
  await world.seen("answered", 4)
  await world.end("SIGTERM")
  await world.sql.end()
  const DATABASE_URL = await copied(t, world.environment["DATABASE_URL"] ?? "")
  await world.launch()
  await world.seen("answered", log.count("answered") + 6)
  const told = (await world.api.runs(id)).map((run) => run.id)
  await world.end("SIGTERM")
  // The journals that belong to it are on another disk.
  const DATA_DIR = `${world.dataDir}/elsewhere`
  const lost = { DATABASE_URL, DATA_DIR }
  await world.launch(lost)
  const dials = log.count("originate")
  const found = await world.api.campaign(id)
  t.equal(found.state, "paused", "then its running campaigns are paused")
  t.match(found.logs.at(-1), { event: "database_restored", level: "warning" }, "and their logs say why")
  t.equal(log.count("originate"), dials, "and nobody is called")
  const kept = new Set((await world.api.runs(id)).map((run) => run.id))

  await t.test("when a person resumes it, then it continues, also after the next start", async (t) => {
    await world.api.resume(id)
    await world.seen("originate", dials + 2)
    await world.end("SIGKILL")
    await world.launch(lost)
    await world.api.untilState(id, "completed")
    t.equal(eventsOf(await world.api.campaign(id))["database_restored"], 1)
    const lostNumbers = new Set(told.filter((number) => !kept.has(number)))
    t.ok(lostNumbers.size > 0)
    const again = (await world.api.runs(id)).map((run) => run.id).filter((number) => lostNumbers.has(number))
    t.strictSame(again, [], "and no call gets the number of one that was lost, and with it that one's files and links")
  })
})

t.test("given restored files, which no engine can detect", { buffered: true }, async (t) => {
  const { id, world } = await open(t)
  // The campaign must not be over before the engine ends.
  world.emulator.letTalk(true)
  await world.api.start(id)
  await world.seen("answered", 2)
  const restored = () =>
    promisify(execFile)(process.execPath, [command], { env: { ...world.environment, PATH: process.env["PATH"] ?? "" } }).then(
      ({ stdout }) => ({ isGood: true, output: stdout.trim().split("\n").at(-1) }),
      ({ stderr }: { stderr: string }) => ({ isGood: false, output: stderr.trim().split("\n").at(-1) })
    )
  await t.test("when the restoration is declared while an engine runs, then that is refused", async (t) => {
    t.match(await restored(), { isGood: false, output: /An engine runs on this database: stop it first/ })
    t.equal((await world.api.campaign(id)).state, "running")
  })
  await t.test("when the restoration is declared before the next start, then its running campaigns are paused", async (t) => {
    await world.end("SIGTERM")
    t.match(await restored(), { isGood: true, output: "1 campaign is paused, with an entry in the log." })
    t.match(await restored(), { isGood: true, output: "No campaign was running." })
    const dials = world.emulator.log.count("originate")
    await world.launch()
    const { logs, state } = await world.api.campaign(id)
    t.equal(state, "paused")
    t.ok(logs.some(({ event }) => event === "database_restored"))
    t.equal(world.emulator.log.count("originate"), dials, "and nobody is called")
    await world.api.resume(id)
    await world.seen("originate", dials + 1)
    const numbers = (await world.api.runs(id)).map((run) => run.id)
    t.ok(Math.max(...numbers) > 10_000_000, "and later calls get numbers that no lost one can have had")
  })
})

t.test("given an engine that dials, when its database becomes a copy, then it exits, and the next pauses all", async (t) => {
  const { id, world } = await open(t)
  // The campaign must not be over before its database is replaced.
  world.emulator.letTalk(true)
  await world.api.start(id)
  await world.seen("answered", 2)
  await world.sql.end()
  const { href, pathname } = new URL(world.environment["DATABASE_URL"] ?? "")
  const name = pathname.slice(1)
  const admin = witness(new URL("/postgres", href).href)
  t.teardown(() => admin.end())
  await admin`ALTER DATABASE ${admin(name)} ALLOW_CONNECTIONS false`
  await copied(t, href)
  await admin`ALTER DATABASE ${admin(name)} RENAME TO ${admin(`${name}_before`)}`
  t.teardown(() => admin`DROP DATABASE ${admin(`${name}_before`)}`)
  await admin`ALTER DATABASE ${admin(`${name}_copy`)} RENAME TO ${admin(name)}`
  t.equal((await world.engine.exited).code, 1)
  t.match(world.output(), /The database was replaced by a copy while this engine ran: start it again/)
  await world.launch()
  t.equal((await world.api.campaign(id)).state, "paused")
})
