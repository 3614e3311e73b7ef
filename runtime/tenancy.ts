/**
 * Postgres as two pools: one for the engine's own work, and one for requests, whose sessions use the role `trunkline_tenant` and are told which
 * organization they work for, so that row-level security shows them its rows alone. `CurrentTenant` decides which pool a statement uses; the
 * stores do not know about it. A session keeps its organization: further requests of the same one cost nothing, a change one short statement.
 */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Context, Effect, type Scope } from "effect"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { socketOf } from "./connectionSocket.ts"
import { PoolUse, PoolUses } from "./PoolUse.ts"
import { commit, Session } from "./Session.ts"
import { SilentConnections } from "./SilentConnections.ts"

const role = "trunkline_tenant"
const tellSql = `SELECT set_config('trunkline.organization', $1, false), current_user = '${role}' AS confined`
/** For requests, each of which holds a connection for a statement or a transaction only. */
const requestConnections = 8

type Connection = PgConnection.PgConnection
type Uses = PoolUses["Service"]

/** Takes the role for the length of one statement. */
const probe = `SELECT has_table_privilege('${role}', 'campaigns', 'SELECT') AS granted, set_config('role', '${role}', true)`
/** Insufficient privilege, undefined object, invalid parameter value. Any other error says nothing about the role, and fails the request. */
const refusals = ["42501", "42704", "22023"]
/** How long a refusal is believed: somebody may create or grant the role at any moment. */
const REFUSED_MILLIS = 10_000
/** How often the connection that listens is checked. */
const LISTENING = "10 seconds"

/** What the answer to `probe` means. */
const granted = (rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>): Effect.Effect<boolean, SqlError.SqlError> =>
  rows.pipe(
    Effect.map(([row]) => row !== undefined && "granted" in row && row.granted === true),
    Effect.catchIf(
      ({ reason: { cause } }) => cause instanceof Object && "code" in cause && refusals.includes(String(cause.code)),
      () => Effect.succeed(false)
    )
  )

/** Whether requests are confined to their organization. If the role cannot be taken, they see everything that the engine sees. */
export const isWalled = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> => granted(sql.unsafe(probe))

/** Once the wall has been seen it is taken to stand; where there was none, it is checked again after a while. */
const wallOf = (engine: PgPool.PgPool, silent: SilentConnections, clock: Clock.Clock): Effect.Effect<boolean, SqlError.SqlError> => {
  let isUp = false
  let absentUntil = Number.NEGATIVE_INFINITY
  const ask = (connection: Connection) => Effect.map(silent.during(connection, connection.query(probe)), ({ rows }) => rows)
  const asked = granted(engine.use(ask)).pipe(
    Effect.tap((answer) =>
      Effect.sync(() => {
        isUp ||= answer
        absentUntil = SteadyTime.nowOf(clock) + REFUSED_MILLIS
      })
    )
  )
  return Effect.suspend(() => (isUp ? Effect.succeed(true) : SteadyTime.nowOf(clock) < absentUntil ? Effect.succeed(false) : asked))
}

/** Without the tenants' role, a session would show a request everything. */
const unconfined = new SqlError.SqlError({
  reason: new SqlError.UnknownError({
    cause: new Error("Something between engine and database drops the role of its sessions"),
    message: "A session of requests is not confined to its organization",
    operation: "confine"
  })
})

/** Tells a session which organization it works for. */
const teller = (silent: SilentConnections) => {
  const told = new WeakMap<Connection, OrganizationId>()
  return (connection: Connection, tenant: OrganizationId): Effect.Effect<void, SqlError.SqlError> =>
    Effect.suspend(() => {
      if (told.get(connection) === tenant) return Effect.void
      // If this is interrupted, nobody knows what the session has been told.
      told.delete(connection)
      return silent.during(connection, connection.query(tellSql, [String(tenant)])).pipe(
        Effect.flatMap(({ rows: [row] }) => {
          if (row?.["confined"] !== true) return Effect.fail(unconfined)
          told.set(connection, tenant)
          return Effect.void
        })
      )
    })
}

const dead = Symbol("a connection that has ended")

