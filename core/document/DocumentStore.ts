import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { UserId } from "#core/organization/Caller.ts"
import type { Document } from "./Document.ts"

type Sql = SqlClient.SqlClient

const columns = (sql: Sql) =>
  sql.literal(
    "id, document_uuid, organization_id, file_name, size_bytes, file_hash, media_type, storage_key, custom_metadata, created_by, created_at"
  )

/** Creates the document from a received upload, which is consumed. Returns no row when there is no such upload. */
export const insert = (
  sql: Sql,
  organizationId: OrganizationId,
  document: { readonly documentUuid: string; readonly storageKey: string; readonly createdBy: UserId | null }
) =>
  sql<Document>`
    WITH upload AS (
      DELETE FROM uploads WHERE organization_id = ${organizationId} AND key = ${document.storageKey} AND received_at IS NOT NULL
      RETURNING key, file_name, size_bytes, file_hash, media_type, metadata
    )
    INSERT INTO documents (organization_id, document_uuid, file_name, size_bytes, file_hash, media_type, storage_key, custom_metadata, created_by)
    SELECT ${organizationId}::int, ${document.documentUuid}::uuid, file_name, size_bytes, file_hash, media_type, key, metadata,
      ${document.createdBy}::int
    FROM upload RETURNING ${columns(sql)}`.pipe(Effect.map((rows) => rows[0]))

export const list = (sql: Sql, organizationId: OrganizationId, limit: number, offset: number) => sql<Document>`
  SELECT ${columns(sql)} FROM documents WHERE organization_id = ${organizationId} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`

export const find = (sql: Sql, organizationId: OrganizationId, uuid: string) =>
  sql<Document>`
    SELECT ${columns(sql)} FROM documents WHERE organization_id = ${organizationId} AND document_uuid = ${uuid}::uuid`.pipe(
    Effect.map((rows) => rows[0])
  )

export const remove = (sql: Sql, organizationId: OrganizationId, uuid: string) =>
  sql<Document>`
    DELETE FROM documents WHERE organization_id = ${organizationId} AND document_uuid = ${uuid}::uuid RETURNING ${columns(sql)}`.pipe(
    Effect.map((rows) => rows[0])
  )
