/** A file with what an agent should know. It is stored unchanged, and given to the agent as a whole. */
import { Schema } from "effect"
import type { DocumentId, OrganizationId } from "#core/Id.ts"

export interface Document {
  readonly id: DocumentId
  readonly documentUuid: string
  readonly organizationId: OrganizationId
  readonly fileName: string
  readonly sizeBytes: number
  /** The SHA-256 in hexadecimal. */
  readonly fileHash: string
  readonly mediaType: string
  readonly storageKey: string
  readonly customMetadata: Readonly<Record<string, unknown>>
  /** Null when it was created with a key that belongs to no user. */
  readonly createdBy: number | null
  readonly createdAt: Date
}

export class DocumentNotFound extends Schema.TaggedError<DocumentNotFound>()("DocumentNotFound", { uuid: Schema.String }) {}
