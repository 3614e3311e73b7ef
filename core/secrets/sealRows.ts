/** Seals secrets that are stored in the clear or sealed with a former key: table by table, in small batches, each in its own transaction. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { AgentContent } from "#core/agent/Agent.ts"
import { sealed, secretsIn } from "#core/agent/SealedVersion.ts"
import { putTogether } from "#core/agent/SecretParts.ts"
import { AgentDefinitionId, OrganizationId } from "#core/Id.ts"
import { openedJson, openedText, type Place, sealedJson, type Seals } from "#core/Sealer.ts"

type Sql = SqlClient.SqlClient

/** A column whose value is sealed as a whole. */
interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The key of the rows, which is also the `id` in the place of the seal. */
  readonly id: string
  readonly organization: string
  /** The `of` in the place of the seal, if it is not the table. */
  readonly of?: string
  /** If more than the column is sealed: the value to seal, and the other columns to empty. */
  readonly value?: string
  readonly emptied?: string
}

const json: ReadonlyArray<SealedColumn> = [
  { table: "telephony_configurations", column: "credentials", id: "id", organization: "organization_id" },
  { table: "credentials", column: "credential_data", id: "uuid", organization: "organization_id" },
  { table: "tools", column: "definition", id: "tool_uuid", organization: "organization_id" },
  { table: "model_configurations", column: "configuration", id: "organization_id", organization: "organization_id" },
  {
    table: "node_webhook_deliveries",
    column: "headers",
    id: "id",
    organization: "organization_id",
    value:
      "CASE jsonb_typeof(headers) WHEN 'string' THEN headers ELSE jsonb_strip_nulls(jsonb_build_object('headers', headers, 'body', body)) END",
    emptied: ", body = NULL"
  }
]
const texts: ReadonlyArray<SealedColumn> = [
  { table: "webhook_endpoints", column: "url", id: "id", organization: "organization_id", of: "webhook_endpoints.url" },
  { table: "webhook_endpoints", column: "secret", id: "id", organization: "organization_id" },
  { table: "webhook_endpoints", column: "previous_secret", id: "id", organization: "organization_id" },
  { table: "installation_secrets", column: "secret", id: "name", organization: "NULL::int" }
]

const atOnce = 50

interface Found {
  readonly id: number | string
  readonly organizationId: number | null
  readonly stored: unknown
}

/** Runs one batch after another, until one is empty. Returns the number of rows. */
const inBatches = Effect.fnUntraced(function* <R>(sql: Sql, batch: Effect.Effect<number, SqlError.SqlError, R>) {
  let sealedRows = 0
  while (true) {
    const rows = yield* sql.withTransaction(batch)
    sealedRows += rows
    if (rows === 0) return sealedRows
  }
})

/** Seals one column. `as.text` reads it as text; text that begins with `prefix` is already sealed with the current key. */
const column = (
  sql: Sql,
  { column, emptied = "", id, organization, table, of = table, value = column }: SealedColumn,
  prefix: string,
  as: { readonly text: string; readonly type: string; readonly again: (place: Place, stored: unknown) => string }
) =>
  inBatches(
    sql,
    Effect.gen(function* () {
      const rows = yield* sql<Found>`
        SELECT ${sql.literal(`${id} AS id, ${organization} AS organization_id, ${value} AS stored FROM ${table}`)}
        WHERE ${sql.literal(`${column} IS NOT NULL AND NOT starts_with(${as.text}, `)}${prefix})
        ORDER BY ${sql.literal(id)} LIMIT ${atOnce} FOR UPDATE`
      for (const row of rows) {
        const place = { of, organizationId: row.organizationId ?? undefined, id: row.id }
        yield* sql`
          UPDATE ${sql.literal(table)} SET ${sql.literal(column)} = ${as.again(place, row.stored)}::text::${sql.literal(as.type + emptied)}
          WHERE ${sql.literal(`${id}::text`)} = ${String(row.id)}`
      }
      return rows.length
    })
  )

const definitions = (sql: Sql, sealer: Seals, prefix: string) =>
  inBatches(
    sql,
    Effect.gen(function* () {
      const rows = yield* sql<AgentContent & { readonly id: number; readonly organizationId: number; readonly secrets: string | null }>`
        SELECT id, organization_id, definition, configurations, template_context_variables, secrets FROM agent_definitions
        WHERE secrets IS NULL OR secrets <> '' AND NOT starts_with(secrets, ${prefix})
        ORDER BY id LIMIT ${atOnce} FOR UPDATE`
      for (const { id, organizationId, secrets, ...content } of rows) {
        const version = { definitionId: AgentDefinitionId.make(id), organizationId: OrganizationId.make(organizationId) }
        const stored = sealed(sealer, version, putTogether(content, secretsIn(sealer, version, secrets)))
        // Without secrets, the documents need no change.
        yield* stored.secrets === ""
          ? sql`UPDATE agent_definitions SET secrets = '' WHERE id = ${id}`
          : sql`
              UPDATE agent_definitions SET definition = ${JSON.stringify(stored.definition)}::text::jsonb,
                configurations = ${JSON.stringify(stored.configurations)}::text::jsonb,
                template_context_variables = ${JSON.stringify(stored.templateContextVariables)}::text::jsonb, secrets = ${stored.secrets}
              WHERE id = ${id}`
      }
      return rows.length
    })
  )

/** Returns how many rows were sealed. `prefix` is the beginning of the seals of the current key. */
export const sealRows = Effect.fnUntraced(function* (sql: Sql, sealer: Seals, prefix: string) {
  let rows = yield* definitions(sql, sealer, prefix)
  for (const one of json) {
    const again = (place: Place, stored: unknown) => sealedJson(sealer, place, openedJson(sealer, place, stored))
    rows += yield* column(sql, one, prefix, {
      text: `CASE jsonb_typeof(${one.column}) WHEN 'string' THEN ${one.column} #>> '{}' ELSE '' END`,
      type: "jsonb",
      again
    })
  }
  for (const one of texts) {
    const again = (place: Place, stored: unknown) => sealer.seal(place, openedText(sealer, place, String(stored)))
    rows += yield* column(sql, one, prefix, { text: one.column, type: "text", again })
  }
  return rows
})
