/** A file with what an agent should know. It is kept as it is, and given to the agent as a whole. */
import { Schema } from "effect"
import type { DocumentId, OrganizationId } from "#core/Id.ts"

export interface Document {
  readonly id: DocumentId
  readonly documentUuid: string
  readonly organizationId: OrganizationId
  readonly fileName: string
  readonly sizeBytes: number
  /** SHA-256, hexadecimal. */
  readonly fileHash: string
  readonly mediaType: string
  readonly storageKey: string
  readonly customMetadata: Readonly<Record<string, unknown>>
  /** Null when a key that belongs to no user made it. */
  readonly createdBy: number | null
  readonly createdAt: Date
}

export class DocumentNotFound extends Schema.TaggedError<DocumentNotFound>()("DocumentNotFound", { uuid: Schema.String }) {}
