import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { openedJson, type Place, sealedJson, Sealer } from "#core/Sealer.ts"
import type { ModelDocument } from "./ModelDocument.ts"

type Sql = SqlClient.SqlClient

const placeOf = (id: OrganizationId): Place => ({ of: "model_configurations", organizationId: id, id })

export const find = Effect.fnUntraced(function* (sql: Sql, id: OrganizationId) {
  const [row] = yield* sql<{ readonly configuration: ModelDocument | string }>`
    SELECT configuration FROM model_configurations WHERE organization_id = ${id}`
  return row === undefined ? undefined : openedJson(yield* Sealer, placeOf(id), row.configuration)
})

/** Until the transaction ends, nobody else can change the configuration or the organization's preferences. */
export const lock = (sql: Sql, id: OrganizationId) => sql`SELECT 1 FROM organizations WHERE id = ${id} FOR NO KEY UPDATE`

export const put = Effect.fnUntraced(function* (sql: Sql, id: OrganizationId, configuration: ModelDocument) {
  yield* sql`
    INSERT INTO model_configurations (organization_id, configuration)
    VALUES (${id}, ${sealedJson(yield* Sealer, placeOf(id), configuration)}::text::jsonb)
    ON CONFLICT (organization_id) DO UPDATE SET configuration = excluded.configuration`
})

export const remove = (sql: Sql, id: OrganizationId) => sql`DELETE FROM model_configurations WHERE organization_id = ${id}`
