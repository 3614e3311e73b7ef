/** /api/v1/resource-uploads: uploads of recordings and documents. */
import { Effect } from "effect"
import Type from "typebox"
import { ResourceUploads } from "#core/file/ResourceUploads.ts"
import { tagged, upload } from "#gateway/request/Route.ts"
import { uploaded } from "#gateway/request/uploaded.ts"
import { Uploaded } from "#gateway/wire/File.ts"
import { maxDocumentBytes } from "#gateway/wire/Knowledge.ts"
import { filesTag } from "./file.ts"

export const resourceUploadRoutes = tagged(filesTag, [
  upload({
    method: "put",
    path: "/api/v1/resource-uploads/:token",
    name: "putResourceUpload",
    summary: "Upload the bytes of a recording or a document",
    description:
      "To an upload URL, until it expires or the bytes have arrived. Sending the same bytes again gets the same answer, different bytes get 409.",
    access: "none",
    isSealed: true,
    params: Type.Object({ token: Type.String() }),
    query: Type.Object({ key: Type.String() }),
    mediaTypes: ["audio/wav", "audio/mpeg", "application/pdf", "text/plain", "application/octet-stream"],
    maxBytes: maxDocumentBytes,
    success: Uploaded,
    errors: ["UploadRefused", "UploadComplete", "BodyTooLarge", "QuotaFull"],
    handle: ({ body, params, query }) =>
      Effect.flatMap(ResourceUploads, (uploads) =>
        Effect.flatMap(uploads.receive(query.key, params.token), (ticket) => uploaded(ticket, body, uploads.complete))
      )
  })
])
