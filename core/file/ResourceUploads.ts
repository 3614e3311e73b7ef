/**
 * The way of a file into a recording or a document: an address is asked for, the bytes are put there, and then the resource is made of
 * them, which uses the upload up. The bytes go past this: `receive`, write them to a draft, `complete`, which has it renamed to the key.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { completed, type Stored, type UploadComplete, UploadRefused } from "./UploadCompletion.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import { hasRoom } from "#core/organization/QuotaStore.ts"
import { hashOf, newSecret } from "#core/organization/Secret.ts"

const expiresInSeconds = 1800
/** The tail of a long name is kept, because it holds the extension. */
const keptOfName = 180

/** Nothing lies there that a resource could be made of; it may have been made already. */
export class UploadMissing extends Schema.TaggedError<UploadMissing>()("UploadMissing", { key: Schema.String }) {}

export interface ResourceFile {
  readonly fileName: string
  readonly mediaType: string
  readonly maxBytes: number
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface ResourceTicket {
  readonly key: string
  /** Belongs into the upload address; only its hash is kept. */
  readonly token: string
  readonly expiresInSeconds: number
}

export class ResourceUploads extends Context.Service<
  ResourceUploads,
  {
    /** For a file in `folder`, such as `recordings/1/r0123abcd`. */
    readonly request: (organizationId: OrganizationId, folder: string, file: ResourceFile) => Effect.Effect<ResourceTicket, QuotaFull>
    /** Before the first byte. */
    readonly receive: (key: string, token: string) => Effect.Effect<{ readonly key: string; readonly maxBytes: number }, UploadRefused>
    /** The bytes are here; `keep` puts them under their key, unless the same ones lie there. */
    readonly complete: (
      key: string,
      sent: Stored,
      keep: Effect.Effect<void>
    ) => Effect.Effect<void, QuotaFull | UploadComplete | UploadRefused>
  }
>()("core/file/ResourceUploads") {
  static readonly layer = Layer.effect(
    ResourceUploads,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()
      return ResourceUploads.of({
        request: Effect.fn("ResourceUploads.request")((organizationId, folder, file) =>
          Effect.provideContext(request(sql, organizationId, folder, file), crypto)
        ),
        receive: Effect.fn("ResourceUploads.receive")((key, token) => Effect.provideContext(receive(sql, key, token), crypto)),
        complete: Effect.fn("ResourceUploads.complete")((key, sent, keep) => completed(sql, key, sent, keep))
      })
    })
  ).pipe(Layer.provide([Digest.layerWebCrypto, SecureRandom.layerWebCrypto]))
}

/** Fit to be the last part of a key: no hidden file, no option of some command line. */
const safeName = (fileName: string): string => {
  const kept = fileName.replace(/[^A-Za-z0-9._-]/g, "_").slice(-keptOfName)
  return /^[A-Za-z0-9_]/.test(kept) ? kept : `_${kept}`
}

const request = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  folder: string,
  { fileName, maxBytes, mediaType, metadata = {} }: ResourceFile
) {
  yield* Effect.catchTag(hasRoom(sql, organizationId, "storage_bytes"), "SqlError", Effect.die)
  const key = `${folder}/${safeName(fileName)}`
  const token = yield* newSecret()
  yield* Effect.orDie(sql`
    INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at, media_type, max_bytes, metadata)
    VALUES (${key}, ${organizationId}, ${fileName}, ${yield* hashOf(token)}, now() + make_interval(secs => ${expiresInSeconds}),
      ${mediaType}, ${maxBytes}, ${JSON.stringify(metadata)}::text::jsonb)`)
  return { key, token, expiresInSeconds }
})

const receive = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: string, token: string) {
  const [open] = yield* Effect.orDie(sql<{ readonly key: string; readonly maxBytes: number }>`
    SELECT key, max_bytes FROM uploads
    WHERE key = ${key} AND token_hash = ${yield* hashOf(token)} AND expires_at > now() AND max_bytes IS NOT NULL`)
  return open ?? (yield* new UploadRefused())
})
