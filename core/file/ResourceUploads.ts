/**
 * How a file becomes a recording or a document: the client requests an upload URL, sends the bytes there, and then creates the resource, which
 * consumes the upload. This module keeps only the records. The bytes take another path: `receive`, write a draft, then `complete` renames it.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { completed, mayStillUse, type Stored, type UploadComplete, UploadRefused } from "./UploadCompletion.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import { hasRoom } from "#core/organization/QuotaStore.ts"
import { hashOf, newSecret } from "#core/organization/Secret.ts"

const expiresInSeconds = 1800
/** A long name keeps its end, because that has the extension. */
const keptOfName = 180

/** There is no received upload with this key; it may have been used already. */
export class UploadMissing extends Schema.TaggedError<UploadMissing>()("UploadMissing", { key: Schema.String }) {}

export interface ResourceFile {
  readonly fileName: string
  readonly mediaType: string
  readonly maxBytes: number
  /** Who asks for the upload URL, as `LinkMakers` writes it. */
  readonly maker?: string
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface ResourceTicket {
  readonly key: string
  /** The token goes into the upload URL; only its hash is stored. */
  readonly token: string
  readonly expiresInSeconds: number
}

export class ResourceUploads extends Context.Service<
  ResourceUploads,
  {
    /** Issues an upload URL for a file in `folder`, such as `recordings/1/r0123abcd`. */
    readonly request: (organizationId: OrganizationId, folder: string, file: ResourceFile) => Effect.Effect<ResourceTicket, QuotaFull>
    /** Checks the token before the first byte is accepted. */
    readonly receive: (key: string, token: string) => Effect.Effect<{ readonly key: string; readonly maxBytes: number }, UploadRefused>
    /** Called once all bytes are here. `keep` renames them to their key; it does not run if the same bytes are there already. */
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

/** Makes a name safe as the last part of a key: no hidden file, and nothing that a command line takes for an option. */
const safeName = (fileName: string): string => {
  const kept = fileName.replace(/[^A-Za-z0-9._-]/g, "_").slice(-keptOfName)
  return /^[A-Za-z0-9_]/.test(kept) ? kept : `_${kept}`
}

const request = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  folder: string,
  { fileName, maker, maxBytes, mediaType, metadata = {} }: ResourceFile
) {
  yield* Effect.catchTag(hasRoom(sql, organizationId, "storage_bytes"), "SqlError", Effect.die)
  const key = `${folder}/${safeName(fileName)}`
  const token = yield* newSecret()
  yield* Effect.orDie(sql`
    INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at, maker, media_type, max_bytes, metadata)
    VALUES (${key}, ${organizationId}, ${fileName}, ${yield* hashOf(token)}, now() + make_interval(secs => ${expiresInSeconds}),
      ${maker ?? null}::text, ${mediaType}, ${maxBytes}, ${JSON.stringify(metadata)}::text::jsonb)`)
  return { key, token, expiresInSeconds }
})

const receive = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: string, token: string) {
  const [open] = yield* Effect.orDie(sql<{ readonly maker: string | null; readonly maxBytes: number }>`
    SELECT maker, max_bytes FROM uploads
    WHERE key = ${key} AND token_hash = ${yield* hashOf(token)} AND expires_at > now() AND max_bytes IS NOT NULL`)
  if (open === undefined || !(yield* mayStillUse(sql, open))) return yield* new UploadRefused()
  return { key, maxBytes: open.maxBytes }
})
