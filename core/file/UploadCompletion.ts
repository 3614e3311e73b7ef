/**
 * The end of an upload. A URL accepts bytes until an upload is complete. Sending the same bytes again succeeds, because the first answer may
 * have been lost; other bytes are refused, because the first may be in use already.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { isStillHere } from "#core/organization/LinkMakers.ts"
import type { OrganizationId } from "#core/Id.ts"
import { within } from "#core/organization/QuotaStore.ts"
import * as storedFiles from "./StoredFiles.ts"

export interface Stored {
  readonly sizeBytes: number
  /** The SHA-256 in hexadecimal. Null for uploads from before hashes were stored. */
  readonly fileHash: string | null
}

/** Other bytes have been received already. */
export class UploadComplete extends Schema.TaggedError<UploadComplete>()("UploadComplete", {}) {}
/** The upload is unknown or expired, or the token is wrong. */
export class UploadRefused extends Schema.TaggedError<UploadRefused>()("UploadRefused", {}) {}

interface UploadRow {
  readonly sizeBytes: number | null
  readonly fileHash: string | null
  readonly isReceived: boolean
  readonly organizationId: OrganizationId
}

/** Whether what asked for the upload URL is still good. */
export const mayStillUse = (sql: SqlClient.SqlClient, { maker }: { readonly maker: string | null }) =>
  maker === null ? Effect.succeed(true) : Effect.orDie(isStillHere(sql, maker))

/** `keep` moves the bytes to their key. The row lock makes the second of two concurrent uploads see the result of the first. */
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
    // If the process dies after this, the bytes are there but not received: the next upload replaces them.
    yield* keep
    yield* sql`UPDATE uploads SET size_bytes = ${sent.sizeBytes}, file_hash = ${sent.fileHash}, received_at = now() WHERE key = ${key}`
  },
  (completed, sql) => Effect.uninterruptible(Effect.catchTag(sql.withTransaction(completed), "SqlError", Effect.die))
)
