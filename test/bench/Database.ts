/** The embedded Postgres in its own temporary folder; every commit reaches the disk, as in production, unless told otherwise. */
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { chmodSync, mkdirSync, mkdtempSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { EmbeddedPostgres } from "#runtime/postgres/EmbeddedPostgres.ts"
import { removeData } from "#test/support/dataFolder.ts"
import { witness } from "#test/support/postgres.ts"

// Beside the default DATA_DIR: a temporary folder may be in memory, where a commit costs nothing.
const home = fileURLToPath(new URL("../../.data", import.meta.url))

export interface Database {
  readonly url: string
  /** For the engine's files. */
  readonly folder: string
  /** A client that is not the engine's. */
  readonly sql: ReturnType<typeof witness>
}

/** A new folder, removed in the end. */
export const newFolder = Effect.acquireRelease(
  Effect.sync(() => {
    mkdirSync(home, { recursive: true })
    const folder = mkdtempSync(join(home, "bench-"))
    // Postgres does not run as root: its user must be able to enter.
    chmodSync(folder, 0o711)
    return folder
  }),
  (folder) => Effect.promise(() => removeData(folder))
)

const openClient = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => witness(url)),
    (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
  )

const open = Effect.fnUntraced(function* (folder: string, { unsynced = false }: Options) {
  const context = yield* Layer.build(EmbeddedPostgres.layer({ fast: unsynced, folder: join(folder, "postgres") }))
  const postgres = Context.get(context, EmbeddedPostgres)
  const url = Redacted.value(postgres.url)
  return { folder, sql: yield* openClient(url), url }
})

interface Options {
  /** The database counts statements. */
  readonly statistics?: boolean
  /** Commits do not wait for the disk: for measurements that add their own delays. */
  readonly unsynced?: boolean
}

export const startDatabase = (options: Options = {}): Effect.Effect<Database, never, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* newFolder
    const configure = Effect.flatMap(open(folder, options), ({ sql }) =>
      Effect.promise(() => sql`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
    )
    if (options.statistics === true) yield* Effect.scoped(configure)
    const database = yield* open(folder, options)
    if (options.statistics === true) yield* Effect.promise(() => database.sql`CREATE EXTENSION pg_stat_statements`)
    return database
  }).pipe(Effect.orDie)

const commits = 200
/** About the time between two calls. */
const BREATH = "20 millis"

/** How long one small transaction takes from its begin until it is on disk. */
export const commitMillis = Effect.fnUntraced(function* ({ sql }: Database) {
  const millis: Array<number> = []
  yield* Effect.promise(() => sql`CREATE TABLE bench_commits AS SELECT 0 AS done`)
  for (let commit = 0; commit < commits; commit++) {
    const began = performance.now()
    yield* Effect.promise(() => sql`UPDATE bench_commits SET done = done + 1`)
    millis.push(performance.now() - began)
    yield* Effect.sleep(BREATH)
  }
  yield* Effect.promise(() => sql`DROP TABLE bench_commits`)
  return millis
})
