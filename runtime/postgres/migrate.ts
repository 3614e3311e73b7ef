/**
 * Brings the schema up to date: applies migrations in order, each in its own transaction, and records each with its checksum and what it needs,
 * so that an engine that lacks the file knows whether it can run. Forward only. Any number of nodes may start at once: one migrates, the others
 * wait.
 *
 * An engine expands the schema when it starts, alongside the engine that has the database, and contracts it once it has the database to itself.
 * It does not change a schema that is newer than its own.
 */
import { Effect, Schedule, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Applied, type Migration, MigrationFailed, obstacleOf } from "./Migration.ts"

// An arbitrary number that no other advisory lock uses.
const advisoryLock = 7_265_871
const advisoryMillis = 120_000
/**
 * Successive lock timeouts for tables that a migration changes. Anything else that needs the table queues up behind the waiting migration,
 * dialing included, so most waits are short; the longest outlasts an autovacuum in the way, which Postgres cancels after a second.
 */
const tableMillis = [100, 200, 400, 800, 1600]
const pause = "1 second"
const maxTries = 120

/** Something else is using a table that a migration changes. */
class TableInUse extends Schema.TaggedError<TableInUse>()("TableInUse", { file: Schema.String }) {}

const failed = (file: string) => (error: MigrationFailed | TableInUse | SqlError.SqlError) => {
  if (error._tag !== "SqlError") return error
  if (error.reason._tag === "LockTimeoutError")
    return new MigrationFailed({ file, reason: "another node has been migrating for two minutes" })
  const { cause } = error.reason
  return new MigrationFailed({ file, reason: cause instanceof Error ? cause.message : error.message })
}

/** Runs `work` in one transaction, holding the lock that keeps other nodes out. */
const exclusive = Effect.fnUntraced(function* <A, E extends MigrationFailed | TableInUse>(
  file: string,
  work: Effect.Effect<A, E | SqlError.SqlError>
) {
  const sql = yield* SqlClient.SqlClient
  const locked = Effect.gen(function* () {
    // A migration may take longer than any statement of the engine.
    yield* sql`SELECT set_config('lock_timeout', ${String(advisoryMillis)}, true), set_config('statement_timeout', '0', true)`
    yield* sql`SELECT pg_advisory_xact_lock(${advisoryLock})`
    return yield* work
  })
  return yield* Effect.mapError(sql.withTransaction(locked), failed(file))
})

/** Returns the versions that were applied. Fails, changing nothing, if this engine cannot run on them. */
const checkApplied = Effect.fnUntraced(function* (own: ReadonlyArray<Migration>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version int PRIMARY KEY, file text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), needs int
    )`
  const found = yield* sql`SELECT FROM pg_attribute WHERE attrelid = 'schema_migrations'::regclass AND attname = 'needs'`
  // Otherwise left alone: the ALTER would have to wait even for a running dump.
  if (found.length === 0) yield* sql`ALTER TABLE schema_migrations ADD COLUMN needs int`
  const applied = yield* sql<Applied>`SELECT version, file, checksum, needs FROM schema_migrations ORDER BY version`
  const obstacle = obstacleOf(own, applied)
  if (obstacle !== undefined) return yield* obstacle
  const newest = applied.at(-1)
  if (newest !== undefined && newest.version > (own.at(-1)?.version ?? 0))
    yield* Effect.logInfo("the schema is newer than this engine, which can run on it").pipe(Effect.annotateLogs({ newest: newest.file }))
  return new Set(applied.map(({ version }) => version))
})

const run = Effect.fnUntraced(function* ({ checksum, file, needs, source, version }: Migration, waitMillis: number) {
  const sql = yield* SqlClient.SqlClient
  const recorded = yield* sql`
    INSERT INTO schema_migrations (version, file, checksum, needs) VALUES (${version}, ${file}, ${checksum}, ${needs}::int)
    ON CONFLICT DO NOTHING RETURNING version`
  // Another node has applied it meanwhile.
  if (recorded.length === 0) return
  // The driver sends one statement at a time, so the whole file is passed to the server as a value, and the server splits it into statements.
  yield* sql`SELECT set_config('trunkline.migration', ${source}, true), set_config('lock_timeout', ${String(waitMillis)}, true)`
  yield* sql`DO $$ BEGIN EXECUTE current_setting('trunkline.migration'); END $$`.unprepared.pipe(
    Effect.catchIf(isTableInUse, () => new TableInUse({ file }))
  )
  yield* Effect.logInfo("migration applied").pipe(Effect.annotateLogs({ file }))
})

const isTableInUse = ({ reason }: SqlError.SqlError) => reason._tag === "LockTimeoutError" || reason._tag === "DeadlockError"

const apply = Effect.fnUntraced(function* (migration: Migration) {
  const { file } = migration
  const using = Effect.provideService(SqlClient.SqlClient, yield* SqlClient.SqlClient)
  let tries = 0
  const once = Effect.suspend(() => exclusive(file, using(run(migration, tableMillis[tries++ % tableMillis.length] ?? 0))))
  yield* once.pipe(
    Effect.tapError((error) =>
      error._tag === "TableInUse" && tries === 1
        ? Effect.annotateLogs(Effect.logWarning("a migration waits for a table that is in use"), { file })
        : Effect.void
    ),
    Effect.retry({ while: ({ _tag }) => _tag === "TableInUse", schedule: Schedule.spaced(pause), times: maxTries }),
    Effect.catchTag(
      "TableInUse",
      () => new MigrationFailed({ file, reason: "a table has been in use for minutes, by a dump or a long transaction (pg_stat_activity)" })
    )
  )
})

const unapplied = Effect.fnUntraced(function* (own: ReadonlyArray<Migration>) {
  const using = Effect.provideService(SqlClient.SqlClient, yield* SqlClient.SqlClient)
  const applied = yield* exclusive("schema_migrations", using(checkApplied(own)))
  return own.filter(({ version }) => !applied.has(version))
})

/** Applies migrations up to the first that contracts. Returns the rest. */
export const expand = Effect.fn("expand")(function* (own: ReadonlyArray<Migration>) {
  const pending = yield* unapplied(own)
  const contraction = pending.findIndex(({ needs }) => needs !== null && needs > 0)
  const end = contraction === -1 ? pending.length : contraction
  yield* Effect.forEach(pending.slice(0, end), apply, { discard: true })
  return pending.slice(end)
})

/** Applies all migrations. No other engine may be using the database; if there are any to apply, it first runs `alone`, which waits for that. */
export const migrate = Effect.fn("migrate")(function* (own: ReadonlyArray<Migration>, alone: Effect.Effect<void> = Effect.void) {
  const pending = yield* unapplied(own)
  if (pending.length === 0) return
  yield* alone
  yield* Effect.forEach(pending, apply, { discard: true })
})
