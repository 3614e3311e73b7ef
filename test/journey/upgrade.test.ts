/**
 * A newer release takes over from an older one, and the older one comes back. The newer one is the same program with additional migrations, in
 * a folder of its own. `UPGRADE_CALLS=100` runs the stories with a hundred calls at once instead of six.
 */
import t, { type Test } from "tap"
import { type Environment, wrote } from "#test/support/EngineProcess.ts"
import { attemptsOf, judge, numbersOf, untilTrue, type Witness, World } from "#test/support/engine.ts"
import { newerRelease } from "#test/support/newerRelease.ts"
import { recordsOfHungUp } from "#test/support/rivals.ts"
import { another, sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 2

const cap = Number(process.env["UPGRADE_CALLS"] ?? 6)
const expansions = {
  "0991_attempts.sql": "-- Expands. A note on attempts.\nALTER TABLE attempts ADD COLUMN note text;\n",
  "0992_contacts.sql": "-- Expands. A note on contacts.\nALTER TABLE contacts ADD COLUMN note text NOT NULL DEFAULT '';\n",
  "0993_campaigns.sql": "-- Expands. A note on campaigns.\nALTER TABLE campaigns ADD COLUMN note text;\n",
  "0994_runs.sql": "-- Expands. A note on runs, and a table.\nALTER TABLE runs ADD COLUMN note int;\nCREATE TABLE notes (id int);\n"
}
const contraction = { "0995_notes.sql": "-- Contracts: needs 0994. Nobody writes notes any more.\nDROP TABLE notes;\n" }

const open = async (t: Test) =>
  World.open(t, {
    emulator: { ringMillis: 200, seed: 7, talkMillis: 1000 },
    environment: {
      DRAIN: "600",
      ...(await sharing(t)),
      ORG_CONCURRENCY: String(cap),
      TAKEOVER_AFTER: "300"
    }
  })

/** An engine whose heartbeat is late because the machine is busy must not be replaced. */
const beside = (t: Test, world: World, name: string, release?: string, environment: Environment = {}) =>
  another(t, world, { NODE_NAME: name, TAKEOVER_AFTER: "300", ...environment }, release)

const recordsIn = async (sql: Witness) => [...(await sql`SELECT * FROM schema_migrations ORDER BY version`)]
const newestIn = async (sql: Witness): Promise<unknown> => (await recordsIn(sql)).at(-1)?.["version"]

/** Fills the cap with answered calls, which continue until the emulator lets callees hang up again. */
const holdCalls = async ({ emulator, sql }: World) => {
  emulator.letTalk(true)
  // Whoever still rings may be busy, and is then followed by somebody else.
  await untilTrue("answered calls up to the cap", async () => {
    const answered = await sql`SELECT FROM attempts WHERE state = 'answered'`
    return answered.length === cap && emulator.live() === cap
  })
}

/** A transaction that, like a dump, keeps everybody from altering the table of attempts. Returns a function that ends it. */
const beginDump = async (sql: Witness) => {
  const dump = await sql.reserve()
  await dump`BEGIN`
  await dump`LOCK TABLE attempts IN ACCESS SHARE MODE`
  return async () => {
    await dump`COMMIT`
    dump.release()
  }
}

t.test("given two engines, when two of a newer release take over and the older one comes back", { buffered: true }, async (t) => {
  const world = await open(t)
  const { emulator, sql } = world
  const oldNode = await beside(t, world, "oldcalls")
  await wrote(world, '"node":"oldcalls"')
  const { id } = await world.campaign(numbersOf(25 * cap, ["01", "01", "02"]), { max_concurrency: cap })
  await world.api.start(id)
  await world.seen("answered", cap)
  const moreDials = async (count: number) => world.seen("originate", emulator.log.count("originate") + count)

  await holdCalls(world)
  const release = await newerRelease(t, expansions)
  const endDump = await beginDump(sql)
  const next = await beside(t, world, "newer", release)
  await wrote(next, "a migration waits for a table that is in use")
  emulator.letTalk(false)
  await moreDials(3 * cap)
  t.not(await newestIn(sql), 994, "then the old one dials while a migration waits")
  await endDump()
  await wrote(next, "stands by")
  t.equal(await newestIn(sql), 994, "then the schema is expanded while the old one runs")
  await moreDials(2 * cap)
  t.notOk(next.output().includes("is ready"), "which goes on dialing")

  await holdCalls(world)
  const callsOf = async (node: string) => (await sql`SELECT FROM attempts WHERE node = ${node} AND state IN ('sent', 'answered')`).length
  t.ok((await callsOf("oldcalls")) >= 1 && (await callsOf("journey")) >= 1, "both have calls")
  oldNode.kill("SIGTERM")
  await wrote(oldNode, "calls get time to end")
  world.engine.kill("SIGTERM")
  const held = emulator.log.count("originate")
  await wrote(world.engine, "calls get time to end")
  await next.ready
  t.equal(emulator.live(), cap, "then the newer one takes over while all calls are up")
  const nextNode = await beside(t, world, "newcalls", release)
  await wrote(next, '"node":"newcalls"')
  t.equal(emulator.log.count("originate"), held, "and dials nobody above the cap")
  emulator.letTalk(false)
  for (const old of [oldNode, world.engine])
    t.equal((await old.exited).code, 0, "and the old ones exit cleanly, when their calls have ended")
  await untilTrue("dials of the new one", () => emulator.log.count("originate") >= held + 2 * cap)
  t.strictSame(await recordsOfHungUp(world), [], "and no conversation is hung up by us")

  await holdCalls(world)
  for (const engine of [nextNode, next]) {
    engine.kill("SIGTERM")
    await wrote(engine, "calls get time to end")
  }
  emulator.letTalk(false)
  for (const engine of [nextNode, next]) t.equal((await engine.exited).code, 0)
  const records = await recordsIn(sql)
  await world.launch()
  await wrote(world.engine, "the schema is newer than this engine, which can run on it")
  await world.api.untilState(id, "completed")
  t.strictSame(await recordsIn(sql), records, "and changes nothing of it")

  await judge(t, world, id, cap)
  t.strictSame(await recordsOfHungUp(world), [], "no conversation was hung up by us")
  const attempts = (await attemptsOf(sql, id)).filter(({ state }) => state !== "void")
  const dialed = emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ channelId }) => channelId)
  t.strictSame(dialed.toSorted(), attempts.map((attempt) => attempt.id).toSorted(), "every attempt on record was dialed, once")
  const unknown = attempts.filter(({ outcome }) => outcome === "unknown" || outcome === "error")
  t.strictSame(unknown, [], "and what became of it is known")
})

