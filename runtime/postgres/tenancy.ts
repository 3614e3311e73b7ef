/**
 * Postgres as two pools: one for the engine's own work, and one for requests. Request sessions run as a separate role and are told which
 * organization they work for, so that row-level security shows them only its rows. `CurrentTenant` decides which pool a statement uses; the
 * stores do not know about it. A session keeps its organization: another request of the same one costs nothing, a change costs one short
 * statement.
 */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Context, Effect, type Fiber, type Scope } from "effect"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { IsHeavy } from "#core/load/HeavyWork.ts"
import type { OrganizationId } from "#core/Id.ts"
import { ConnectionShares, requestConnections, StatementDeadlines } from "./ConnectionShares.ts"
import { socketOf } from "./connectionSocket.ts"
import { PoolUse, PoolUses } from "./PoolUse.ts"
import { commit, Session } from "./Session.ts"
import { SilentConnections } from "./SilentConnections.ts"
import * as TenantWalls from "./TenantWall.ts"
import { TenantWall, type Wall } from "./TenantWall.ts"

const tellSql =
  "SELECT set_config('trunkline.organization', $1, false), set_config('search_path', $2, false), set_config('statement_timeout', $4, false), current_user = $3 AS confined"

type Connection = PgConnection.PgConnection
type Uses = PoolUses["Service"]
type AnyFiber = Fiber.Fiber<unknown, unknown>

/** How often the listening connection is checked. */
const LISTENING = "10 seconds"

/** A session without the tenants' role would show a request the rows of all organizations. */
const unconfined = new SqlError.SqlError({
  reason: new SqlError.UnknownError({
    cause: new Error("Something between the engine and the database resets the role of its sessions"),
    message: "A session for requests is not confined to its organization",
    operation: "confine"
  })
})

/** The organization that a session works for, and how long its statements may take. */
interface Work {
  readonly tenant: OrganizationId
  readonly millis: number
}

/** Tells a session which organization it works for, and its statement timeout. */
const teller = () => {
  const told = new WeakMap<Connection, Work>()
  return ({ path, role, silent }: Wall, connection: Connection, work: Work): Effect.Effect<void, SqlError.SqlError> =>
    Effect.suspend(() => {
      const { millis, tenant } = work
      const before = told.get(connection)
      if (before?.tenant === tenant && before.millis === millis) return Effect.void
      // If this is interrupted, it is unknown what the session has been told.
      told.delete(connection)
      return silent.during(connection, connection.query(tellSql, [String(tenant), path, role, String(millis)])).pipe(
        Effect.flatMap(({ rows: [row] }) => {
          if (row?.["confined"] !== true) return Effect.fail(unconfined)
          told.set(connection, work)
          return Effect.void
        })
      )
    })
}

const dead = Symbol("a connection that has ended")

/** While several connections end at once, the pool may still lend some of them; those are skipped. */
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

/** Lends connections according to the tenant of the calling fiber. */
const lender = (
  engine: PgPool.PgPool,
  walls: { readonly raised: TenantWall["Service"]["raised"]; readonly doubt: (error: SqlError.SqlError) => Effect.Effect<void> },
  uses: Uses,
  silent: SilentConnections,
  { deadlines, shares }: { readonly deadlines: (typeof StatementDeadlines)["Service"]; readonly shares: ConnectionShares }
) => {
  const tell = teller()
  const byTenant = <A, E, R>(
    own: (fiber: AnyFiber) => Effect.Effect<A, E, R>,
    confined: (fiber: AnyFiber, wall: Wall, work: Work) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.withFiber((fiber) => {
      const tenant = fiber.getRef(CurrentTenant)
      if (tenant === undefined) return own(fiber)
      const millis = fiber.getRef(IsHeavy) ? deadlines.heavyMillis : deadlines.lightMillis
      return Effect.flatMap(walls.raised, ({ wall }) => (wall === undefined ? own(fiber) : confined(fiber, wall, { tenant, millis })))
    })
  const borrow: SqlConnection.Borrower = (f) =>
    byTenant(
      (fiber) =>
        uses.engine.counted((lent) =>
          shares.take(
            fiber,
            lendFrom(engine)((connection) => {
              lent()
              silent.know(connection)
              return f(new Session(connection, silent, false))
            })
          )
        ),
      (fiber, wall, work) =>
        uses.requests.counted((lent) =>
          shares.take(
            fiber,
            lendFrom(wall.pool)((connection) => {
              lent()
              wall.silent.know(connection)
              return Effect.andThen(tell(wall, connection, work), f(new Session(connection, wall.silent, true)))
            }).pipe(Effect.tapError((error) => (error instanceof SqlError.SqlError ? walls.doubt(error) : Effect.void)))
          )
        )
    )
  const lease = (isExclusive: boolean): Effect.Effect<Session, SqlError.SqlError, Scope.Scope> => {
    const session = Effect.fnUntraced(function* (silent: SilentConnections, connection: Connection, isOfRequest: boolean) {
      silent.know(connection)
      yield* silent.lease(connection)
      return new Session(isExclusive ? yield* connection.pin : connection, silent, isOfRequest)
    })
    return byTenant(
      (fiber) =>
        uses.engine.holding(Effect.andThen(shares.hold(fiber), engine.get)).pipe(Effect.flatMap((one) => session(silent, one, false))),
      (fiber, wall, work) =>
        Effect.gen(function* () {
          const lent = Effect.andThen(shares.hold(fiber), Effect.tapError(wall.pool.get, walls.doubt))
          const connection = yield* uses.requests.holding(lent)
          yield* tell(wall, connection, work)
          return yield* session(wall.silent, connection, true)
        })
    )
  }
  return { borrow, lease }
}

const pgJson = Statement.custom<PgClient.PgCustom>("PgJson")

/** The services that the layer of `PgClient` provides, over both pools. */
export const make = Effect.fnUntraced(function* (
  config: TenantWalls.WallConfig & { readonly transformResultNames: (name: string) => string }
) {
  const { server, tenantServer: _, ...options } = config
  const engine = yield* PgPool.make(server.pooled(options))
  const uses = PoolUses.of({ engine: new PoolUse(), requests: new PoolUse() })
  const silent = yield* SilentConnections.make(server, { ...options, applicationName: `${config.applicationName} look` })
  const walls = yield* TenantWalls.make(engine, silent, config)
  const deadlines = yield* StatementDeadlines
  const shares = new ConnectionShares(config.maxConnections ?? requestConnections)
  const { borrow, lease } = lender(engine, walls, uses, silent, { deadlines, shares })
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
      // Nothing may be sent on it for hours, so its silence would go unnoticed.
      const here = silent.during(connection, connection.query("SELECT 1", [], false))
      yield* Effect.forkScoped(Effect.ignore(Effect.forever(Effect.andThen(Effect.sleep(LISTENING), here))))
      return heard
    }),
    notify: (channel: string, payload: string) =>
      Effect.asVoid(engine.use((connection) => silent.during(connection, connection.query("SELECT pg_notify($1, $2)", [channel, payload]))))
  })
  return Context.make(PgClient.PgClient, pg).pipe(
    Context.add(SqlClient.SqlClient, pg),
    Context.add(PoolUses, uses),
    Context.add(TenantWall, TenantWall.of({ agreeOn: walls.agreeOn, raised: walls.raised }))
  )
})
