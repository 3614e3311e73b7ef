/**
 * The wall around requests: a pool whose sessions run as the tenant role. It is raised when first needed: the role gets a password that only the
 * engines of this installation know. Once raised, it is not checked again, unless a log-in is refused. If it cannot be raised, that is retried
 * after a while, because the operator may have granted what was missing.
 */
import { type PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Context, Effect, Exit, Redacted, Schema, Scope, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as SteadyTime from "#core/SteadyTime.ts"
import { reasonOf } from "./ConnectFailure.ts"
import { requestConnections } from "./ConnectionShares.ts"
import type { Server } from "./DatabaseServer.ts"
import { SilentConnections } from "./SilentConnections.ts"
import { apartSql, preparation, probeSql, roleNameOf, whereSql } from "./TenantRole.ts"

type Connection = PgConnection.PgConnection
type Rows = ReadonlyArray<PgConnection.Row>

/** How long a failure to raise the wall is remembered. */
const REFUSED_MILLIS = 10_000
/**
 * SQLSTATE codes for refused log-ins and privileges: class 28, insufficient privilege, undefined role. Other errors say nothing about the role.
 */
const refusal = /^(28...|42501|42704|22023)$/
const passwordBytes = 24
/** As long as nobody has told the installation's: one password for all pools of the process, because they share the role. */
const ownPassword = randomBytes(passwordBytes).toString("base64url")

export interface Wall {
  readonly pool: PgPool.PgPool
  readonly silent: SilentConnections
  readonly role: string
  /** The `search_path` of its sessions: only the schema, whatever the server sets for their role. */
  readonly path: string
}

interface WallState {
  readonly wall: Wall | undefined
  /** Why there is no wall, or why it is only the weaker one, whose role does not log in itself. */
  readonly obstacle: string | undefined
}

/** The role in TENANT_DATABASE_URL is not suitable for requests. */
export class TenantRoleUnfit extends Schema.TaggedError<TenantRoleUnfit>()("TenantRoleUnfit", { reason: Schema.String }) {
  override get message(): string {
    return `TENANT_DATABASE_URL: ${this.reason}. It must log in to the same database, as a role of its own that cannot become the engine's`
  }
}

export class TenantWall extends Context.Service<
  TenantWall,
  {
    /** Raises the wall unless it is already raised. */
    readonly raised: Effect.Effect<WallState, SqlError.SqlError>
    /** Tells the password that all engines give to the role, so that none locks another one out. To be called before the wall is raised. */
    readonly agreeOn: (password: Redacted.Redacted) => void
  }
>()("runtime/postgres/TenantWall") {}

/** The options of a pool, without those that come from the server's address. */
export interface WallConfig extends Omit<PgClient.PgPoolConfig, "applicationName" | "ssl" | "url"> {
  readonly applicationName: string
  readonly server: Server
  /** The server as the operator's own role for requests, if there is one. */
  readonly tenantServer?: Server | undefined
}

const codeOf = ({ reason: { cause } }: SqlError.SqlError): string => (cause instanceof Object && "code" in cause ? String(cause.code) : "")
const isRefusal = (error: SqlError.SqlError): boolean => refusal.test(codeOf(error))

interface Way {
  readonly role: string
  readonly path: string
  readonly config: WallConfig
}

/** Opens a pool, and returns it if its sessions turn out to run as the role. */
const opened = Effect.fnUntraced(function* ({ config, path, role }: Way, isOwn: boolean) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const opening = Effect.gen(function* () {
    const { server, tenantServer: _, ...options } = config
    const maxConnections = Math.min(requestConnections, config.maxConnections ?? requestConnections)
    const pool = yield* PgPool.make(server.pooled({ ...options, maxConnections }))
    const silent = yield* SilentConnections.make(server, { ...options, applicationName: `${config.applicationName} look` })
    const [row] = yield* pool.use((connection) => rowsOf(silent, connection, probeSql, [role, path]))
    return row?.["is_role"] === true && row["is_own"] === isOwn && row["granted"] === true ? { pool, silent, role, path } : undefined
  })
  const exit = yield* Effect.exit(Scope.provide(opening, scope))
  if (!Exit.isSuccess(exit) || exit.value === undefined) yield* Scope.close(scope, Exit.void)
  return yield* exit
})

