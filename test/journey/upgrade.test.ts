/**
 * A newer release takes over from an older one, and the older one comes back. The newer one is the same program with more migrations, in a folder
 * of its own.
 */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t, { type Test } from "tap"
import { removeData } from "#test/support/dataFolder.ts"
import { type EngineProcess, type Environment, spawnEngine } from "#test/support/EngineProcess.ts"
import { attemptsOf, judge, numbersOf, untilTrue, type Witness, World } from "#test/support/engine.ts"
import { newerRelease } from "#test/support/newerRelease.ts"
import { hungUpByUs } from "#test/support/rivals.ts"

// Most of each story is waiting.
t.jobs = 2

const cap = 6
const expansions = {
  "0991_attempts.sql": "-- Expands. A note on attempts.\nALTER TABLE attempts ADD COLUMN note text;\n",
  "0992_contacts.sql": "-- Expands. A note on contacts.\nALTER TABLE contacts ADD COLUMN note text NOT NULL DEFAULT '';\n",
  "0993_campaigns.sql": "-- Expands. A note on campaigns.\nALTER TABLE campaigns ADD COLUMN note text;\n",
  "0994_runs.sql": "-- Expands. A note on runs, and a table.\nALTER TABLE runs ADD COLUMN note int;\nCREATE TABLE notes (id int);\n"
}
const contraction = { "0995_notes.sql": "-- Contracts: needs 0994. Nobody writes notes any more.\nDROP TABLE notes;\n" }

const newFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-upgrade-"))
  t.teardown(() => removeData(folder))
  return folder
}

const open = async (t: Test) =>
  World.open(t, {
    emulator: { ringMillis: 200, seed: 7, talkMillis: 1000 },
    environment: { DRAIN: "600", FILES_DIR: await newFolder(t), ORG_CONCURRENCY: "50", RECORDINGS: "off", SECRETS_KEY: "5".repeat(64) }
  })

/** Another engine on the same database, ended with the test. `release`: the folder of its program, if it is another one. */
const another = async (t: Test, world: World, name: string, release?: string): Promise<EngineProcess> => {
  // One that beats late because the machine is busy is not to be replaced.
  const own: Environment = { DATA_DIR: await newFolder(t), NODE_NAME: name, TAKEOVER_AFTER: "300" }
  const engine = spawnEngine({ ...world.environment, ...own }, undefined, release)
  t.teardown(async () => {
    engine.kill("SIGCONT")
    engine.kill("SIGKILL")
    await engine.exited
  })
  return engine
}
const word = (engine: EngineProcess, text: string) => untilTrue(`"${text}" of the engine`, () => engine.output().includes(text))

const recordsIn = async (sql: Witness) => [...(await sql`SELECT * FROM schema_migrations ORDER BY version`)]
const newestIn = async (sql: Witness): Promise<unknown> => (await recordsIn(sql)).at(-1)?.["version"]

/** As many calls as the cap allows, which go on until the emulator lets callees hang up again. */
const holdCalls = async ({ emulator }: World) => {
  emulator.letTalk(true)
  await untilTrue("calls up to the cap", () => emulator.live() === cap)
}

/** A transaction that, like a dump, keeps everybody from changing the table of attempts. Returns what ends it. */
const beginDump = async (sql: Witness) => {
  const dump = await sql.reserve()
  await dump`BEGIN`
  await dump`LOCK TABLE attempts IN ACCESS SHARE MODE`
  return async () => {
    await dump`COMMIT`
    dump.release()
  }
}