t.test("given a newer release that contracts the schema, when the older one comes back", { buffered: true }, async (t) => {
  const world = await open(t)
  const { sql } = world
  const release = await newerRelease(t, { ...expansions, ...contraction })
  // For so long it waits for the one that stands still, before it contracts the schema.
  const newer = await beside(t, world, "newer", release, { TAKEOVER_AFTER: "10" })
  await wrote(newer, "stands by")
  t.equal(await newestIn(sql), 994, "then nothing is contracted while the old one runs")
  const standby = await beside(t, world, "standby")
  await wrote(standby, "stands by")
  await wrote(standby, "the schema is newer than this engine")
  standby.kill("SIGSTOP")

  t.equal((await world.end("SIGTERM")).code, 0)
  await newer.ready
  t.equal(await newestIn(sql), 995, "and it is once that one has ended")
  const records = await recordsIn(sql)
  const refusal = /Migration 0995_notes\.sql: was applied by a newer engine and contracts the schema: it needs an engine that knows 0994/
  const old = await beside(t, world, "old")
  t.equal((await old.exited).code, 1, "then the older one does not start")
  t.match(old.output(), refusal, "and says why")

  standby.kill("SIGCONT")
  newer.kill("SIGKILL")
  t.equal((await standby.exited).code, 1, "and one that has stood by since before does not take over")
  t.match(standby.output(), new RegExp(`${refusal.source}|are settled by the one that dispatches them`))
  t.strictSame(await recordsIn(sql), records, "nothing of the schema is changed")

  await sql`UPDATE schema_migrations SET checksum = reverse(checksum) WHERE version = 1`
  const refused = await beside(t, world, "newer", release)
  t.equal((await refused.exited).code, 1)
  t.match(
    refused.output(),
    /Migration 0001_foundation\.sql: was changed after it had been applied/,
    "a changed migration is refused as ever"
  )
  await sql`UPDATE schema_migrations SET checksum = reverse(checksum) WHERE version = 1`
  const again = await beside(t, world, "newer", release)
  t.match(await again.ready, /^http/, "and the newer one starts again")
})

t.test("given a call node with calls, when a newer release takes over, and brings its own", { buffered: true }, async (t) => {
  const world = await open(t)
  const { emulator, engine: old, sql } = world
  const oldNode = await beside(t, world, "oldcalls")
  await wrote(old, '"node":"oldcalls"')
  const { id } = await world.campaign(numbersOf(12 * cap, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  await world.seen("answered", cap)
  await holdCalls(world)
  const callsOf = async (node: string) => (await sql`SELECT FROM attempts WHERE node = ${node} AND state <> 'void'`).length
  t.ok((await callsOf("oldcalls")) >= 1)

  const release = await newerRelease(t, { ...expansions, ...contraction })
  const newer = await beside(t, world, "newer", release)
  await wrote(newer, "stands by")
  // So that the newer one takes over.
  oldNode.kill("SIGSTOP")
  old.kill("SIGTERM")
  await wrote(newer, "the schema is contracted once the calls of an engine that is leaving are over")
  oldNode.kill("SIGCONT")
  await wrote(oldNode, "an engine of a newer release waits for this one")
  t.equal(emulator.live(), cap, "then the calls of the older engine and its call node are up")
  t.not(await newestIn(sql), 995, "and so is the schema that they use")
  emulator.letTalk(false)
  t.equal((await old.exited).code, 0)
  t.equal((await oldNode.exited).code, 0, "the older call node ends as well")
  world.become({ ...newer, url: await newer.ready })
  t.equal(await newestIn(sql), 995, "and the newer one dials")
  await holdCalls(world)
  await beside(t, world, "newcalls", release)
  await wrote(newer, '"node":"newcalls"')
  emulator.letTalk(false)
  await untilTrue("calls of the new call node", async () => (await callsOf("newcalls")) >= 3)

  await world.api.untilState(id, "completed")
  await judge(t, world, id, cap)
  t.strictSame(await recordsOfHungUp(world), [], "no conversation was hung up by us")
  const attempts = (await attemptsOf(sql, id)).filter(({ state }) => state !== "void")
  const unknown = attempts.filter(({ outcome }) => outcome !== "answered")
  t.strictSame(unknown, [], "and what became of every call is known")
})
