import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "../Id.ts"
import type { ModelDocument } from "./ModelDocument.ts"

type Sql = SqlClient.SqlClient

export const find = (sql: Sql, id: OrganizationId) =>
  sql<{
    readonly configuration: ModelDocument
  }>`SELECT configuration FROM model_configurations WHERE organization_id = ${id}`.pipe(Effect.map((rows) => rows[0]?.configuration))

/** Until the transaction ends nobody else changes it, nor the organization's preferences. */
export const lock = (sql: Sql, id: OrganizationId) => sql`SELECT 1 FROM organizations WHERE id = ${id} FOR NO KEY UPDATE`

export const put = (sql: Sql, id: OrganizationId, configuration: ModelDocument) => sql`
  INSERT INTO model_configurations (organization_id, configuration) VALUES (${id}, ${JSON.stringify(configuration)}::text::jsonb)
  ON CONFLICT (organization_id) DO UPDATE SET configuration = excluded.configuration`

export const remove = (sql: Sql, id: OrganizationId) => sql`DELETE FROM model_configurations WHERE organization_id = ${id}`
