/** The outages of a trunk, as its users see them: those that are over, and the one that lasts. `TrunkOutages` records them. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { TelephonyConfigId } from "#core/Id.ts"

export const KEPT_DAYS = 90
const MOST = 200

/** Times are epoch milliseconds. */
export interface Outage {
  readonly beganAt: number
  /** Null while it lasts. */
  readonly endedAt: number | null
  /** The endpoint that was down; null for the trunk as a whole. */
  readonly endpoint: string | null
  /** Contains no credential and no phone number. Null if nobody saw it begin. */
  readonly reason: string | null
  /** Null until all calls of that time are settled. */
  readonly callsCut: number | null
}

/** Newest first. */
export const pastOutages = (sql: SqlClient.SqlClient, id: TelephonyConfigId): Effect.Effect<ReadonlyArray<Outage>> =>
  Effect.orDie(sql<Outage>`
    SELECT ${millis(sql, "began_at")} AS began_at, ${millis(sql, "ended_at")} AS ended_at, nullif(endpoint, '') AS endpoint, reason, calls_cut FROM (
      SELECT began_at, ended_at, endpoint, reason, calls_cut FROM past_outages WHERE telephony_configuration_id = ${id}::int
      UNION ALL
      SELECT began_at, ended_at, endpoint, reason, NULL FROM trunk_outages WHERE telephony_configuration_id = ${id}::int AND began_at IS NOT NULL
    ) AS o ORDER BY o.began_at DESC, endpoint LIMIT ${MOST}::int`)

const millis = (sql: SqlClient.SqlClient, column: "began_at" | "ended_at") =>
  sql.literal(`(extract(epoch FROM o.${column}) * 1000)::float8`)
