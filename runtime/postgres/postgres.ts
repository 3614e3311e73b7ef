/**
 * The connection pools, on DATABASE_URL or the embedded Postgres. This is the only place where the database's snake_case becomes our camelCase,
 * for columns and inserted keys; the contents of a jsonb value are unchanged.
 */
import { Context, Duration, Effect, Layer, type Redacted, Schedule, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError } from "effect/sql"
import { join } from "node:path"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { applicationOf } from "#runtime/process/ProcessName.ts"
import { Config } from "#runtime/config/config.ts"
import { mayPass, reasonOf } from "./ConnectFailure.ts"
import { DatabaseServer, Server } from "./DatabaseServer.ts"
import { EmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { refusePooler } from "./Pooler.ts"
import { expand, migrate } from "./migrate.ts"
import { awaitLeft } from "./OtherEngineStore.ts"
import { type Migration, readMigrations } from "./Migration.ts"
import * as tenancy from "./tenancy.ts"
import { TenantRoleUnfit, TenantWall } from "./TenantWall.ts"

const connections = 16
const idleTimeout = Duration.minutes(10)
const oldestPostgres = 15
const keepAlive = Duration.seconds(10)
/** Makes the server end a session whose client has vanished, and so release its locks. */
const ends = {
  idle_in_transaction_session_timeout: "60s",
  statement_timeout: "10min",
  tcp_keepalives_count: "3",
  tcp_keepalives_idle: "10",
  tcp_keepalives_interval: "5",
  tcp_user_timeout: "30s"
}
/** How long a database may take to answer a liveness check. */
const ANSWER_TIMEOUT = "2 seconds"
// A database that starts together with the engine, as under compose, needs a while.
const waitForDatabase = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 30 }))

/** The message names host, port and database, never the password. */
class DatabaseUnavailable extends Schema.TaggedError<DatabaseUnavailable>()("DatabaseUnavailable", { message: Schema.String }) {}

/** Why the database is down, if the engine runs it itself and knows. */
export class DatabaseTrouble extends Context.Service<DatabaseTrouble, () => string | undefined>()("runtime/postgres/DatabaseTrouble") {}

// There are only as many names as the schema has columns, and every row of every result needs them.
const remembered = (convert: (name: string) => string) => {
  const known = new Map<string, string>()
  return (name: string): string => {
    const found = known.get(name)
    if (found !== undefined) return found
    const converted = convert(name)
    known.set(name, converted)
    return converted
  }
}
const toCamel = remembered((name) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))
const toSnake = remembered((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

export interface ClientOptions {
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string
  readonly maxConnections?: number
  /** The operator's own role for requests; without it, the engine creates one. */
  readonly tenantUrl?: Redacted.Redacted | undefined
}

/** Pools on `url` that connect when first used, and reconnect whenever a connection breaks. */
export const clientLayer = (url: Redacted.Redacted, options: ClientOptions = {}) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { tenantUrl } = options
      return yield* tenancy.make({
        server: yield* DatabaseServer,
        tenantServer: tenantUrl === undefined ? undefined : yield* Server.at(tenantUrl, "TENANT_DATABASE_URL"),
        applicationName: options.applicationName ?? "trunkline",
        maxConnections: options.maxConnections ?? connections,
        idleTimeout,
        // Every statement here gets a good plan without its parameters, and replanning the long ones costs more than running them.
        startupParameters: { plan_cache_mode: "force_generic_plan", ...ends },
        keepAlive,
        transformResultNames: toCamel,
        transformQueryNames: toSnake,
        transformJson: false
      })
    })
  ).pipe(Layer.provide(Reactivity.layer), Layer.provideMerge(DatabaseServer.layerOf(url)))

const absent = ({ place, url: { sslmode } }: Server, error: SqlError.SqlError): string =>
  `No connection to the database at ${place} (sslmode=${sslmode}): ${reasonOf(error)}`

