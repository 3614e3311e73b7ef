/**
 * The rows of engines that have calls without having the lock: those that are leaving, and call nodes, which carry what the engine with the lock
 * dispatches to them.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import type { CallId } from "#core/Id.ts"
import { isGone } from "#runtime/process/ProcessName.ts"

export interface OtherEngine {
  /** The id of its local journal, which the attempts that it began refer to. */
  readonly journal: string
  /** For a leaving engine, the calls that it follows although another process began them. */
  readonly adopted: ReadonlyArray<CallId>
  readonly node: string
  readonly process: string
  /** As `host:port`: where a leaving engine accepts carrier events about its calls, or a call node accepts calls. */
  readonly address: string
  readonly beat: number
  /** For a call node, the newest migration that it knows; null for an engine that is leaving. */
  readonly schemaVersion: number | null
}

export const otherEngines = (sql: SqlClient.SqlClient) =>
  sql<OtherEngine>`SELECT journal, adopted, node, process, address, beat, schema_version FROM leaving_engines ORDER BY journal`

/** Whether the attempt is that of a call of this engine. */
export const hasCall = ({ adopted, journal }: OtherEngine, attempt: LeftAttempt): boolean =>
  attempt.journal === journal || adopted.includes(attempt.callId)

/** Registers this process as a call node. */
export const register = (sql: SqlClient.SqlClient, me: Omit<OtherEngine, "adopted" | "beat"> & { readonly host: string }) =>
  Effect.asVoid(sql`
    INSERT INTO leaving_engines (journal, node, host, process, address, schema_version)
    VALUES (${me.journal}::uuid, ${me.node}, ${me.host}, ${me.process}, ${me.address}, ${me.schemaVersion}::int)`)

/**
 * Shows that this call node is alive. `Forsaken`: the engine with the lock has given it up. `Superseded`: an engine of a newer release has the lock,
 * and waits until this one has left.
 */
export const beat = (sql: SqlClient.SqlClient, journal: string) =>
  Effect.map(
    sql<Pick<OtherEngine, "schemaVersion">>`
      UPDATE leaving_engines SET beat = beat + 1, beat_at = clock_timestamp() WHERE journal = ${journal}::uuid RETURNING schema_version`,
    ([row]) => (row === undefined ? "Forsaken" : row.schemaVersion === null ? "Superseded" : "Kept")
  )

/** The calls of this process are over, or it follows them with the lock from now on. False if another engine has given it up. */
export const unregister = (sql: SqlClient.SqlClient, journal: string) =>
  Effect.map(sql`DELETE FROM leaving_engines WHERE journal = ${journal}::uuid RETURNING true`, (rows) => rows.length > 0)

/**
 * Whether another engine than `process` has the lock, and whether another one of the same name has it, or has calls. Those whose processes have
 * certainly ended do not count.
 */
export const surroundings = (sql: SqlClient.SqlClient, { node, process }: Pick<OtherEngine, "node" | "process">, seconds: number) =>
  Effect.map(
    sql<{ readonly leaders: ReadonlyArray<string>; readonly namesakes: ReadonlyArray<string> }>`
      SELECT ARRAY(SELECT process FROM engine_lock WHERE NOT released AND address IS NOT NULL AND process <> ${process}) AS leaders,
        ARRAY(SELECT process FROM engine_lock WHERE node = ${node} AND NOT released AND process <> ${process}
          UNION ALL SELECT process FROM leaving_engines
          WHERE node = ${node} AND beat_at > clock_timestamp() - ${seconds}::float8 * interval '1 second') AS namesakes`,
    ([row]) => {
      const areThere = (processes: ReadonlyArray<string> = []) => processes.some((one) => !isGone(one))
      return { isLed: areThere(row?.leaders), hasNamesake: areThere(row?.namesakes) }
    }
  )

const AGAIN = "1 second"

/**
 * Returns once no engine needs what only releases before `schemaVersion` use: each has either been silent for `seconds`, or its process has
 * certainly ended, or it is a call node of this release. Call nodes of earlier ones, which get no more calls, are asked to leave.
 */
export const awaitLeft = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, seconds: number, schemaVersion: number) {
  const [table] = yield* sql`SELECT FROM pg_class WHERE oid = to_regclass('leaving_engines')`
  if (table === undefined) return
  for (let isSaid = false; ; isSaid = true) {
    yield* sql`UPDATE leaving_engines SET schema_version = NULL WHERE schema_version < ${schemaVersion}::int`
    const rows = yield* sql<Pick<OtherEngine, "process">>`
      SELECT process FROM leaving_engines
      WHERE beat_at > clock_timestamp() - ${seconds}::float8 * interval '1 second' AND schema_version IS NULL`
    if (rows.every(({ process }) => isGone(process))) return
    if (!isSaid) yield* Effect.logInfo("the schema is contracted once the calls of an engine that is leaving are over")
    yield* Effect.sleep(AGAIN)
  }
})

/** Records that the engine has ended. False if it has sent another beat, or has left in order, since the row was read. */
export const giveUp = (sql: SqlClient.SqlClient, { beat, journal }: OtherEngine) =>
  Effect.map(
    sql`DELETE FROM leaving_engines WHERE journal = ${journal}::uuid AND beat = ${beat}::int RETURNING true`,
    (rows) => rows.length > 0
  )