/** While several connections end at once, the pool lends some of them once more. */
const lendFrom =
  (pool: PgPool.PgPool) =>
  <A, E, R>(f: (connection: Connection) => Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.suspend(() => {
      let found: Connection | undefined
      const once = pool.use((connection): Effect.Effect<A | typeof dead, E, R> => {
        if (socketOf(connection)?.destroyed !== true) return f(connection)
        found = connection
        return Effect.succeed(dead)
      })
      return Effect.flatMap(once, (result) => {
        if (result !== dead) return Effect.succeed(result)
        return Effect.andThen(found === undefined ? Effect.void : pool.invalidate(found), lendFrom(pool)(f))
      })
    })

/** Hands out connections by the tenant of the fiber that asks. */
const lender = (
  engine: PgPool.PgPool,
  requests: PgPool.PgPool,
  wall: Effect.Effect<boolean, SqlError.SqlError>,
  uses: Uses,
  silent: SilentConnections
) => {
  const tell = teller(silent)
  const byTenant = <A, E, R>(
    own: Effect.Effect<A, E, R>,
    confined: (tenant: OrganizationId) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.withFiber((fiber) => {
      const tenant = fiber.getRef(CurrentTenant)
      return tenant === undefined ? own : Effect.flatMap(wall, (isUp) => (isUp ? confined(tenant) : own))
    })
  const borrow: SqlConnection.Borrower = (f) =>
    byTenant(
      uses.engine.counted((lent) =>
        lendFrom(engine)((connection) => {
          lent()
          silent.know(connection)
          return f(new Session(connection, silent))
        })
      ),
      (tenant) =>
        uses.requests.counted((lent) =>
          lendFrom(requests)((connection) => {
            lent()
            silent.know(connection)
            return Effect.andThen(tell(connection, tenant), f(new Session(connection, silent)))
          })
        )
    )
  const lease = (isExclusive: boolean): Effect.Effect<Session, SqlError.SqlError, Scope.Scope> => {
    const session = Effect.fnUntraced(function* (connection: Connection) {
      silent.know(connection)
      yield* silent.lease(connection)
      return new Session(isExclusive ? yield* connection.pin : connection, silent)
    })
    return byTenant(uses.engine.holding(Effect.flatMap(engine.get, session)), (tenant) =>
      Effect.gen(function* () {
        const connection = yield* uses.requests.holding(requests.get)
        yield* tell(connection, tenant)
        return yield* session(connection)
      })
    )
  }
  return { borrow, lease }
}

const pgJson = Statement.custom<PgClient.PgCustom>("PgJson")

/** What the layer of `PgClient` gives, over both pools. */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgPoolConfig & { readonly transformResultNames: (name: string) => string }
) {
  const engine = yield* PgPool.make(config)
  const requests = yield* PgPool.make({
    ...config,
    maxConnections: Math.min(requestConnections, config.maxConnections ?? requestConnections),
    startupParameters: { ...config.startupParameters, role }
  })
  const uses = PoolUses.of({ engine: new PoolUse(), requests: new PoolUse() })
  const silent = yield* SilentConnections.make({ ...config, applicationName: `${config.applicationName} look` })
  const { borrow, lease } = lender(engine, requests, wallOf(engine, silent, yield* Clock.Clock), uses, silent)
  const client = yield* SqlClient.make({
    acquirer: lease(false),
    borrower: borrow,
    transactionAcquirer: lease(true),
    compiler: PgClient.makeCompiler(config.transformQueryNames, config.transformJson),
    transformRows: Statement.defaultTransforms(config.transformResultNames, config.transformJson).array,
    driver: "pg",
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  const pg = Object.assign(client, {
    [PgClient.TypeId]: PgClient.TypeId,
    config,
    json: (value: unknown) => Statement.fragment([pgJson(value, undefined, undefined)]),
    listen: Effect.fnUntraced(function* (channel: string) {
      const connection = yield* engine.reserve
      const heard = yield* connection.listen(channel)
      // Nothing is sent on it for hours, so its silence would go unnoticed.
      const here = silent.during(connection, connection.query("SELECT 1", [], false))
      yield* Effect.forkScoped(Effect.ignore(Effect.forever(Effect.andThen(Effect.sleep(LISTENING), here))))
      return heard
    }),
    notify: (channel: string, payload: string) =>
      Effect.asVoid(engine.use((connection) => silent.during(connection, connection.query("SELECT pg_notify($1, $2)", [channel, payload]))))
  })
  return Context.make(PgClient.PgClient, pg).pipe(Context.add(SqlClient.SqlClient, pg), Context.add(PoolUses, uses))
})
