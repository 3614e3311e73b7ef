/**
 * The connection pools, on DATABASE_URL or the embedded Postgres. This is the only place where the database's snake_case becomes our camelCase,
 * for columns and inserted keys; the contents of a jsonb value are unchanged. An int8 is decoded as a number if it fits.
 */
import { PgTypes } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Redacted, Result, Schedule, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError } from "effect/sql"
import { join } from "node:path"
import { applicationOf } from "#runtime/process/ProcessName.ts"
import { Config } from "#runtime/config/config.ts"
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
const connectTimeout = Duration.seconds(5)
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

/** The address of the database. */
export class DatabasePlace extends Context.Service<DatabasePlace, { readonly host: string; readonly port: number }>()(
  "runtime/postgres/DatabasePlace"
) {
  static readonly layerOf = (url: Redacted.Redacted) => {
    const { hostname, port } = new URL(Redacted.value(url))
    return Layer.succeed(DatabasePlace, { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? 5432 : Number(port) })
  }
}

const types = PgTypes.makeRegistry()
types.register<number | bigint>(PgTypes.OID.int8, {
  encode: (value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(BigInt(value))
    return Result.succeed(new Uint8Array(bytes))
  },
  decode: (bytes) => {
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigInt64BE()
    return Result.succeed(Number.isSafeInteger(Number(value)) ? Number(value) : value)
  }
})

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
    tenancy.make({
      url,
      tenantUrl: options.tenantUrl,
      types,
      applicationName: options.applicationName ?? "trunkline",
      maxConnections: options.maxConnections ?? connections,
      connectTimeout,
      idleTimeout,
      // Every statement here gets a good plan without its parameters, and replanning the long ones costs more than running them.
      startupParameters: { plan_cache_mode: "force_generic_plan", ...ends },
      keepAlive,
      transformResultNames: toCamel,
      transformQueryNames: toSnake,
      transformJson: false
    })
  ).pipe(Layer.provide(Reactivity.layer))

const placeOf = (url: Redacted.Redacted): string => {
  const { hostname, pathname, port } = new URL(Redacted.value(url))
  return `${hostname}:${port || "5432"}${pathname}`
}

// 57P03: the server already accepts connections, but is still recovering.
const isStarting = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" || (reason.cause instanceof Object && "code" in reason.cause && reason.cause.code === "57P03")

const reasonOf = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  cause instanceof Error && cause.message !== "" ? cause.message : message

const absent = (place: string, error: SqlError.SqlError): string => `No connection to the database at ${place}: ${reasonOf(error)}`

/** Retries work that the start needs: a server that is busy or still starting may not accept a connection in time. */
const patiently = <A, E, R>(work: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.suspend(() => {
    let isTold = false
    const tell = (error: SqlError.SqlError) => {
      if (isTold) return Effect.void
      isTold = true
      const told = Effect.logWarning("the database accepts no connection yet, and the start waits for it")
      return Effect.annotateLogs(told, { reason: reasonOf(error) })
    }
    const isWaitedFor = (error: E | SqlError.SqlError): error is SqlError.SqlError => SqlError.isSqlError(error) && isStarting(error)
    return work.pipe(
      Effect.tapError((error) => (isWaitedFor(error) ? tell(error) : Effect.void)),
      Effect.retry(($) => $(waitForDatabase).pipe(Schedule.while(({ input }) => isWaitedFor(input))))
    )
  })

const checkServer = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const place = placeOf(url)
  const sql = yield* SqlClient.SqlClient
  const asked = Effect.andThen(
    refusePooler(url, place),
    sql<{ readonly version: number }>`SELECT current_setting('server_version_num')::int / 10000 AS version`
  )
  const [row] = yield* patiently(asked).pipe(
    Effect.catchTag("SqlError", (error) => new DatabaseUnavailable({ message: absent(place, error) }))
  )
  if (row === undefined || row.version < oldestPostgres) {
    return yield* new DatabaseUnavailable({
      message: `The database at ${place} is Postgres ${row?.version}; version ${oldestPostgres} or later is required`
    })
  }
})

/** Fails if the database does not answer in time. */
export const answers = (sql: SqlClient.SqlClient) => Effect.timeout(sql`SELECT 1`, ANSWER_TIMEOUT)

/** Raises the wall around requests. Only for the engine that has the lock, because it gives the tenant role a new password. */
export const wallLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { tenantDatabaseUrl } = yield* Config
    const { obstacle, wall } = yield* Effect.orDie(patiently(TenantWall.use(({ raised }) => raised)))
    if (obstacle === undefined) return
    if (tenantDatabaseUrl !== undefined) return yield* new TenantRoleUnfit({ reason: obstacle })
    const message =
      wall === undefined
        ? "the database does not confine requests to their organization: its user cannot create a role for them (see TENANT_DATABASE_URL)"
        : "the database confines requests to their organization by a role that their sessions could leave: the role cannot log in itself"
    yield* Effect.logWarning(message).pipe(Effect.annotateLogs({ obstacle }))
  })
)

/** This program's migrations. Read once, because its files may be replaced while it stands by. */
export class Migrations extends Context.Service<
  Migrations,
  {
    readonly own: ReadonlyArray<Migration>
    /** The migrations that have to wait until no other engine uses the database. */
    readonly left: ReadonlyArray<Migration>
  }
>()("runtime/postgres/Migrations") {}

const migrationsOf = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  yield* checkServer(url)
  const own = yield* readMigrations()
  return { own, left: yield* expand(own) }
})

/** The pools of an engine: waits for the server at `url`, then expands the schema. */
export const databaseLayer = (url: Redacted.Redacted, options: ClientOptions = {}) =>
  Layer.effect(Migrations, migrationsOf(url)).pipe(Layer.provideMerge(clientLayer(url, options)))

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
    if (databaseUrl !== undefined)
      return Layer.mergeAll(
        databaseLayer(databaseUrl, options),
        DatabasePlace.layerOf(databaseUrl),
        Layer.succeed(DatabaseTrouble, () => undefined)
      )
    const embedded = Effect.map(EmbeddedPostgres, ({ trouble, url }) =>
      Layer.mergeAll(databaseLayer(url, options), DatabasePlace.layerOf(url), Layer.succeed(DatabaseTrouble, trouble))
    )
    return Layer.unwrap(embedded).pipe(Layer.provide(EmbeddedPostgres.layer({ folder: join(dataDir, "postgres") })))
  })
)
