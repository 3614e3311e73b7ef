/**
 * Detects a pooler that gives each transaction another server session (pgbouncer with `pool_mode = transaction`). The engine's lock, the role of
 * its requests and its notifications each need a session of their own, and would silently fail.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { destroy } from "./connectionSocket.ts"
import type { Server } from "./DatabaseServer.ts"

/** A pooler with a single session makes the second client wait forever. */
const ANSWER_MILLIS = 5000
const mark = "trunkline.session"
/** Several rounds, because a pooler may hand out its sessions in turn. */
const rounds = 4

class TransactionPooler extends Schema.TaggedError<TransactionPooler>()("TransactionPooler", { place: Schema.String }) {
  override get message(): string {
    return `At ${this.place} there is a pooler that shares database sessions between clients (such as pgbouncer with pool_mode = transaction). The engine needs sessions of its own: give it the address of Postgres itself, or of a pooler with pool_mode = session`
  }
}

type Row = PgConnection.Row | undefined

const isOwn = Effect.fnUntraced(function* (one: PgConnection.PgConnection, other: PgConnection.PgConnection, pid: unknown) {
  const ask = (connection: PgConnection.PgConnection, statement: string): Effect.Effect<Row, SqlError.SqlError> =>
    Effect.map(connection.query(statement, [], false), ({ rows: [row] }) => row)
  yield* ask(one, `SELECT set_config('${mark}', '${String(pid)}', false)`)
  for (let round = 0; round < rounds; round++) {
    // While the other client is in a transaction, a pooler cannot give its session to the first one.
    yield* ask(other, "BEGIN")
    const others = yield* ask(other, "SELECT pg_backend_pid() AS pid")
    const found = yield* ask(one, `SELECT pg_backend_pid() AS pid, current_setting('${mark}', true) AS mark`)
    yield* ask(other, "COMMIT")
    if (found?.["pid"] !== pid || found?.["mark"] !== String(pid) || others?.["pid"] === pid) return false
  }
  return true
})

/** Fails if sessions are shared. If a session's process id is the one the server announced, there is no pooler in between. */
export const refusePooler = (server: Server): Effect.Effect<void, SqlError.SqlError | TransactionPooler> =>
  Effect.gen(function* () {
    const connect = server.session({ applicationName: "trunkline" })
    const one = yield* connect
    const [row] = (yield* one.query("SELECT pg_backend_pid() AS pid", [], false)).rows
    if (row?.["pid"] === one.processId) return
    const other = yield* connect
    const silent = Effect.delay(
      Effect.sync(() => {
        for (const connection of [one, other]) destroy(connection, "The pooler does not answer")
        return false
      }),
      ANSWER_MILLIS
    )
    if (!(yield* Effect.raceFirst(isOwn(one, other, row?.["pid"]), silent))) return yield* new TransactionPooler({ place: server.place })
  }).pipe(Effect.scoped)
