/**
 * Postgres as two pools: one for the engine's own work, and one for requests, whose sessions are the role `trunkline_tenant` and have been
 * told for which organization they work, so that row-level security shows them its rows alone. Which of the two a statement takes is a
 * matter of `CurrentTenant`; the stores know nothing of it. A session stays told until it is told another: one organization's requests cost
 * nothing, a change of organizations one short statement.
 */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Context, Effect, type Scope } from "effect"
import { SqlClient, type SqlConnection, type SqlError, Statement } from "effect/sql"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import type { OrganizationId } from "#core/Id.ts"
import { PoolUse, PoolUses } from "./PoolUse.ts"
import { commit, Session } from "./Session.ts"

const role = "trunkline_tenant"
/** Of requests. Each holds a connection for a statement or a transaction only. */
const requestConnections = 8

type Connection = PgConnection.PgConnection
type Uses = PoolUses["Service"]

/** Takes the role for the length of one statement. */
const probe = `SELECT has_table_privilege('${role}', 'campaigns', 'SELECT') AS granted, set_config('role', '${role}', true)`
/** Insufficient privilege, undefined object, invalid parameter value, undefined table. */
const refusals = ["42501", "42704", "22023", "42P01"]

/** What the answer to `probe` means. */
const granted = (rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>): Effect.Effect<boolean, SqlError.SqlError> =>
  rows.pipe(
    Effect.map(([row]) => row !== undefined && "granted" in row && row.granted === true),
    Effect.catchIf(
      ({ reason: { cause } }) => cause instanceof Object && "code" in cause && refusals.includes(String(cause.code)),
      () => Effect.succeed(false)
    )
  )

/** Whether requests are confined to their organization. Not so where nobody may take the role: then they see what the engine does. */
export const isWalled = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> => granted(sql.unsafe(probe))

/** Asked again until there has been an answer. */
const wallOf = (engine: PgPool.PgPool): Effect.Effect<boolean, SqlError.SqlError> => {
  let known: boolean | undefined
  const asked = granted(engine.use((connection) => Effect.map(connection.query(probe), ({ rows }) => rows))).pipe(
    Effect.tap((answer) =>
      Effect.sync(() => {
        known = answer
      })
    )
  )
  return Effect.suspend(() => (known === undefined ? asked : Effect.succeed(known)))
}

/** Tells a session for whom it works now. */
const teller = () => {
  const told = new WeakMap<Connection, OrganizationId>()
  return (connection: Connection, tenant: OrganizationId): Effect.Effect<void, SqlError.SqlError> =>
    Effect.suspend(() => {
      if (told.get(connection) === tenant) return Effect.void
      // What an interrupted statement has done is not known.
      told.delete(connection)
      return connection.query("SELECT set_config('trunkline.organization', $1, false)", [String(tenant)]).pipe(
        Effect.tap(() => Effect.sync(() => told.set(connection, tenant))),
        Effect.asVoid
      )
    })
}

/** Hands out connections by the tenant of the fiber that asks. */
const lender = (engine: PgPool.PgPool, requests: PgPool.PgPool, wall: Effect.Effect<boolean, SqlError.SqlError>, uses: Uses) => {
  const tell = teller()
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
        engine.use((connection) => {
          lent()
          return f(new Session(connection))
        })
      ),
      (tenant) =>
        uses.requests.counted((lent) =>
          requests.use((connection) => {
            lent()
            return Effect.andThen(tell(connection, tenant), f(new Session(connection)))
          })
        )
    )
  const lease = (isExclusive: boolean): Effect.Effect<Session, SqlError.SqlError, Scope.Scope> => {
    const session = (connection: Connection) =>
      Effect.map(isExclusive ? connection.pin : Effect.succeed(connection), (one) => new Session(one))
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
  const { borrow, lease } = lender(engine, requests, wallOf(engine), uses)
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
    listen: (channel: string) => Effect.flatMap(engine.reserve, (connection) => connection.listen(channel)),
    notify: (channel: string, payload: string) =>
      Effect.asVoid(engine.use((connection) => connection.query("SELECT pg_notify($1, $2)", [channel, payload])))
  })
  return Context.make(PgClient.PgClient, pg).pipe(Context.add(SqlClient.SqlClient, pg), Context.add(PoolUses, uses))
})