t.test("given a campaign, when a newer release takes over and the older one comes back", { buffered: true }, async (t) => {
  const world = await open(t)
  const { emulator, sql } = world
  const { id } = await world.campaign(numbersOf(150, ["01", "01", "02"]), { max_concurrency: cap })
  await world.api.start(id)
  await world.seen("answered", cap)
  const moreDials = async (count: number) => world.seen("originate", emulator.log.count("originate") + count)

  await holdCalls(world)
  const release = await newerRelease(t, expansions)
  const endDump = await beginDump(sql)
  const next = await another(t, world, "newer", release)
  await word(next, "a migration waits for a table that is in use")
  emulator.letTalk(false)
  await moreDials(3 * cap)
  t.not(await newestIn(sql), 994, "then the old one dials while a migration waits")
  await endDump()
  await word(next, "stands by")
  t.equal(await newestIn(sql), 994, "then the schema is expanded beside the old one")
  await moreDials(2 * cap)
  t.notOk(next.output().includes("is ready"), "which goes on dialing")

  await holdCalls(world)
  world.engine.kill("SIGTERM")
  const held = emulator.log.count("originate")
  await word(world.engine, "calls get time to end")
  emulator.letTalk(false)
  t.equal((await world.engine.exited).code, 0, "then the old one ends in order, when its calls have ended")
  await next.ready
  await untilTrue("dials of the new one", () => emulator.log.count("originate") >= held + 2 * cap)
  t.strictSame(hungUpByUs(world), [], "and no conversation is hung up by us")

  await holdCalls(world)
  next.kill("SIGTERM")
  await word(next, "calls get time to end")
  emulator.letTalk(false)
  t.equal((await next.exited).code, 0)
  const records = await recordsIn(sql)
  await world.launch()
  t.match(world.engine.output(), /the schema is newer than this engine, which can run on it/, "then the old release runs on the new schema")
  await world.api.untilState(id, "completed")
  t.strictSame(await recordsIn(sql), records, "and changes nothing of it")

  await judge(t, world, id, cap)
  t.strictSame(hungUpByUs(world), [], "no conversation was hung up by us")
  const attempts = (await attemptsOf(sql, id)).filter(({ state }) => state !== "void")
  const dialed = emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ channelId }) => channelId)
  t.strictSame(dialed.toSorted(), attempts.map((attempt) => attempt.id).toSorted(), "every attempt on record was dialed, once")
  t.strictSame(
    attempts.filter(({ outcome }) => outcome === "unknown" || outcome === "error"),
    [],
    "and what became of it is known"
  )
})

t.test("given a newer release that contracts the schema, when the older one comes back", { buffered: true }, async (t) => {
  const world = await open(t)
  const { sql } = world
  const release = await newerRelease(t, { ...expansions, ...contraction })
  const newer = await another(t, world, "newer", release)
  await word(newer, "stands by")
  t.equal(await newestIn(sql), 994, "then nothing is contracted while the old one runs")
  const standby = await another(t, world, "standby")
  await word(standby, "stands by")
  t.match(standby.output(), /the schema is newer than this engine/)
  standby.kill("SIGSTOP")

  t.equal((await world.end("SIGTERM")).code, 0)
  await newer.ready
  t.equal(await newestIn(sql), 995, "and it is once that one has ended")
  const records = await recordsIn(sql)
  const refusal = /Migration 0995_notes\.sql: was applied by a newer engine and contracts the schema: it needs an engine that knows 0994/
  const old = await another(t, world, "old")
  t.equal((await old.exited).code, 1, "then the older one does not start")
  t.match(old.output(), refusal, "and says why")

  standby.kill("SIGCONT")
  newer.kill("SIGKILL")
  t.equal((await standby.exited).code, 1, "and one that has stood by since before does not take over")
  t.match(standby.output(), refusal)
  t.strictSame(await recordsIn(sql), records, "nothing of the schema is changed")

  await sql`UPDATE schema_migrations SET checksum = reverse(checksum) WHERE version = 1`
  const refused = await another(t, world, "newer", release)
  t.equal((await refused.exited).code, 1)
  t.match(
    refused.output(),
    /Migration 0001_foundation\.sql: was changed after it had been applied/,
    "a changed migration is refused as ever"
  )
  await sql`UPDATE schema_migrations SET checksum = reverse(checksum) WHERE version = 1`
  const again = await another(t, world, "newer", release)
  t.match(await again.ready, /^http/, "and the newer one starts again")
})