/** Retries work that the start needs: a server that is busy or still starting may not accept a connection in time. What cannot pass ends the start. */
const patiently = <A, E, R>(work: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.suspend(() => {
    let isTold = false
    const tell = (error: SqlError.SqlError) => {
      if (isTold) return Effect.void
      isTold = true
      const told = Effect.logWarning("the database accepts no connection yet, and the start waits for it")
      return Effect.annotateLogs(told, { reason: reasonOf(error) })
    }
    const isWaitedFor = (error: E | SqlError.SqlError): error is SqlError.SqlError => SqlError.isSqlError(error) && mayPass(error)
    return work.pipe(
      Effect.tapError((error) => (isWaitedFor(error) ? tell(error) : Effect.void)),
      Effect.retry(($) => $(waitForDatabase).pipe(Schedule.while(({ input }) => isWaitedFor(input))))
    )
  })

const checkServer = Effect.gen(function* () {
  const server = yield* DatabaseServer
  const sql = yield* SqlClient.SqlClient
  const asked = Effect.andThen(
    refusePooler(server),
    sql<{ readonly version: number; readonly isReadOnly: boolean }>`SELECT current_setting('server_version_num')::int / 10000 AS version,
      current_setting('transaction_read_only')::bool AS is_read_only`
  )
  const [row] = yield* patiently(asked).pipe(
    Effect.catchTag("SqlError", (error) => new DatabaseUnavailable({ message: absent(server, error) }))
  )
  const refuse = (why: string) => new DatabaseUnavailable({ message: `The database at ${server.place} ${why}` })
  if (row === undefined || row.version < oldestPostgres)
    return yield* refuse(`is Postgres ${row?.version}; version ${oldestPostgres} or later is required`)
  if (row.isReadOnly) return yield* refuse("is read-only, such as a standby; the engine needs one that it can write to")
})

/** Fails if the database does not answer in time. */
export const answers = (sql: SqlClient.SqlClient) => Effect.timeout(sql`SELECT 1`, ANSWER_TIMEOUT)

/** Raises the wall around requests. */
export const wallLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { tenantDatabaseUrl } = yield* Config
    const { agreeOn, raised } = yield* TenantWall
    agreeOn(yield* InstallationSecrets.use((secrets) => secrets.get("tenant-role")))
    const { obstacle, wall } = yield* patiently(raised).pipe(
      Effect.catchTag("SqlError", (error) => new DatabaseUnavailable({ message: `No sessions for requests: ${reasonOf(error)}` }))
    )
    if (obstacle === undefined) return
    if (tenantDatabaseUrl !== undefined) return yield* new TenantRoleUnfit({ reason: obstacle })
    const message =
      wall === undefined
        ? "the database does not confine requests to their organization: its user cannot create a role for them (see TENANT_DATABASE_URL)"
        : "the database confines requests to their organization by a role that their sessions could leave: the role cannot log in itself"
    yield* Effect.logWarning(message).pipe(Effect.annotateLogs({ obstacle }))
  })
).pipe(Layer.provide(InstallationSecrets.layer))

/** This program's migrations. Read once, because its files may be replaced while it stands by. */
export class Migrations extends Context.Service<
  Migrations,
  {
    readonly own: ReadonlyArray<Migration>
    /** The migrations that have to wait until no other engine uses the database. */
    readonly left: ReadonlyArray<Migration>
  }
>()("runtime/postgres/Migrations") {}

const migrationsOf = Effect.gen(function* () {
  yield* checkServer
  const own = yield* readMigrations()
  return { own, left: yield* expand(own) }
})

/** The pools of an engine: waits for the server at `url`, then expands the schema. Fails at once if waiting cannot help. */
export const databaseLayer = (url: Redacted.Redacted, options: ClientOptions = {}) =>
  Layer.effect(Migrations, migrationsOf).pipe(Layer.provideMerge(clientLayer(url, options)))

/**
 * Brings the schema up to date. Only for the engine that has the lock, because it contracts the schema. Fails if the schema has become too new
 * for this engine while it stood by.
 */
export const schemaLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { own } = yield* Migrations
    const { takeoverSeconds } = yield* Config
    const sql = yield* SqlClient.SqlClient
    yield* migrate(own, Effect.orDie(awaitLeft(sql, takeoverSeconds, own.at(-1)?.version ?? 0)))
  })
)

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dataDir, databaseUrl, nodeName, tenantDatabaseUrl } = yield* Config
    const options = { applicationName: applicationOf(nodeName), tenantUrl: tenantDatabaseUrl }
    const engine = (url: Redacted.Redacted, trouble: () => string | undefined) =>
      Layer.merge(databaseLayer(url, options), Layer.succeed(DatabaseTrouble, trouble))
    if (databaseUrl !== undefined) return engine(databaseUrl, () => undefined)
    const embedded = Effect.map(EmbeddedPostgres, ({ trouble, url }) => engine(url, trouble))
    return Layer.unwrap(embedded).pipe(Layer.provide(EmbeddedPostgres.layer({ folder: join(dataDir, "postgres") })))
  })
)
