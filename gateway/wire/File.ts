/** Uploads of contact lists, and downloads of recordings and transcripts. */
import Type, { type Static } from "typebox"
import type { UploadTicket } from "#core/file/Uploads.ts"
import type { StoredFile } from "#gateway/ports/FileStore.ts"
import { instant, nullable, optional } from "#gateway/request/Field.ts"
import { maxFileBytes } from "#core/contact/ContactCsv.ts"

export const RequestUpload = Type.Object(
  {
    file_name: Type.String({ pattern: ".*\\.(csv|xlsx)$", description: "A CSV, or a workbook of Excel." }),
    file_size: Type.Integer({ minimum: 1, maximum: maxFileBytes }),
    content_type: Type.String({ default: "text/csv" })
  },
  { title: "RequestUpload" }
)

export const UploadAddress = Type.Object(
  {
    upload_url: Type.String({ description: "`PUT` the bytes here, without a credential." }),
    file_key: Type.String({ description: "A campaign's `source_id`." }),
    expires_in: Type.Integer({ description: "Seconds." })
  },
  { title: "UploadAddress" }
)

export const uploadAddress = (siteUrl: string, ticket: UploadTicket): Static<typeof UploadAddress> => ({
  upload_url: `${siteUrl}/api/v1/uploads/${encodeURIComponent(ticket.token)}?${new URLSearchParams({ key: ticket.key })}`,
  file_key: ticket.key,
  expires_in: ticket.expiresInSeconds
})

export const Uploaded = Type.Object({ file_key: Type.String(), file_size: Type.Integer() }, { title: "Uploaded" })

const maxLinkSeconds = 604_800

export const SignedUrlQuery = Type.Object({
  key: Type.String({ minLength: 1, description: "As in `transcript_url`, `recording_url` or `source_id`." }),
  expires_in: Type.Integer({ minimum: 1, maximum: maxLinkSeconds, default: 3600, description: "Seconds." }),
  inline: Type.Boolean({ default: false, description: "Whether the browser should show the file instead of saving it." }),
  storage_backend: optional(Type.Enum(["s3", "minio"], { description: "Accepted and ignored." }))
})
export const SignedUrl = Type.Object({ url: Type.String(), expires_in: Type.Integer() }, { title: "SignedUrl" })

export const FileMetadataQuery = Type.Object({ key: Type.String({ minLength: 1 }) })
export const FileMetadata = Type.Object(
  {
    key: Type.String(),
    metadata: nullable(
      Type.Object(
        { size: Type.Integer({ description: "Bytes." }), last_modified: instant(), content_type: Type.String() },
        { title: "StoredFile" }
      )
    )
  },
  { title: "FileMetadata" }
)
export const fileMetadata = (
  key: string,
  contentType: string,
  file: Pick<StoredFile, "bytes" | "modifiedAt"> | undefined
): Static<typeof FileMetadata> => ({
  key,
  metadata:
    file === undefined ? null : { size: file.bytes, last_modified: new Date(file.modifiedAt).toISOString(), content_type: contentType }
})

export const FileQuery = Type.Object({
  key: Type.String(),
  expires: Type.Integer({ description: "Epoch seconds." }),
  inline: Type.Boolean({ default: false }),
  by: optional(Type.String({ description: "The member who created the link. It stops working when their membership ends." })),
  signature: Type.String()
})
