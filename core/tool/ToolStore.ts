import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import type { UserId } from "#core/organization/Caller.ts"
import { newRowUuid, openedJson, type Place, sealedJson, Sealer, type Seals } from "#core/Sealer.ts"
import type { Tool, ToolDefinition, ToolStatus } from "./Tool.ts"

type Sql = SqlClient.SqlClient

const columns = (sql: Sql) =>
  sql.literal(
    "t.id, t.tool_uuid, t.name, t.description, t.category, t.icon, t.icon_color, t.status, t.definition, t.created_at, t.updated_at, " +
      "t.created_by, u.provider_id AS creator_provider_id"
  )

/** A row with a sealed definition, because headers, URLs and parameters may all hold a secret. */
type Stored = Omit<Tool, "definition"> & { readonly definition: ToolDefinition | string }

const placeOf = (organizationId: OrganizationId, uuid: string): Place => ({ of: "tools", organizationId, id: uuid.toLowerCase() })

const opened = <E, R>(organizationId: OrganizationId, rows: Effect.Effect<ReadonlyArray<Stored>, E, R>) =>
  Effect.gen(function* () {
    const sealer = yield* Sealer
    return (yield* rows).map((row): Tool => ({ ...row, definition: definitionIn(sealer, organizationId, row) }))
  })

const definitionIn = (sealer: Seals, organizationId: OrganizationId, { definition, toolUuid }: Stored): ToolDefinition =>
  openedJson<ToolDefinition>(sealer, placeOf(organizationId, toolUuid), definition)

export const insert = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  tool: {
    readonly name: string
    readonly description: string | null
    readonly icon: string | null
    readonly iconColor: string | null
    readonly definition: ToolDefinition
    readonly createdBy: UserId | null
  }
) {
  const uuid = yield* newRowUuid(sql)
  return yield* sql<{ readonly toolUuid: string }>`
    INSERT INTO tools (tool_uuid, organization_id, name, description, category, icon, icon_color, definition, created_by)
    VALUES (${uuid}::uuid, ${organizationId}, ${tool.name}, ${tool.description}, ${tool.definition.type}, ${tool.icon}, ${tool.iconColor},
      ${sealedJson(yield* Sealer, placeOf(organizationId, uuid), tool.definition)}::text::jsonb, ${tool.createdBy})
    RETURNING tool_uuid`
})

interface ToolSelection extends Page {
  readonly statuses: ReadonlyArray<ToolStatus>
  readonly category: string | null
}

export const list = (sql: Sql, organizationId: OrganizationId, { category, limit, offset, statuses }: ToolSelection) =>
  opened(
    organizationId,
    sql<Stored>`
      SELECT ${columns(sql)} FROM tools t LEFT JOIN users u ON u.id = t.created_by
      WHERE t.organization_id = ${organizationId} AND t.status = ANY(${statuses}::text[])
        AND (${category}::text IS NULL OR t.category = ${category}::text)
      ORDER BY t.name, t.id LIMIT ${limit} OFFSET ${offset}`
  )

export const find = (sql: Sql, organizationId: OrganizationId, uuid: string) =>
  opened(
    organizationId,
    sql<Stored>`
      SELECT ${columns(sql)} FROM tools t LEFT JOIN users u ON u.id = t.created_by
      WHERE t.organization_id = ${organizationId} AND t.tool_uuid = ${uuid}::uuid`
  ).pipe(Effect.map((rows) => rows[0]))

/** The tools with these UUIDs, whatever their status. The definition is undefined if its seal cannot be opened. */
export const named = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, uuids: ReadonlyArray<string>) {
  const sealer = yield* Sealer
  const rows = yield* sql<Stored>`
    SELECT ${columns(sql)} FROM tools t LEFT JOIN users u ON u.id = t.created_by
    WHERE t.organization_id = ${organizationId} AND t.tool_uuid = ANY(${uuids}::uuid[])`
  return rows.map((row) => ({ ...row, definition: ifOpened(() => definitionIn(sealer, organizationId, row)) }))
})

const ifOpened = <A>(open: () => A): A | undefined => {
  try {
    return open()
  } catch {
    return undefined
  }
}

/** Null fields stay unchanged. */
export const update = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  uuid: string,
  tool: {
    readonly name: string | null
    readonly description: string | null
    readonly icon: string | null
    readonly iconColor: string | null
    readonly status: ToolStatus | null
    readonly definition: ToolDefinition | null
  }
) {
  const definition = tool.definition === null ? null : sealedJson(yield* Sealer, placeOf(organizationId, uuid), tool.definition)
  yield* sql`
    UPDATE tools SET name = coalesce(${tool.name}::text, name), description = coalesce(${tool.description}::text, description),
      icon = coalesce(${tool.icon}::text, icon), icon_color = coalesce(${tool.iconColor}::text, icon_color),
      status = coalesce(${tool.status}::text, status), category = coalesce(${tool.definition?.type ?? null}::text, category),
      definition = coalesce(${definition}::text::jsonb, definition), updated_at = now()
    WHERE organization_id = ${organizationId} AND tool_uuid = ${uuid}::uuid`
})
