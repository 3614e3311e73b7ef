/** One connection to Postgres, in the form that statements use. */
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"
import { TookTooLong } from "#core/load/Overload.ts"
import type { SilentConnections } from "./SilentConnections.ts"

type Rows = ReadonlyArray<PgConnection.Row>
type Transform = (<A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/** For the client whose statement was cancelled at its deadline. */
const retryAfterSeconds = 5
const cutOffState = "57014"

const isCutOff = ({ reason: { cause } }: SqlError.SqlError): boolean =>
  cause instanceof Object && "code" in cause && cause.code === cutOffState

export class Session implements SqlConnection.Connection {
  private readonly connection: PgConnection.PgConnection
  private readonly silent: SilentConnections
  /** Whether a cancelled statement becomes an answer that tells the client to come back later; otherwise it stays an SQL error. */
  private readonly isOfRequest: boolean

  constructor(connection: PgConnection.PgConnection, silent: SilentConnections, isOfRequest: boolean) {
    this.connection = connection
    this.silent = silent
    this.isOfRequest = isOfRequest
  }

  private heard<A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> {
    const answered = this.silent.during(this.connection, statement)
    if (!this.isOfRequest) return answered
    return Effect.catchIf(answered, isCutOff, () => Effect.die(new TookTooLong({ retryAfterSeconds })))
  }

  private rows(
    sql: string,
    params: ReadonlyArray<unknown>,
    transform: Transform,
    prepare: boolean
  ): Effect.Effect<Rows, SqlError.SqlError> {
    return Effect.map(this.heard(this.connection.query(sql, params, prepare)), ({ rows }) =>
      transform === undefined ? rows : transform(rows)
    )
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transform: Transform) {
    return this.rows(sql, params, transform, true)
  }
  executeUnprepared(sql: string, params: ReadonlyArray<unknown>, transform: Transform) {
    return this.rows(sql, params, transform, false)
  }
  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.heard(this.connection.query(sql, params))
  }
  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.heard(this.connection.queryValues(sql, params))
  }
  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.heard(this.connection.queryValues(sql, params, false))
  }
  executeStream(sql: string, params: ReadonlyArray<unknown>, transform: Transform) {
    const rows = this.connection.stream(sql, params)
    return transform === undefined ? rows : Stream.map(rows, (row) => transform([row])[0] ?? row)
  }
}

/** Postgres answers the COMMIT of a failed transaction with `ROLLBACK` and no error, so this makes it one. */
export const commit = (session: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(session.executeRaw("COMMIT", []), (result) => {
    if (!(result instanceof Object && "command" in result && result.command === "ROLLBACK")) return Effect.void
    const cause = new Error("The transaction had failed and was rolled back")
    return Effect.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message: cause.message, operation: "commit" }) }))
  })
