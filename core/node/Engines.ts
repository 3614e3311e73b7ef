/** The engines that share the database, as an organization may see them: without their addresses, and with none but its own calls. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { acrossTenants } from "#core/organization/CurrentTenant.ts"

/** An engine that has been silent for longer is taken for dead. */
const SILENT_SECONDS = 30

/**
 * - `decider`: decides what is dialed, and carries calls itself if there is no other.
 * - `carrier`: carries calls that the decider places.
 * - `leaving`: was asked to end, and ends with its last call.
 */
export const engineRoles = ["decider", "carrier", "leaving"] as const

export interface EngineSeen {
  readonly name: string
  readonly role: (typeof engineRoles)[number]
  /** When it took this role. */
  readonly since: Date
  /** Calls of the organization that are being placed, or up. */
  readonly calls: number
}

export class Engines extends Context.Service<
  Engines,
  {
    /** Those that are alive, the decider first. An engine that only waits for the decider's end is not known. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<EngineSeen>>
  }
>()("core/node/Engines") {
  static readonly layer = Layer.effect(
    Engines,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      list: Effect.fn("Engines.list")((organizationId) => acrossTenants(Effect.orDie(list(sql, organizationId))))
    }))
  )
}

// Calls of engines that have died are the decider's: it settles them.
const list = (sql: SqlClient.SqlClient, organizationId: OrganizationId) => sql<EngineSeen>`
  WITH live AS MATERIALIZED (
    SELECT id, journal FROM attempts WHERE organization_id = ${organizationId} AND state IN ('intent', 'sent', 'answered')
  ), others AS MATERIALIZED (
    SELECT e.node, CASE WHEN e.schema_version IS NULL THEN 'leaving' ELSE 'carrier' END AS role, e.since,
      (SELECT count(*)::int FROM live WHERE live.journal = e.journal OR live.id = ANY (e.adopted)) AS calls
    FROM leaving_engines e WHERE e.beat_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS})
  )
  SELECT name, role, since, calls FROM (
    SELECT 1 AS place, node AS name, 'decider' AS role, since,
      greatest((SELECT count(*) FROM live) - (SELECT coalesce(sum(calls), 0) FROM others), 0)::int AS calls
    FROM engine_lock WHERE NOT released
    UNION ALL SELECT 2, node, role, since, calls FROM others
  ) engines ORDER BY place, name, since`
