/**
 * The end of an upload. An address serves until the bytes are there: the same ones again get the same answer, since an answer may be lost;
 * others come too late, for something may have been made of the first already.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { within } from "#core/organization/QuotaStore.ts"
import * as storedFiles from "./StoredFiles.ts"

export interface Stored {
  readonly sizeBytes: number
  /** SHA-256, hexadecimal. Null for what was uploaded before it was kept. */
  readonly fileHash: string | null
}

/** Other bytes lie there already. */
export class UploadComplete extends Schema.TaggedError<UploadComplete>()("UploadComplete", {}) {}
/** No such upload, a wrong token, or one that has expired. */
export class UploadRefused extends Schema.TaggedError<UploadRefused>()("UploadRefused", {}) {}

interface UploadRow {
  readonly sizeBytes: number | null
  readonly fileHash: string | null
  readonly isReceived: boolean
  readonly organizationId: OrganizationId
}

/** `keep` puts the bytes where they belong. Of two that arrive at once, the second finds what the first has left. */
export const completed = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, key: string, sent: Stored, keep: Effect.Effect<void>) {
    const [upload] = yield* sql<UploadRow>`
    SELECT size_bytes, file_hash, received_at IS NOT NULL AS is_received, organization_id FROM uploads WHERE key = ${key} FOR UPDATE`
    if (upload === undefined) return yield* new UploadRefused()
    if (upload.isReceived) {
      const isSame = upload.sizeBytes === sent.sizeBytes && upload.fileHash === sent.fileHash
      return isSame ? undefined : yield* new UploadComplete()
    }
    yield* storedFiles.add(sql, [{ organizationId: upload.organizationId, key, bytes: sent.sizeBytes }])
    yield* within(sql, upload.organizationId, "storage_bytes", sent.sizeBytes)
    // A process that dies after this leaves bytes that are not received: the next upload takes their place.
    yield* keep
    yield* sql`UPDATE uploads SET size_bytes = ${sent.sizeBytes}, file_hash = ${sent.fileHash}, received_at = now() WHERE key = ${key}`
  },
  (completed, sql) => Effect.uninterruptible(Effect.catchTag(sql.withTransaction(completed), "SqlError", Effect.die))
)
