/**
 * Brings the schema up to date: applies the files of core/migrations in the order of their names, each in a transaction of its own, and
 * records it with its checksum. Forward only. Any number of nodes may start at once: one migrates, the others wait for it.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The schema cannot be brought up to date. Nothing in `file` was applied. */
class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Migration ${this.file}: ${this.reason}`
  }
}

interface Migration {
  readonly version: number
  readonly file: string
  readonly checksum: string
  readonly source: string
}

const ownMigrations = fileURLToPath(new URL("../../core/migrations/", import.meta.url))
const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/
// An arbitrary number that no other advisory lock uses.
const advisoryLock = 7_265_871
const lockTimeoutMillis = 120_000

const parse = (file: string, source: string): Migration => {
  const text = source.replaceAll("\r\n", "\n")
  return { version: Number(fileName.exec(file)?.[1]), file, checksum: createHash("sha256").update(text).digest("hex"), source: text }
}

/** The migrations in `folder`, oldest first. */
export const readMigrations = Effect.fnUntraced(function* (folder: string = ownMigrations) {
  const names = yield* Effect.promise(() => readdir(folder))
  const files = names.filter((name) => name.endsWith(".sql")).sort()
  for (const [index, file] of files.entries()) {
    if (!fileName.test(file)) return yield* new MigrationFailed({ file, reason: "must be named NNNN_name.sql" })
    if (files[index - 1]?.slice(0, 4) === file.slice(0, 4)) return yield* new MigrationFailed({ file, reason: "its number is taken" })
  }
  return yield* Effect.forEach(files, (file) =>
    Effect.map(
      Effect.promise(() => readFile(join(folder, file), "utf8")),
      (source) => parse(file, source)
    )
  )
})

const failed = (file: string) => (error: MigrationFailed | SqlError.SqlError) => {
  if (error._tag === "MigrationFailed") return error
  if (error.reason._tag === "LockTimeoutError") return new MigrationFailed({ file, reason: "another node has been at it for two minutes" })
  const { cause } = error.reason
  return new MigrationFailed({ file, reason: cause instanceof Error ? cause.message : error.message })
}

/** Runs `work` in one transaction, under the lock that keeps other nodes out. */
const exclusive = Effect.fnUntraced(function* <A>(file: string, work: Effect.Effect<A, MigrationFailed | SqlError.SqlError>) {
  const sql = yield* SqlClient.SqlClient
  const locked = Effect.gen(function* () {
    // A migration may take longer than any statement of the engine.
    yield* sql`SELECT set_config('lock_timeout', ${String(lockTimeoutMillis)}, true), set_config('statement_timeout', '0', true)`
    yield* sql`SELECT pg_advisory_xact_lock(${advisoryLock})`
    return yield* work
  })
  return yield* Effect.mapError(sql.withTransaction(locked), failed(file))
})

const checkApplied = Effect.fnUntraced(function* (migrations: ReadonlyArray<Migration>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version int PRIMARY KEY, file text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
    )`
  const applied = yield* sql<Pick<Migration, "version" | "file" | "checksum">>`SELECT version, file, checksum FROM schema_migrations`
  for (const row of applied) {
    const known = migrations.find(({ version }) => version === row.version)
    const reason =
      known === undefined
        ? "was applied by a newer engine, this one does not know it"
        : "was changed after it had been applied; put it back as it was and write a new file"
    if (known?.checksum !== row.checksum) return yield* new MigrationFailed({ file: row.file, reason })
  }
  return new Set(applied.map(({ version }) => version))
})

const apply = Effect.fnUntraced(function* (migration: Migration) {
  const sql = yield* SqlClient.SqlClient
  const { checksum, file, source, version } = migration
  const recorded = yield* sql`
    INSERT INTO schema_migrations (version, file, checksum) VALUES (${version}, ${file}, ${checksum}) ON CONFLICT DO NOTHING RETURNING version`
  // Another node has applied it meanwhile.
  if (recorded.length === 0) return
  // The driver sends one statement at a time, so the server gets the whole file as a value, and finds the statements itself.
  yield* sql`SELECT set_config('trunkline.migration', ${source}, true) IS NOT NULL`
  yield* sql`DO $$ BEGIN EXECUTE current_setting('trunkline.migration'); END $$`.unprepared
  yield* Effect.logInfo("migration applied").pipe(Effect.annotateLogs({ file }))
})

export const migrate = Effect.fn("migrate")(function* (folder?: string) {
  const sql = yield* SqlClient.SqlClient
  const using = Effect.provideService(SqlClient.SqlClient, sql)
  const migrations = yield* readMigrations(folder)
  const applied = yield* exclusive("schema_migrations", using(checkApplied(migrations)))
  for (const migration of migrations) {
    if (!applied.has(migration.version)) yield* exclusive(migration.file, using(apply(migration)))
  }
})