const rowsOf = (silent: SilentConnections, connection: Connection, sql: string, params: ReadonlyArray<unknown> = []) =>
  Effect.map(silent.during(connection, connection.query(sql, params, false)), ({ rows }): Rows => rows)

/** Turns an error meaning that something is not permitted into `undefined` and a reason. */
const unlessRefused = <A, R>(work: Effect.Effect<A, SqlError.SqlError, R>) =>
  work.pipe(
    Effect.map((value) => ({ value, why: undefined })),
    Effect.catchIf(isRefusal, (error) => Effect.succeed({ value: undefined, why: reasonOf(error) }))
  )

const raise = Effect.fnUntraced(function* (
  engine: PgPool.PgPool,
  silent: SilentConnections,
  config: WallConfig,
  password: Redacted.Redacted
) {
  const ask = (sql: string, params?: ReadonlyArray<unknown>) => engine.use((connection) => rowsOf(silent, connection, sql, params))
  const [here] = yield* ask(whereSql)
  const { server, tenantServer } = config
  const role =
    tenantServer === undefined ? roleNameOf(String(here?.["database"]), String(here?.["schema"])) : (tenantServer.url.username ?? "")
  const path = String(here?.["path"])
  const absent = (obstacle: string): WallState => ({ wall: undefined, obstacle })
  if (tenantServer !== undefined) {
    const [found] = yield* ask(apartSql, [role])
    if (found?.["is_apart"] !== true)
      return absent(found === undefined ? `there is no role ${role}` : `${role} is, or can become, the engine's role`)
  }
  const prepared = yield* unlessRefused(ask(preparation(role, tenantServer === undefined ? Redacted.value(password) : undefined)))
  if (prepared.why !== undefined) return absent(prepared.why)
  const login = { role, path, config: { ...config, server: tenantServer ?? server.as(role, Redacted.value(password)) } }
  // The operator's role may come by another way than the engine's.
  const known = tenantServer === undefined ? Effect.void : Effect.scoped(tenantServer.session({ applicationName: config.applicationName }))
  const own = yield* unlessRefused(Effect.andThen(known, opened(login, true)))
  if (own.value !== undefined) return { wall: own.value, obstacle: undefined }
  const obstacle = own.why ?? `sessions of ${role} are not its own`
  if (tenantServer !== undefined) return absent(obstacle)
  const assumed = { role, path, config: { ...config, startupParameters: { ...config.startupParameters, role } } }
  return { wall: (yield* unlessRefused(opened(assumed, false))).value, obstacle }
})

/** Raises the wall on demand, and raises it again when its password is no longer valid. */
export const make = Effect.fnUntraced(function* (engine: PgPool.PgPool, silent: SilentConnections, config: WallConfig) {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const turn = Semaphore.makeUnsafe(1)
  let password = Redacted.make(ownPassword)
  let state: WallState | undefined
  let believedUntil = Number.NEGATIVE_INFINITY
  const known = () => (state?.wall !== undefined || SteadyTime.nowOf(clock) < believedUntil ? state : undefined)
  const raised = Effect.suspend(() => {
    const found = known()
    if (found !== undefined) return Effect.succeed(found)
    return Scope.provide(raise(engine, silent, config, password), scope).pipe(
      Effect.tap((answer) =>
        Effect.sync(() => {
          state = answer
          believedUntil = SteadyTime.nowOf(clock) + REFUSED_MILLIS
        })
      )
    )
  })
  return {
    agreeOn: (shared: Redacted.Redacted) => {
      password = shared
    },
    raised: Effect.suspend(() => {
      const found = known()
      return found === undefined ? turn.withPermit(raised) : Effect.succeed(found)
    }),
    /** Forgets the wall if a log-in was refused: another process has given the role another password. */
    doubt: (error: SqlError.SqlError) =>
      Effect.sync(() => {
        if (!/^28/.test(codeOf(error))) return
        state = undefined
        believedUntil = Number.NEGATIVE_INFINITY
      })
  }
})
