/** Uploads of lists, and links to stored files: /api/v1/s3, /api/v1/uploads, /api/v1/files. */
import { Effect } from "effect"
import Type from "typebox"
import { Uploads } from "#core/file/Uploads.ts"
import { type OrganizationId, RunId } from "#core/Id.ts"
import { AuditLog } from "#core/organization/AuditLog.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { LinkMakers, makerOf } from "#core/organization/LinkMakers.ts"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import { keptFile, mediaTypeOf, workbookType } from "#gateway/file/keptFile.ts"
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

/** Keys of uploaded lists, documents and recordings contain their organization's id. */
const ownKey = /^(?:campaigns\/(\d{1,10})\/[^/]+|knowledge_base\/(\d{1,10})\/.+|recordings\/(\d{1,10})\/[^/]+\/.+)$/
/** Keys of a call's files contain the run's id and a random part, which files from early versions lack. */
const runKey =
  /^(?:transcripts\/(\d{1,10})(?:-[\w-]{22})?\.txt|recordings\/(\d{1,10})(?:(?:-[\w-]{22})?\.(?:wav|opus)|\/(?:user|bot)\.wav))$/
const maxRunId = 2_147_483_647

/** Anybody who has the link can read what was said in the call, so creating one is recorded. */
const noteRead = (caller: Caller, run: RunId, address: string) =>
  AuditLog.use((_) => _.record({ caller, action: "getSignedUrl", resourceKind: "runs", resourceId: String(run), address }))

/** Fails unless the file belongs to the organization. Returns the run if it is a file of a call. */
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
    summary: "Get a URL to upload a list of contacts to",
    description:
      "Send the file to the URL with `PUT` within 15 minutes, without a credential, and then create a campaign with its key. Of a workbook, the first visible sheet with a `phone_number` column is the list, with the rows that a filter hides; its numbers need their `+`, as text or by their format. 409 if the organization's storage is full.",
    body: RequestUpload,
    success: UploadAddress,
    errors: ["QuotaFull"],
    handle: ({ body, caller }) =>
      Effect.gen(function* () {
        const file = { fileName: body.file_name, fileSize: body.file_size, contentType: body.content_type, maker: makerOf(caller) }
        const ticket = yield* Uploads.use((_) => _.request(caller.organizationId, file))
        return uploadAddress(yield* Effect.flatMap(ServerInfo, ({ url }) => url), ticket)
      })
  }),
  upload({
    method: "put",
    path: "/api/v1/uploads/:token",
    access: "none",
    isSealed: true,
    params: Type.Object({ token: Type.String() }),
    query: Type.Object({ key: Type.String() }),
    name: "putUpload",
    summary: "Upload the bytes of a list",
    description:
      "To an upload URL, until it expires or the bytes have arrived. Sending the same bytes again gets the same answer, different bytes get 409.",
    mediaTypes: ["text/csv", workbookType, "application/octet-stream"],
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
    summary: "Get a URL of a stored file that works without a credential",
    description:
      "For recordings, transcripts and lists of the organization. It stops to work when it expires, and when the user or key that asked for it is removed. 403 for a file of another organization. For a run's file, this is noted in the audit log.",
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
    summary: "Read the size and time of a stored file",
    description: "`metadata` is null if there is no such file.",
    query: FileMetadataQuery,
    success: FileMetadata,
    errors: ["FileKeyInvalid", "FileForbidden", "FilesAway"],
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
    summary: "Download a stored file by a signed URL",
    description:
      "Answers with the file that the link names. 403 if the link has expired, was changed, or its maker is gone; 404 once the file has been deleted; 503 while the store of files does not answer.",
    access: "none",
    isSealed: true,
    query: FileQuery,
    mediaTypes: ["audio/wav", "audio/ogg", "text/plain", "text/csv", workbookType, "application/octet-stream"],
    errors: ["LinkRefused", "FileMissing", "FilesAway"],
    handle: ({ query }) =>
      Effect.gen(function* () {
        const { by, expires, inline, key, signature } = query
        yield* FileLinks.use((_) => _.check({ key, expires, isInline: inline, maker: by ?? undefined }, signature))
        // The link is void once the user or API key that created it is gone.
        if (typeof by === "string" && !(yield* LinkMakers.use((_) => _.isStillHere(by)))) return yield* new LinkRefused()
        const { file, key: kept } = yield* keptFile(key)
        return { mediaType: mediaTypeOf(kept), fileName: inline ? undefined : kept.split("/").at(-1), body: file }
      })
  })
])
