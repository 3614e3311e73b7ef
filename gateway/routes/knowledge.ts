/** /api/v1/knowledge-base */
import { Effect } from "effect"
import { makerOf } from "#core/organization/LinkMakers.ts"
import { Documents } from "#core/document/Documents.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { orUndefined } from "#gateway/request/Field.ts"
import {
  DocumentList,
  DocumentListQuery,
  DocumentPath,
  DocumentUpload,
  documentUpload,
  DocumentWire,
  documentWire,
  maxDocumentBytes,
  newDocumentOf,
  ProcessDocument,
  RequestDocumentUpload
} from "#gateway/wire/Knowledge.ts"
import { listedPart, pageOf } from "#gateway/wire/Page.ts"
import { Deleted } from "#gateway/wire/ResourceFile.ts"

export const knowledgeRoutes = tagged({ name: "Knowledge base", about: "Documents that agents can draw on.", scope: "agents" }, [
  route({
    method: "post",
    path: "/api/v1/knowledge-base/upload-url",
    name: "requestDocumentUpload",
    summary: "Get a URL to upload a document to",
    description:
      "Send the file to the URL with `PUT` within 30 minutes, without a credential, and then process it. 409 if the organization's storage is full.",
    body: RequestDocumentUpload,
    success: DocumentUpload,
    errors: ["QuotaFull"],
    handle: ({ body, caller }) =>
      Effect.gen(function* () {
        const metadata = orUndefined(body.custom_metadata)
        const file = { fileName: body.filename, mediaType: body.mime_type, maxBytes: maxDocumentBytes, maker: makerOf(caller), metadata }
        const ticket = yield* Documents.use((_) => _.requestUpload(caller.organizationId, file))
        return documentUpload(yield* Effect.flatMap(ServerInfo, ({ url }) => url), ticket)
      })
  }),
  route({
    method: "post",
    path: "/api/v1/knowledge-base/process-document",
    name: "processDocument",
    summary: "Create a document from an upload",
    description: "The document is stored as it is, and complete at once: it is neither split into chunks nor indexed for semantic search.",
    body: ProcessDocument,
    success: DocumentWire,
    errors: ["UploadMissing"],
    handle: ({ body, caller }) =>
      Documents.use((_) => _.create(caller.organizationId, newDocumentOf(body, caller.userId))).pipe(Effect.map(documentWire))
  }),
  list({
    path: "/api/v1/knowledge-base/documents",
    name: "listDocuments",
    summary: "List documents, newest first",
    description: "Their names, types and sizes, not their contents. A document is either `completed` or not here.",
    query: DocumentListQuery,
    success: DocumentList,
    handle: ({ caller, query }) => {
      const { limit, offset, status } = query
      const part =
        status === null || status === "completed"
          ? Documents.use((_) => _.list(caller.organizationId, pageOf(query)))
          : Effect.succeed({ rows: [], isCut: false })
      return Effect.map(part, (documents) =>
        listedPart(query, documents, (shown) => ({ documents: shown.map(documentWire), total: shown.length, limit, offset }))
      )
    }
  }),
  route({
    method: "get",
    path: "/api/v1/knowledge-base/documents/:document_uuid",
    name: "getDocument",
    summary: "Read the metadata of a document",
    description: "Its name, type, size and own metadata. Its content is not served. 404 if the organization has no such document.",
    params: DocumentPath,
    success: DocumentWire,
    errors: ["DocumentNotFound"],
    handle: ({ caller, params }) => Documents.use((_) => _.get(caller.organizationId, params.document_uuid)).pipe(Effect.map(documentWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/knowledge-base/documents/:document_uuid",
    name: "deleteDocument",
    summary: "Delete a document and its file",
    description: "404 if there is no such document; 503 while the store of files does not answer, and nothing is deleted.",
    params: DocumentPath,
    success: Deleted,
    errors: ["DocumentNotFound", "FilesAway"],
    handle: ({ caller, params }) =>
      Effect.gen(function* () {
        const { storageKey } = yield* Documents.use((_) => _.get(caller.organizationId, params.document_uuid))
        // First the file: if it cannot be removed, the document still names it, and the request can be repeated.
        yield* FileStore.use((_) => _.remove(storageKey))
        yield* Documents.use((_) => _.remove(caller.organizationId, params.document_uuid))
        return { success: true as const, message: "Document deleted successfully" }
        // A client that goes away must not leave the file behind.
      }).pipe(Effect.uninterruptible)
  })
])
