/**
 * Brings the schema up to date: applies the files of core/migrations in the order of their names, each in a transaction of its own, and
 * notes it with its checksum. Forward only. Any number of nodes may start at once; one migrates, the others wait for it.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The schema cannot be brought up to date; nothing of `file` was applied. */
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
  readonly statements: ReadonlyArray<string>
}

const ownMigrations = fileURLToPath(new URL("../../core/migrations/", import.meta.url))
const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/
// Any constant does, as long as nobody else locks the same.
const advisoryLock = 7_265_871
const lockTimeoutMillis = 120_000

// Comments, strings, quoted names and dollar-quoted bodies are taken whole, so that a `;` inside ends nothing. Not understood:
// `E'...\'...'` and a `BEGIN ATOMIC` body; write those dollar-quoted.
const token = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|;|[^;'"$/-]+|[\s\S]/gy

/** The statements of a file, without those that are only comment. Postgres takes one at a time. */
export const splitStatements = (source: string): ReadonlyArray<string> => {
  const statements: Array<string> = []
  let current = ""
  let empty = true
  const finish = () => {
    if (!empty) statements.push(current.trim())
    current = ""
    empty = true
  }
  for (const [part] of source.matchAll(token)) {
    if (part === ";") {
      finish()
      continue
    }
    current += part
    if (!part.startsWith("--") && !part.startsWith("/*") && part.trim() !== "") empty = false
  }
  finish()
  return statements
}

const parse = (file: string, source: string): Migration => {
  const text = source.replaceAll("\r\n", "\n")
  return {
    version: Number(fileName.exec(file)?.[1]),
    file,
    checksum: createHash("sha256").update(text).digest("hex"),
    statements: splitStatements(text)
  }
}

/** What lies in `folder`, oldest first. */
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

/** In one transaction, under the lock that keeps other nodes out. */
const exclusive = Effect.fnUntraced(function* <A>(file: string, work: Effect.Effect<A, MigrationFailed | SqlError.SqlError>) {
  const sql = yield* SqlClient.SqlClient
  const locked = Effect.gen(function* () {
    // A migration takes as long as it takes.
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
  const { checksum, file, version } = migration
  const noted = yield* sql`
    INSERT INTO schema_migrations (version, file, checksum) VALUES (${version}, ${file}, ${checksum}) ON CONFLICT DO NOTHING RETURNING version`
  // Another node was faster.
  if (noted.length === 0) return
  for (const statement of migration.statements) yield* sql.unsafe(statement).unprepared
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
