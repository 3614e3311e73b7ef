import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { ServicePrice } from "./Price.ts"

type Sql = SqlClient.SqlClient

export const find = (sql: Sql, id: OrganizationId) =>
  sql<{ readonly prices: unknown }>`SELECT service_prices AS prices FROM organizations WHERE id = ${id}`

/** Replaces all of them. */
export const put = (sql: Sql, id: OrganizationId, prices: ReadonlyArray<ServicePrice>) =>
  sql`UPDATE organizations SET service_prices = nullif(${JSON.stringify(prices)}::text::jsonb, '[]') WHERE id = ${id}`
