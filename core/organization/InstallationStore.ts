import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"

type Sql = SqlClient.SqlClient

/** The id that distinguishes this installation's database from all others. */
export const installationId = (sql: Sql) =>
  sql<{ readonly id: string }>`SELECT id FROM installation`.pipe(
    Effect.flatMap(([row]) => (row === undefined ? Effect.die("the installation has no name") : Effect.succeed(row.id)))
  )

/** The organization with the lowest id; undefined until the first one is created. */
export const firstOrganization = (sql: Sql) =>
  sql<{ readonly id: OrganizationId }>`SELECT id FROM organizations ORDER BY id LIMIT 1`.pipe(Effect.map(([row]) => row?.id))
