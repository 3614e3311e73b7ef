/** Uploads of lists, and addresses of stored files: /api/v1/s3, /api/v1/uploads, /api/v1/files. */
import { Effect } from "effect"
import Type from "typebox"
import { Uploads } from "#core/file/Uploads.ts"
import { type OrganizationId, RunId } from "#core/Id.ts"
import { AuditLog } from "#core/organization/AuditLog.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { LinkMakers, makerOf } from "#core/organization/LinkMakers.ts"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import { keptFile, mediaTypeOf } from "#gateway/file/keptFile.ts"
import { FileForbidden, FileKeyInvalid, LinkRefused } from "#gateway/request/Refusal.ts"
import { download, route, type Tag, tagged, upload } from "#gateway/request/Route.ts"
import { RunOwners } from "#gateway/ports/RunOwners.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { uploaded } from "#gateway/request/uploaded.ts"
import {
  FileMetadata,
  fileMetadata,
  FileMetadataQuery,
  FileQuery,
  RequestUpload,
  SignedUrl,
  SignedUrlQuery,
  UploadAddress,
  uploadAddress,
  Uploaded
} from "#gateway/wire/File.ts"
import { maxFileBytes } from "#core/contact/ContactCsv.ts"

/** Uploaded lists, documents and recordings of one's own lie below their organization's number. */
const ownKey = /^(?:campaigns\/(\d{1,10})\/[^/]+|knowledge_base\/(\d{1,10})\/.+|recordings\/(\d{1,10})\/[^/]+\/.+)$/
/** A secret part follows the run's number, but for files of before names had one. */
const runKey =
  /^(?:transcripts\/(\d{1,10})(?:-[\w-]{22})?\.txt|recordings\/(\d{1,10})(?:(?:-[\w-]{22})?\.(?:wav|opus)|\/(?:user|bot)\.wav))$/
const maxRunId = 2_147_483_647

/** What was said in a call can be read by whoever has the address. */
const noteRead = (caller: Caller, run: RunId, address: string) =>
  AuditLog.use((_) => _.record({ caller, action: "getSignedUrl", resourceKind: "runs", resourceId: String(run), address }))

/** The run whose file it is, if it is one's. */
const allow = Effect.fnUntraced(function* (organizationId: OrganizationId, key: string) {
  const own = ownKey.exec(key)
  const owner = own?.slice(1).find((id) => id !== undefined)
  if (owner !== undefined) return owner === String(organizationId) ? undefined : yield* new FileForbidden({ detail: "Access denied" })
  const run = runKey.exec(key)
  if (run === null) return yield* new FileKeyInvalid()
  const id = RunId.make(Number(run[1] ?? run[2]))
  const owns = id <= maxRunId && (yield* RunOwners.use((_) => _.owns(organizationId, id)))
  return owns ? id : yield* new FileForbidden({ detail: "Access denied for this workflow run" })
})

export const filesTag: Tag = { name: "Files", about: "Uploaded lists, recordings and transcripts.", scope: "campaigns" }

export const fileRoutes = tagged(filesTag, [
  route({
    method: "post",
    path: "/api/v1/s3/presigned-upload-url",
    name: "requestUpload",
    summary: "Ask for an address to upload a list of contacts to",
    body: RequestUpload,
    success: UploadAddress,
    errors: ["QuotaFull"],
    handle: ({ body, caller }) =>
      Effect.gen(function* () {
        const file = { fileName: body.file_name, fileSize: body.file_size, contentType: body.content_type }
        const ticket = yield* Uploads.use((_) => _.request(caller.organizationId, file))
        return uploadAddress(yield* Effect.flatMap(ServerInfo, ({ url }) => url), ticket)
      })
  }),
  upload({
    method: "put",
    path: "/api/v1/uploads/:token",
    access: "none",
    params: Type.Object({ token: Type.String() }),
    query: Type.Object({ key: Type.String() }),
    name: "putUpload",
    summary: "Upload the bytes of a list",
    description:
      "To the address that was given out, until it expires or the bytes are there. The same bytes again get the same answer, others 409.",
    mediaTypes: ["text/csv", "application/octet-stream"],
    maxBytes: maxFileBytes,
    success: Uploaded,
    errors: ["UploadRefused", "UploadComplete", "BodyTooLarge", "QuotaFull"],
    handle: ({ body, params, query }) =>
      Uploads.use((_) => _.receive(query.key, params.token)).pipe(
        Effect.flatMap((ticket) => uploaded(ticket, body, (key, sent, keep) => Uploads.use((_) => _.complete(key, sent, keep))))
      )
  }),
  route({
    method: "get",
    path: "/api/v1/s3/signed-url",
    name: "getSignedUrl",
    summary: "An address of a stored file that works without a credential",
    query: SignedUrlQuery,
    success: SignedUrl,
    errors: ["FileKeyInvalid", "FileForbidden"],
    handle: ({ caller, client: { address }, query }) =>
      Effect.gen(function* () {
        const run = yield* allow(caller.organizationId, query.key)
        if (run !== undefined) yield* noteRead(caller, run, address)
        const path = yield* FileLinks.use((_) =>
          _.make({ key: query.key, seconds: query.expires_in, isInline: query.inline, maker: makerOf(caller) })
        )
        return { url: `${yield* Effect.flatMap(ServerInfo, ({ url }) => url)}${path}`, expires_in: query.expires_in }
      })
  }),
  route({
    method: "get",
    path: "/api/v1/s3/file-metadata",
    name: "getFileMetadata",
    summary: "How large a stored file is, and from when",
    description: "`metadata` is null when there is no such file.",
    query: FileMetadataQuery,
    success: FileMetadata,
    errors: ["FileKeyInvalid", "FileForbidden"],
    handle: ({ caller, query: { key } }) =>
      Effect.gen(function* () {
        yield* allow(caller.organizationId, key)
        const found = yield* keptFile(key).pipe(Effect.catchTag("FileMissing", () => Effect.undefined))
        return fileMetadata(key, mediaTypeOf(found?.key ?? key), found?.file)
      })
  }),
  download({
    method: "get",
    path: "/api/v1/files",
    name: "getFile",
    summary: "A stored file, under an address that was given out",
    access: "none",
    query: FileQuery,
    mediaTypes: ["audio/wav", "audio/ogg", "text/plain", "text/csv", "application/octet-stream"],
    errors: ["LinkRefused", "FileMissing"],
    handle: ({ query }) =>
      Effect.gen(function* () {
        const { by, expires, inline, key, signature } = query
        yield* FileLinks.use((_) => _.check({ key, expires, isInline: inline, maker: by ?? undefined }, signature))
        // Whoever made it may have left since.
        if (typeof by === "string" && !(yield* LinkMakers.use((_) => _.isStillHere(by)))) return yield* new LinkRefused()
        const { file, key: kept } = yield* keptFile(key)
        return { mediaType: mediaTypeOf(kept), fileName: inline ? undefined : kept.split("/").at(-1), body: file }
      })
  })
])
