import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import type { Folder, FolderId } from "./Folder.ts"

type Sql = SqlClient.SqlClient

export const list = (sql: Sql, organizationId: OrganizationId, { limit, offset }: Page) => sql<Folder>`
  SELECT id, name, created_at FROM folders WHERE organization_id = ${organizationId} ORDER BY name LIMIT ${limit} OFFSET ${offset}`

export const insert = (sql: Sql, organizationId: OrganizationId, name: string) => sql<Folder>`
  INSERT INTO folders (organization_id, name) VALUES (${organizationId}, ${name}) RETURNING id, name, created_at`

export const rename = (sql: Sql, organizationId: OrganizationId, id: FolderId, name: string) => sql<Folder>`
  UPDATE folders SET name = ${name} WHERE organization_id = ${organizationId} AND id = ${id} RETURNING id, name, created_at`

/** The folder's agents stay, without a folder. */
export const remove = (sql: Sql, organizationId: OrganizationId, id: FolderId) =>
  sql`DELETE FROM folders WHERE organization_id = ${organizationId} AND id = ${id} RETURNING id`.pipe(Effect.map((rows) => rows.length > 0))
