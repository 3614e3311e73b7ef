/** Which of the things that a graph refers to an organization has, in one statement. */
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { ReferenceKind } from "./References.ts"

type Sql = SqlClient.SqlClient

/** The ids of each kind, lower-case UUIDs but for recordings: these go by their number or their `recording_id`, which is never a number. */
type Ids = Readonly<Record<ReferenceKind, ReadonlyArray<string>>>

export const existing = (sql: Sql, organizationId: OrganizationId, { credential, document, recording, tool }: Ids) =>
  sql<{ readonly kind: ReferenceKind; readonly id: string }>`
    SELECT 'tool' AS kind, tool_uuid::text AS id FROM tools
    WHERE organization_id = ${organizationId} AND tool_uuid = ANY(${tool}::uuid[]) AND status <> 'archived'
    UNION ALL
    SELECT 'document', document_uuid::text FROM documents
    WHERE organization_id = ${organizationId} AND document_uuid = ANY(${document}::uuid[])
    UNION ALL
    SELECT 'credential', uuid::text FROM credentials WHERE organization_id = ${organizationId} AND uuid = ANY(${credential}::uuid[])
    UNION ALL
    SELECT 'recording', id::text FROM recordings
    WHERE organization_id = ${organizationId} AND id = ANY(${recording.filter(isNumber).map(Number)}::int[])
    UNION ALL
    SELECT 'recording', recording_id FROM recordings WHERE organization_id = ${organizationId} AND recording_id = ANY(${recording}::text[])`

const isNumber = (id: string): boolean => /^\d+$/.test(id)
