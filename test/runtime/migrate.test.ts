/** How the schema is migrated: that of an empty database, by several nodes at once, and that of a database from an earlier version. */
import { Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import openWitness from "postgres"
import t from "tap"
import { expand } from "#runtime/postgres/migrate.ts"
import { readMigrations } from "#runtime/postgres/Migration.ts"
import { databaseLayer } from "#runtime/postgres/postgres.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { clientLayer, emptyDatabase, migrate } from "#test/support/postgres.ts"
import { runLive } from "#test/support/run.ts"

const migrations = (files: Readonly<Record<string, string>>): string => {
  const folder = temporaryFolder(t)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
const first = { "0001_first.sql": "-- why\nCREATE TABLE kept (id int);\nINSERT INTO kept VALUES (1);\n" }
const second = { "0002_second.sql": "INSERT INTO kept VALUES (2)" }
const onEmpty = <A>(use: (url: Redacted.Redacted) => Effect.gen.Return<A, unknown, Scope.Scope>) =>
  runLive(Effect.flatMap(emptyDatabase, (url) => Effect.gen(() => use(url))))
type Witness = ReturnType<typeof openWitness>
const asWitness = <A>(url: Redacted.Redacted, use: (sql: Witness) => Promise<A>) =>
  Effect.promise(async () => {
    const sql = openWitness(Redacted.value(url), { max: 1, onnotice: () => {} })
    return await use(sql).finally(() => sql.end())
  })
const migrating = (url: Redacted.Redacted, folder?: string) => migrate(folder).pipe(Effect.provide(Layer.fresh(clientLayer(url))))
const refusal = (url: Redacted.Redacted, folder: string) => Effect.map(Effect.flip(migrating(url, folder)), (error) => error.message)
const keptIn = (url: Redacted.Redacted) => asWitness(url, async (sql) => (await sql`SELECT id FROM kept ORDER BY id`).map(({ id }) => id))
const everything = async (sql: Witness) => ({
  applied: await sql`SELECT version, file, checksum, needs, applied_at FROM schema_migrations ORDER BY version`,
  kept: await sql`SELECT id, xmin::text FROM kept ORDER BY id`,
  relations: await sql`SELECT relname, xmin::text FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname`
})

type Files = Readonly<Record<string, string>>
/** What is kept after all of these have been applied to an empty database, one after the other. */
const applied = (expected: ReadonlyArray<number>, title: string, ...all: ReadonlyArray<Files>) =>
  t.test(title, async (t) => {
    const kept = await onEmpty(function* (url) {
      for (const files of all) yield* migrating(url, migrations(files))
      return yield* keptIn(url)
    })
    t.strictSame(kept, expected)
  })
/** After those that were applied, the last ones are refused, and what was there stays as it was. */
const refused = (expected: RegExp, title: string, ...all: ReadonlyArray<Files>) =>
  t.test(title, async (t) => {
    const { after, before, message } = await onEmpty(function* (url) {
      for (const files of all.slice(0, -1)) yield* migrating(url, migrations(files))
      const before = all.length > 1 && (yield* asWitness(url, everything))
      const message = yield* refusal(url, migrations(all.at(-1) ?? {}))
      return { after: all.length > 1 && (yield* asWitness(url, everything)), before, message }
    })
    t.match(message, expected)
    t.strictSame(after, before)
  })

applied([1, 2], "migrations are applied once each, in order", first, first, { ...second, ...first })
const dos = { "0001_first.sql": first["0001_first.sql"].replaceAll("\n", "\r\n") }
applied([1], "different line endings are not a change", first, dos)
const changed = { "0001_first.sql": "CREATE TABLE kept (id bigint)" }
refused(/0001_first\.sql: was changed/, "a file that was changed after it was applied is named", first, changed)

t.test("nodes that start at once apply them once", async (t) => {
  const folder = migrations({ ...first, ...second })
  const kept = await onEmpty(function* (url) {
    yield* Effect.forEach([1, 2, 3, 4], () => migrating(url, folder), { concurrency: "unbounded" })
    return yield* keptIn(url)
  })
  t.strictSame(kept, [1, 2])
})

const bad: ReadonlyArray<readonly [title: string, source: string, message: RegExp]> = [
  ["a file that fails", "INSERT INTO kept VALUES (9);\nINSERT INTO nowhere VALUES (1);", /0002_bad\.sql: .*nowhere/],
  ["a file that ends its transaction", "INSERT INTO kept VALUES (9); COMMIT; INSERT INTO kept VALUES (10)", /0002_bad\.sql: /]
]
for (const [title, source, expected] of bad)
  t.test(`${title} leaves nothing behind, and is named`, async (t) => {
    const [message, kept] = await onEmpty(function* (url) {
      return [yield* refusal(url, migrations({ ...first, "0002_bad.sql": source })), yield* keptIn(url)] as const
    })
    t.match(message, expected)
    t.strictSame(kept, [1])
  })

const accepted: ReadonlyArray<readonly [source: string, kept: ReadonlyArray<number>]> = [
  ["", [1]],
  ["-- only; a comment\n/* ; */ ;;\n", [1]],
  ["-- it's\nDELETE FROM kept -- one;\n;/* it's; */", []],
  ["INSERT INTO kept SELECT length(';it''s;'); CREATE TABLE \"a;\"\"b\" ()", [1, 6]],
  ["INSERT INTO kept SELECT length(E'it\\'s;');", [1, 5]],
  ["DO $body$ BEGIN INSERT INTO kept VALUES (2); PERFORM $$;$$; END $body$; INSERT INTO kept VALUES (3)", [1, 2, 3]],
  ["CREATE FUNCTION two() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END; INSERT INTO kept SELECT two()", [1, 2]],
  ["CREATE TABLE more (id int); INSERT INTO more VALUES (7); ALTER TABLE more ADD n int; INSERT INTO kept SELECT id FROM more", [1, 7]]
]
for (const [source, kept] of accepted)
  applied(kept, `a file may contain any SQL that Postgres accepts in a transaction: ${source}`, { ...first, "0002_any.sql": source })

t.test("a schema that a newer engine has only expanded is accepted, and left alone", async (t) => {
  const newer = migrations({ ...first, "0002_more.sql": `-- Expands. A row.\n${second["0002_second.sql"]}` })
  const [before, after] = await onEmpty(function* (url) {
    yield* migrating(url, newer)
    const before = yield* asWitness(url, everything)
    yield* migrating(url, migrations(first))
    return [before, yield* asWitness(url, everything)] as const
  })
  t.strictSame(after, before)
  t.equal(before.applied.length, 2)
})

t.test("a schema that a newer engine has contracted is refused by engines that it does not support, and left alone", async (t) => {
  const third = { "0003_gone.sql": "-- Contracts: needs 0002. Nobody reads them.\nDELETE FROM kept" }
  const more = { "0002_more.sql": "-- Expands.\nCREATE TABLE more ()" }
  const story = await onEmpty(function* (url) {
    yield* migrating(url, migrations({ ...first, ...more, ...third }))
    const before = yield* asWitness(url, everything)
    const message = yield* refusal(url, migrations(first))
    yield* migrating(url, migrations({ ...first, ...more }))
    return { after: yield* asWitness(url, everything), before, message }
  })
  t.match(
    story.message,
    /0003_gone\.sql: was applied by a newer engine and contracts .* needs an engine that knows 0002.* after 0001\. Start/
  )
  t.strictSame(story.after, story.before)
})

const grown = { "0003_grown.sql": "-- Expands.\nCREATE TABLE grown ()" }
const unfit: ReadonlyArray<readonly [applied: Files, own: Files, expected: RegExp]> = [
  [{ ...first, ...second }, first, /0002_second\.sql: was applied by a newer engine, and does not say which others can run/],
  [{ ...first, ...second }, { ...first, ...grown }, /0002_second\.sql: was applied, but is not one of this engine's/],
  [{ ...first, ...grown }, { ...first, ...second }, /0002_second\.sql: is missing from a schema that a newer engine/],
  [{ ...first, ...grown }, changed, /0001_first\.sql: was changed after/]
]
for (const [before, own, expected] of unfit)
  refused(expected, `a schema is refused if it cannot be known whether it fits: ${expected}`, before, own)

t.test("beside another engine the schema is only expanded", async (t) => {
  const folder = migrations({
    ...first,
    "0002_more.sql": "-- Expands.\nINSERT INTO kept VALUES (2)",
    "0003_gone.sql": "-- Contracts: needs 0002.\nDELETE FROM kept",
    "0004_more.sql": "-- Expands.\nINSERT INTO kept VALUES (4)"
  })
  const story = await onEmpty(function* (url) {
    const left = yield* Effect.flatMap(readMigrations(folder), expand).pipe(Effect.provide(Layer.fresh(clientLayer(url))))
    const beside = yield* keptIn(url)
    yield* migrating(url, folder)
    return { alone: yield* keptIn(url), beside, left: left.map(({ file }) => file) }
  })
  t.strictSame(story, { alone: [4], beside: [1, 2], left: ["0003_gone.sql", "0004_more.sql"] })
})

const undeclared: ReadonlyArray<readonly [source: string, expected: RegExp]> = [
  ["-- Why.\nSELECT 1", /0093_x\.sql: must begin with "-- Expands\."/],
  ["SELECT 1;\n-- Expands.\n", /must begin/],
  ["-- Contracts.\nSELECT 1", /must begin/],
  ["-- Contracts: needs 0093.\nSELECT 1", /says that it needs 0093, which is no migration before it/],
  ["-- Contracts: needs 0002.\nSELECT 1", /says that it needs 0002/]
]
for (const [source, expected] of undeclared)
  refused(expected, `a file must say whether engines of earlier releases can run on it: ${source}`, { ...first, "0093_x.sql": source })
refused(/1_x\.sql: must be named/, "names must have a number", { "1_x.sql": "" })
refused(/0001_first\.sql: its number is taken/, "names must be in order", { ...first, "0001_again.sql": "" })

t.test("the engine's own migrations apply to an empty database", async (t) => {
  const tables = await onEmpty(function* (url) {
    const query = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 FROM contacts, attempts, runs`)
    return yield* Effect.provide(query, databaseLayer(url))
  })
  t.strictSame(tables, [])
})

/** The migrations of an early version, with the checksums that it stored. */
const early: ReadonlyArray<readonly [file: string, checksum: string]> = [
  ["0001_foundation.sql", "961c06c098502d8e3bce6f782a1956c661e0a250b2a948c6ba9240e3d6848e60"],
  ["0002_lean_dials.sql", "ac88a83fafcadae53b98b1ae2fe922e93acb5de25cf44a693a6485c1c2d0f751"],
  ["0003_accounts.sql", "08bd73e0c3771a2c3f2afdf9a5307e39a68051285f60d08e2c413ef648317be3"],
  ["0004_campaigns.sql", "b084bd719956988d1c835757b833e6d4977aae8c5f9bf68200d37b608c3e5ed0"],
  ["0005_agents.sql", "601f52ab78ab32711b6b302acd61074f7e1a6d02f18e0e1bd2e04d9b6422c6e9"],
  ["0006_runs.sql", "298487d32632653b913a65c9c6d6119dfb18014d0f7a47f8ac771caea5459cbe"],
  ["0007_phone_numbers.sql", "7c46e73d262484cfe91fef2334969aec5a9198c8b1fe6247e4cbe9b82a209243"],
  ["0008_resources.sql", "f5bdf5b7abe169806da5d098d9f24d476b8f574f9def809cb21bc308f2ecbefe"],
  ["0009_events.sql", "1e6da5c6a7ae9a8af7bfa588dd01504eec95ede454e347d13351860b5b010add"],
  ["0010_tenancy.sql", "daf66adb325050373ed85d1424cd0db7c2b5afea7981823b14ffb8817e852f16"],
  ["0011_node_webhooks.sql", "5c678b1ae5e8a460771d0ae1159c6935a6434a2e6e7861b2ef5f9270cd7ff441"],
  ["0012_old_triggers.sql", "85041210d081cb54e45ababb2fab5301195b3b8e0910c65fc02a6c30b858556b"],
  ["0013_housekeeping.sql", "4f717004568e17f49dfe79d8d4359d98b3784f0b384835eba0342688aeb50633"],
  ["0014_model_configurations.sql", "3c2944a1685f8461e8871cfee4b02fc2828fbb5dc5d4b7385bb0795c39a0877d"],
  ["0015_called_number.sql", "af066db4270f973591eadfee844bfc234832a05a9e7ba68359f9e09fd9797983"]
]

const ownFolder = fileURLToPath(new URL("../../core/migrations/", import.meta.url))
/** What that version did to an empty database, and one organization. */
const asBefore = async (sql: Witness): Promise<void> => {
  await sql.unsafe(`CREATE TABLE schema_migrations (
    version int PRIMARY KEY, file text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
  for (const [file, checksum] of early) {
    await sql.unsafe(readFileSync(`${ownFolder}${file}`, "utf8")).simple()
    await sql`INSERT INTO schema_migrations VALUES (${Number(file.slice(0, 4))}, ${file}, ${checksum}, '2026-01-01')`
  }
  await sql`INSERT INTO organizations (name, concurrency_limit) VALUES ('Acme', 3)`
}

const recordsIn = (sql: Witness) => sql`SELECT file, checksum, applied_at = '2026-01-01' AS is_old FROM schema_migrations ORDER BY file`
const schemaOf = async (sql: Witness) => ({
  columns: await sql`SELECT table_name, column_name, data_type, column_default, is_nullable FROM information_schema.columns
    WHERE table_schema = 'public' ORDER BY table_name, column_name`,
  constraints: await sql`SELECT conrelid::regclass::text AS of, conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace ORDER BY of, conname`,
  functions: await sql`SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY proname`,
  indexes: await sql`SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexdef`,
  policies: await sql`SELECT tablename, policyname, qual, with_check FROM pg_policies ORDER BY tablename, policyname`,
  triggers: await sql`SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE NOT tgisinternal ORDER BY definition`
})

t.test("an early database is upgraded, and its records are kept", async (t) => {
  const { fresh, organizations, present, records, upgraded } = await runLive(function* () {
    const [old, empty] = [yield* emptyDatabase, yield* emptyDatabase]
    yield* asWitness(old, asBefore)
    yield* Effect.all([migrating(old), migrating(empty)])
    return {
      fresh: yield* asWitness(empty, schemaOf),
      organizations: yield* asWitness(old, (sql) => sql`SELECT name, concurrency_limit FROM organizations`),
      present: yield* readMigrations(),
      records: yield* asWitness(old, recordsIn),
      upgraded: yield* asWitness(old, schemaOf)
    }
  })
  t.strictSame(
    records.map(({ checksum, file, is_old }) => [file, checksum, is_old]),
    present.map(({ checksum, file }, at) => [...(early[at] ?? [file, checksum]), at < early.length])
  )
  t.same(upgraded, fresh, "the schema is that of an empty database")
  t.same(organizations, [{ name: "Acme", concurrency_limit: 3 }])
})

t.test("an early database with a file that had other contents is refused", async (t) => {
  const refused = await onEmpty(function* (url) {
    yield* asWitness(url, asBefore)
    yield* asWitness(url, (sql) => sql`UPDATE schema_migrations SET checksum = 'other' WHERE version = 7`)
    const { message } = yield* Effect.flip(migrating(url))
    return { message, records: yield* asWitness(url, recordsIn) }
  })
  t.match(refused.message, /0007_phone_numbers\.sql: was changed after it had been applied/)
  t.equal(refused.records.length, early.length)
})
