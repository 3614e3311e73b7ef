/** What an engine may find when it starts: calls left behind under another name, and obstacles between it and its database. */
import { execFile } from "node:child_process"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import t from "tap"
import { endsWith, spawnEngine, startEngine } from "#test/support/EngineProcess.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { Api, numbersOf } from "#test/support/engine.ts"
import { localPort } from "#test/support/localPort.ts"
import { freePort } from "#test/support/freePort.ts"
import { openDatabase, witness } from "#test/support/postgres.ts"
import { cap, recordsOfHungUp, longCampaign } from "#test/support/rivals.ts"
import { TcpProxy } from "#test/support/TcpProxy.ts"
import { startTransactionPooler } from "#test/support/TransactionPooler.ts"
import { untilTrue } from "#test/support/until.ts"

t.jobs = 2

t.test("given a pooler that shares sessions between clients, when an engine is started on it", { buffered: true }, async (t) => {
  const { url } = await openDatabase(t)
  const address = new URL(url)
  const pooler = await startTransactionPooler({ host: address.hostname, port: Number(address.port) })
  t.teardown(() => pooler.stop())
  address.port = String(pooler.port)
  address.searchParams.set("sslmode", "disable")
  const engine = spawnEngine({ DATABASE_URL: address.href, PORT: "0" })
  t.equal((await engine.exited).code, 1, "then it refuses")
  t.match(engine.output(), /a pooler that shares database sessions between clients/, "and says why")
})

/** The advisory lock under which the first organization and its key are made. */
const bootstrapLock = 7_200_101

t.test("given a first start whose API_KEY is not stored yet, then only once it is, the engine is ready", { buffered: true }, async (t) => {
  const { url } = await openDatabase(t)
  const sql = witness(url)
  t.teardown(() => sql.end())
  const held = await sql.reserve()
  await held`SELECT pg_advisory_lock(${bootstrapLock})`
  const [port, key] = [await freePort(), "k".repeat(32)]
  const environment = { API_KEY: key, DATABASE_URL: url, DATA_DIR: temporaryFolder(t), METRICS: "off", PORT: String(port) }
  const engine = spawnEngine(environment)
  endsWith(t, engine)
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers: { "x-api-key": key } }).then(
      (answer) => answer.status,
      () => undefined
    )
  await untilTrue("wait for the lock", async () => {
    const waiting = await sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${bootstrapLock} AND NOT granted`
    return waiting.length > 0
  })
  t.not(await ask("/health/ready"), 200)
  await held`SELECT pg_advisory_unlock(${bootstrapLock})`
  held.release()
  // The first answer that says so is followed by a request with the key.
  await untilTrue("readiness", async () => (await ask("/health/ready")) === 200)
  t.equal(await ask("/organizations/members"), 200)
})

t.test("given a first start whose port is taken, when it fails, then its API key is printed, and works", { buffered: true }, async (t) => {
  const { url } = await openDatabase(t)
  const other = createServer()
  const port = await localPort(other)
  const environment = { DATABASE_URL: url, DATA_DIR: temporaryFolder(t), METRICS: "off" }
  const failed = spawnEngine({ ...environment, PORT: String(port) })
  t.equal((await failed.exited).code, 1)
  other.close()
  const key = /^API key \(shown once\): (\S+)$/m.exec(failed.output())?.[1] ?? ""
  const engine = await startEngine({ ...environment, PORT: "0" })
  endsWith(t, engine)
  t.equal((await fetch(`${engine.url}/api/v1/organizations/members`, { headers: { "x-api-key": key } })).status, 200)
})

/** Longer than an engine waits for a connection. */
const slowMillis = 6000

t.test("given a database that is slow to accept connections, when an engine is started on it", { buffered: true }, async (t) => {
  const { url } = await openDatabase(t)
  const address = new URL(url)
  // The openings of the sessions to slow down: the engine's first own one, and the first one for requests.
  const slow = [/\0trunkline slow [0-9a-f]+\0/, /\0user\0trunkline_/]
  const delayed: Array<string> = []
  const proxy = await TcpProxy.start({ host: address.hostname, port: Number(address.port) }, () => ({
    fromClient: (chunk) => {
      const at = slow.findIndex((opening) => opening.test(chunk.toString("latin1")))
      if (at === -1) return 0
      delayed.push(...slow.splice(at, 1).map(String))
      return slowMillis
    }
  }))
  t.teardown(() => proxy.stop())
  address.port = String(proxy.port)
  const engine = await startEngine({ DATABASE_URL: address.href, DATA_DIR: temporaryFolder(t), NODE_NAME: "slow", PORT: "0" })
  endsWith(t, engine)
  t.equal(delayed.length, 2, "then both were slow, and it starts anyway")
  t.equal(engine.output().match(/the database accepts no connection yet, and the start waits for it/g)?.length, 2, "and says what for")
})

t.test("given two engines in two schemas of a database, when both dial, then neither disturbs the other", { buffered: true }, async (t) => {
  const { id, world } = await longCampaign(t)
  await world.sql`CREATE SCHEMA other`
  const address = new URL(world.environment["DATABASE_URL"] ?? "")
  address.searchParams.set("options", "-c search_path=other")
  const environment = { DATABASE_URL: address.href, DATA_DIR: `${world.dataDir}/other`, NODE_NAME: "other" }
  const engine = await startEngine({ ...world.environment, ...environment })
  endsWith(t, engine)
  const api = new Api(engine.url, world.apiKey)
  const { emulator } = world
  await api.createConfig({ ari_endpoint: emulator.url, app_name: emulator.user, app_password: emulator.password })
  const agent = await api.createAgent("Good evening.")
  const numbers = numbersOf(12, ["01"], "+1666")
  const other = await api.createCampaign(agent.id, numbers, { max_concurrency: cap })
  await world.api.start(id)
  await api.start(other.id)
  await api.untilState(other.id, "completed")
  const dialed = emulator.log.entries.flatMap(({ kind, number }) => (kind === "originate" ? [number] : []))
  t.strictSame(dialed.filter((number) => number.startsWith("+1666")).toSorted(), [...numbers].toSorted())
  t.ok(dialed.length > numbers.length, "and the first one dials meanwhile")
  t.strictSame(await recordsOfHungUp(world), [], "and nobody's conversation is hung up by us")
})

t.test("given an engine that runs, when the schema is migrated, then the migration does not wait for it", { buffered: true }, async (t) => {
  const { world } = await longCampaign(t)
  const variables = [`DATABASE_URL=${world.environment["DATABASE_URL"]}`, `DATA_DIR=${world.dataDir}/migration`]
  const program = fileURLToPath(new URL("../../runtime/migrateNow.ts", import.meta.url))
  const { stdout } = await promisify(execFile)("env", ["-i", ...variables, process.execPath, program], { timeout: 600_000 })
  t.match(stdout, /schema is up to date/)
  t.equal((await world.api.ask("GET", "/health/ready")).status, 200, "and the engine goes on")
})
