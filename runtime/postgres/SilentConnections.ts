/**
 * Finds connections to Postgres that have gone silent: a firewall dropped them, a host vanished, a network swallows packets. TCP reports that
 * after minutes or never, so a statement without an answer is looked up from a new connection. A server process that is working on it is left
 * alone, however long it takes (an import, a report, a migration). One that waits for us while we wait for it is at the far end of a dead
 * connection: that connection is closed, together with all that have been idle since, and their users continue with new ones.
 */
import type { PgConnection } from "@effect/sql-pg"
import { type Cause, Clock, Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { nowOf, type SteadyMillis } from "#core/SteadyTime.ts"
import { destroy, socketOf } from "./connectionSocket.ts"
import type { Server, SessionOptions } from "./DatabaseServer.ts"

type Connection = PgConnection.PgConnection

const LOOK_EVERY = "1 second"
/** A statement that takes longer than this is looked up. */
const PATIENCE_MILLIS = 2000
/** How many look-ups in a row must agree: during one of them, the answer may be on its way. */
const LOOKS = 2
const LOOK_TIMEOUT_MILLIS = 3000
/** How long a statement may take while the server cannot be asked. */
const UNREACHABLE_MILLIS = 30_000

interface Statement {
  readonly connection: Connection
  readonly since: SteadyMillis
  /** Consecutive look-ups that found no server process working on it. */
  looks: number
  /** Bytes received and sent as of the last look-up. */
  moved: number
}

const bytesOf = (connection: Connection): number => {
  const socket = socketOf(connection)
  return socket === undefined ? 0 : socket.bytesRead + socket.bytesWritten
}

/** Whether a server process is working, as opposed to waiting for its client to send or read. */
const atWork = "coalesce(state, '') NOT LIKE 'idle%' AND wait_event_type IS DISTINCT FROM 'Client'"
const lookSql = `SELECT pid, pg_backend_pid() AS own, ${atWork} AS busy FROM pg_stat_activity WHERE pid = pg_backend_pid() OR pid = ANY ($1::int[])`

export class SilentConnections {
  private readonly clock: Clock.Clock
  private readonly server: Server
  private readonly options: SessionOptions
  private readonly statements = new Set<Statement>()
  /** When each connection was last known to work. */
  private readonly wellAt = new Map<Connection, SteadyMillis>()
  /** Leased connections, which may be idle between two statements, for example in a transaction. */
  private readonly leased = new Set<Connection>()

  private constructor(server: Server, options: SessionOptions, clock: Clock.Clock) {
    this.server = server
    this.options = options
    this.clock = clock
  }

  /** Checks for silent connections while the scope is open. `options` is for the connections it checks from. */
  static readonly make = Effect.fnUntraced(function* (
    server: Server,
    options: SessionOptions
  ): Effect.fn.Return<SilentConnections, never, Scope.Scope> {
    const silent = new SilentConnections(server, options, yield* Clock.Clock)
    yield* Effect.sleep(LOOK_EVERY).pipe(
      Effect.andThen(Effect.suspend(() => silent.look())),
      Effect.catchCause((cause: Cause.Cause<unknown>) => Effect.logWarning("the look for silent connections failed", cause)),
      Effect.forever,
      Effect.forkScoped
    )
    return silent
  })

  /** Watches a statement on a connection, from its first byte to its answer. */
  readonly during = <A, E, R>(connection: Connection, statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const one: Statement = { connection, since: nowOf(this.clock), looks: 0, moved: -1 }
      this.statements.add(one)
      return Effect.onExit(statement, () =>
        Effect.sync(() => {
          this.statements.delete(one)
          // In a transaction, `connection` is a view of a pooled connection, and only the latter is in `wellAt`.
          if (this.wellAt.has(connection)) this.wellAt.set(connection, nowOf(this.clock))
        })
      )
    })

  /** Until the scope closes, the connection counts as in use even while it is idle. */
  readonly lease = (connection: Connection): Effect.Effect<void, never, Scope.Scope> =>
    Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.leased.add(connection)),
        () => Effect.sync(() => this.leased.delete(connection))
      )
    )

  /** To be called for each connection of a pool. */
  readonly know = (connection: Connection): void => {
    if (this.wellAt.has(connection)) return
    this.wellAt.set(connection, nowOf(this.clock))
    socketOf(connection)?.once("close", () => this.wellAt.delete(connection))
  }

  private readonly look = Effect.fnUntraced({ self: this }, function* () {
    const overdue = [...this.statements].filter(({ since }) => nowOf(this.clock) - since >= PATIENCE_MILLIS)
    if (overdue.length === 0) return
    const looked = Effect.gen({ self: this }, function* () {
      const asking = yield* this.server.session(this.options)
      const rows = yield* within(asking, asking.query(lookSql, [overdue.map(({ connection }) => connection.processId)], false))
      // Something between us and the server changes the sessions' process ids, so nothing can be concluded.
      if (rows.some(({ own }) => own !== asking.processId)) return undefined
      const busy = new Set(rows.flatMap(({ busy, pid }) => (busy === true ? [pid] : [])))
      const dead = overdue.filter((statement) => this.isDead(statement, busy.has(statement.connection.processId)))
      // Frees what the dead sessions hold on the server, above all the locks of open transactions.
      const ended = dead.map(({ connection }) => connection.processId)
      if (dead.length > 0)
        yield* within(asking, asking.query("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", [ended], false))
      return dead
    }).pipe(Effect.scoped, Effect.option)
    const found = yield* looked
    const dead = found._tag === "Some" ? found.value : undefined
    yield* this.replace(dead ?? overdue.filter(({ since }) => nowOf(this.clock) - since >= UNREACHABLE_MILLIS))
  })

  private isDead(statement: Statement, isBusy: boolean): boolean {
    const moved = bytesOf(statement.connection)
    const isStill = moved === statement.moved
    statement.moved = moved
    statement.looks = isBusy ? 0 : isStill ? statement.looks + 1 : 1
    return statement.looks >= LOOKS && this.statements.has(statement)
  }

  private replace(dead: ReadonlyArray<Statement>): Effect.Effect<void> {
    if (dead.length === 0) return Effect.void
    return Effect.suspend(() => {
      const since = Math.min(...dead.map((statement) => statement.since))
      const busy = new Set([...this.statements].map(({ connection }) => connection.processId))
      const idle = [...this.wellAt].filter(
        ([connection, at]) => at <= since && !this.leased.has(connection) && !busy.has(connection.processId)
      )
      for (const connection of [...dead.map((statement) => statement.connection), ...idle.map(([one]) => one)]) {
        destroy(connection, "The connection to the database has gone silent")
      }
      return Effect.logWarning("connections to the database have gone silent and are replaced").pipe(
        Effect.annotateLogs({ idle: idle.length, waiting: dead.length })
      )
    })
  }
}

/** Destroys a connection that does not answer in time. */
const within = (
  connection: Connection,
  statement: Effect.Effect<PgConnection.Result, SqlError.SqlError>
): Effect.Effect<ReadonlyArray<PgConnection.Row>, SqlError.SqlError> =>
  Effect.raceFirst(
    Effect.map(statement, ({ rows }) => rows),
    Effect.andThen(
      Effect.delay(
        Effect.sync(() => destroy(connection, "The database does not answer")),
        LOOK_TIMEOUT_MILLIS
      ),
      Effect.never
    )
  )
