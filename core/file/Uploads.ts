/**
 * The records of uploaded contact lists. The bytes take another path: `receive`, write a draft, then `complete` renames it to the key.
 */
import { Context, Effect, Layer } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import { hasRoom } from "#core/organization/QuotaStore.ts"
import { hashOf, newSecret } from "#core/organization/Secret.ts"
import { maxFileBytes } from "#core/contact/ContactCsv.ts"
import { completed, mayStillUse, type Stored, type UploadComplete, UploadRefused } from "./UploadCompletion.ts"
import { SourceNotFound } from "#core/contact/ContactSource.ts"

const expiresInSeconds = 900
/** A long name keeps its end, because that has the extension. */
const keptOfName = 180
const keyPattern = /^campaigns\/\d+\/[A-Za-z0-9._-]+$/

export interface UploadTicket {
  /** Opaque to clients, who send it back as a campaign's `source_id`. */
  readonly key: string
  /** The token goes into the upload URL; only its hash is stored. */
  readonly token: string
  readonly expiresInSeconds: number
}

interface Upload {
  readonly key: string
  readonly organizationId: OrganizationId
  readonly fileName: string
  readonly sizeBytes: number
}

export class Uploads extends Context.Service<
  Uploads,
  {
    /** `maker`: who asks, as `LinkMakers` writes it. */
    readonly request: (
      organizationId: OrganizationId,
      file: { readonly fileName: string; readonly fileSize: number; readonly contentType: string; readonly maker?: string }
    ) => Effect.Effect<UploadTicket, QuotaFull>
    /** Checks the token before the first byte is accepted. */
    readonly receive: (key: string, token: string) => Effect.Effect<{ readonly key: string; readonly maxBytes: number }, UploadRefused>
    /** Called once all bytes are here. `keep` renames them to their key; it does not run if the same bytes are there already. */
    readonly complete: (
      key: string,
      sent: Stored,
      keep: Effect.Effect<void>
    ) => Effect.Effect<void, QuotaFull | UploadComplete | UploadRefused>
    /** Finds an upload that has been received. */
    readonly find: (organizationId: OrganizationId, key: string) => Effect.Effect<Upload, SourceNotFound>
    /** Protects the file from deletion once the transaction commits. Call it last, because others who use the file wait for the commit. */
    readonly use: (organizationId: OrganizationId, key: string) => Effect.Effect<void, SourceNotFound>
  }
>()("core/file/Uploads") {
  static readonly layer = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()
      return Uploads.of({
        request: Effect.fn("Uploads.request")((organizationId, { fileName, maker }) =>
          Effect.provideContext(request(sql, organizationId, fileName, maker), crypto)
        ),
        receive: Effect.fn("Uploads.receive")((key, token) => Effect.provideContext(receive(sql, key, token), crypto)),
        complete: Effect.fn("Uploads.complete")((key, sent, keep) => completed(sql, key, sent, keep)),
        find: Effect.fn("Uploads.find")(function* (organizationId, key) {
          const found = keyPattern.test(key) ? yield* Effect.orDie(find(sql, organizationId, key)) : undefined
          return found ?? (yield* new SourceNotFound({ sourceId: key }))
        }),
        use: Effect.fn("Uploads.use")(function* (organizationId, key) {
          if (!(yield* Effect.orDie(use(sql, organizationId, key)))) return yield* new SourceNotFound({ sourceId: key })
        })
      })
    })
  ).pipe(Layer.provide([Digest.layerWebCrypto, SecureRandom.layerWebCrypto]))
}

const request = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  fileName: string,
  maker: string | undefined
) {
  yield* Effect.catchTag(hasRoom(sql, organizationId, "storage_bytes"), "SqlError", Effect.die)
  const random = yield* SecureRandom.SecureRandom
  const safeName = fileName.replace(/[^A-Za-z0-9._-]/g, "_").slice(-keptOfName)
  const key = `campaigns/${organizationId}/${yield* random.uuidV4()}_${safeName}`
  const token = yield* newSecret()
  // Commits without waiting for the disk, so that the commits of calls do not queue behind it; the commit that matters is that of `complete`.
  yield* Effect.orDie(sql`
    WITH light AS (SELECT set_config('synchronous_commit', 'off', true))
    INSERT INTO uploads (key, organization_id, file_name, token_hash, maker, expires_at)
    SELECT ${key}::text, ${organizationId}::int, ${safeName}::text, ${yield* hashOf(token)}, ${maker ?? null}::text,
      now() + make_interval(secs => ${expiresInSeconds}::float8)
    FROM light`)
  return { key, token, expiresInSeconds }
})

const find = (sql: SqlClient.SqlClient, organizationId: OrganizationId, key: string) =>
  sql<Upload>`
    SELECT key, organization_id, file_name, size_bytes FROM uploads
    WHERE organization_id = ${organizationId} AND key = ${key} AND received_at IS NOT NULL`.pipe(Effect.map((rows) => rows[0]))

/** Returns false when the upload has been condemned. */
const use = (sql: SqlClient.SqlClient, organizationId: OrganizationId, key: string) =>
  sql`
    UPDATE uploads SET used_at = coalesce(used_at, now())
    WHERE organization_id = ${organizationId} AND key = ${key} AND received_at IS NOT NULL RETURNING key`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

const receive = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: string, token: string) {
  if (!keyPattern.test(key)) return yield* new UploadRefused()
  const [open] = yield* Effect.orDie(sql<{ readonly maker: string | null }>`
    SELECT maker FROM uploads WHERE key = ${key} AND token_hash = ${yield* hashOf(token)} AND expires_at > now()`)
  if (open === undefined || !(yield* mayStillUse(sql, open))) return yield* new UploadRefused()
  return { key, maxBytes: maxFileBytes }
})
