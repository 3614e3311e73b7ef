/** `/knowledge-base`: documents with what agents should know. */
import Type, { type Static } from "typebox"
import type { DocumentId, OrganizationId } from "#core/Id.ts"
import type { UserId } from "#core/organization/Caller.ts"
import type { Document } from "#core/document/Document.ts"
import type { DocumentTicket, NewDocument } from "#core/document/Documents.ts"
import { id, instant, nullable, object, optional } from "#gateway/request/Field.ts"
import { creator, creatorOf, fileName, mediaType, uploadUrl, uploadUrlOf } from "./ResourceFile.ts"

export const maxDocumentBytes = 104_857_600

export const DocumentPath = Type.Object({ document_uuid: Type.String() })

const statuses = ["pending", "processing", "completed", "failed"] as const

export const DocumentListQuery = Type.Object({
  status: optional(Type.Enum([...statuses], { description: "Documents are always `completed`." })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100 }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 })
})

export const RequestDocumentUpload = Type.Object(
  { filename: fileName, mime_type: Type.String(mediaType), custom_metadata: optional(object()) },
  { title: "RequestDocumentUpload" }
)

export const DocumentUpload = Type.Object(
  {
    upload_url: uploadUrl,
    document_uuid: Type.String({ format: "uuid" }),
    s3_key: Type.String(),
    expires_in: Type.Integer({ description: "Seconds." })
  },
  { title: "DocumentUpload" }
)

export const documentUpload = (siteUrl: string, ticket: DocumentTicket): Static<typeof DocumentUpload> => ({
  upload_url: uploadUrlOf(siteUrl, ticket),
  document_uuid: ticket.documentUuid,
  s3_key: ticket.key,
  expires_in: ticket.expiresInSeconds
})

export const ProcessDocument = Type.Object(
  {
    document_uuid: Type.String({ description: "The UUID and the key that came with the upload URL." }),
    s3_key: Type.String()
  },
  { title: "ProcessDocument" }
)

export const newDocumentOf = (body: Static<typeof ProcessDocument>, createdBy: UserId | undefined): NewDocument => ({
  documentUuid: body.document_uuid,
  storageKey: body.s3_key,
  createdBy
})

export const DocumentWire = Type.Object(
  {
    id: id<DocumentId>(),
    document_uuid: Type.String({ format: "uuid", description: "How agents refer to it." }),
    filename: Type.String(),
    file_size_bytes: Type.Integer(),
    file_hash: Type.String({ description: "SHA-256, hexadecimal." }),
    mime_type: Type.String(),
    processing_status: Type.Enum([...statuses]),
    processing_error: nullable(Type.String()),
    total_chunks: Type.Integer({ description: "Always 1: documents are not split." }),
    retrieval_mode: Type.String({ description: "`full_document`: the agent gets the whole document." }),
    custom_metadata: object(),
    docling_metadata: object("Empty: documents are not analysed."),
    source_url: nullable(Type.String()),
    created_at: instant(),
    updated_at: instant(),
    organization_id: id<OrganizationId>(),
    created_by: creator,
    is_active: Type.Boolean({ description: "What was deleted is not listed, so always true." })
  },
  { title: "Document" }
)

export const documentWire = (document: Document): Static<typeof DocumentWire> => ({
  id: document.id,
  document_uuid: document.documentUuid,
  filename: document.fileName,
  file_size_bytes: document.sizeBytes,
  file_hash: document.fileHash,
  mime_type: document.mediaType,
  processing_status: "completed",
  processing_error: null,
  total_chunks: 1,
  retrieval_mode: "full_document",
  custom_metadata: document.customMetadata,
  docling_metadata: {},
  source_url: null,
  created_at: document.createdAt.toISOString(),
  // A document never changes.
  updated_at: document.createdAt.toISOString(),
  organization_id: document.organizationId,
  created_by: creatorOf(document.createdBy),
  is_active: true
})

export const DocumentList = Type.Object(
  {
    documents: Type.Array(DocumentWire),
    total: Type.Integer({ description: "How many are in this answer." }),
    limit: Type.Integer(),
    offset: Type.Integer()
  },
  { title: "DocumentList" }
)
