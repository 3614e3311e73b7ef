/** The documents of an organization. */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { fitting, type Page, type Part } from "#core/Page.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import type { UserId } from "#core/organization/Caller.ts"
import { type Document, DocumentNotFound } from "./Document.ts"
import * as store from "./DocumentStore.ts"
import { type ResourceFile, type ResourceTicket, ResourceUploads, UploadMissing } from "#core/file/ResourceUploads.ts"
import { isUuid } from "#core/Uuid.ts"

export interface DocumentTicket extends ResourceTicket {
  readonly documentUuid: string
}

export interface NewDocument {
  /** Both as they were issued with the upload URL. */
  readonly documentUuid: string
  readonly storageKey: string
  readonly createdBy?: UserId | undefined
}

export class Documents extends Context.Service<
  Documents,
  {
    readonly requestUpload: (organizationId: OrganizationId, file: ResourceFile) => Effect.Effect<DocumentTicket, QuotaFull>
    readonly create: (organizationId: OrganizationId, document: NewDocument) => Effect.Effect<Document, UploadMissing>
    /** Newest first. */
    readonly list: (organizationId: OrganizationId, page: Page) => Effect.Effect<Part<Document>>
    readonly get: (organizationId: OrganizationId, uuid: string) => Effect.Effect<Document, DocumentNotFound>
    /** The caller must delete its file. */
    readonly remove: (organizationId: OrganizationId, uuid: string) => Effect.Effect<Document, DocumentNotFound>
  }
>()("core/document/Documents") {
  static readonly layer = Layer.effect(
    Documents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const uploads = yield* ResourceUploads
      const random = yield* SecureRandom.SecureRandom
      return Documents.of({
        requestUpload: Effect.fn("Documents.requestUpload")(function* (organizationId, file) {
          const documentUuid = yield* random.uuidV4()
          const ticket = yield* uploads.request(organizationId, folderOf(organizationId, documentUuid), file)
          return { ...ticket, documentUuid }
        }),
        create: Effect.fn("Documents.create")(function* (organizationId, { createdBy = null, documentUuid, storageKey }) {
          const isOurs = isUuid(documentUuid) && storageKey.startsWith(`${folderOf(organizationId, documentUuid)}/`)
          const made = isOurs ? yield* Effect.orDie(store.insert(sql, organizationId, { createdBy, documentUuid, storageKey })) : undefined
          return made ?? (yield* new UploadMissing({ key: storageKey }))
        }),
        list: Effect.fn("Documents.list")((organizationId, page) =>
          fitting(page, ({ limit, offset }) => Effect.orDie(store.list(sql, organizationId, limit, offset)))
        ),
        get: Effect.fn("Documents.get")(function* (organizationId, uuid) {
          const found = isUuid(uuid) ? yield* Effect.orDie(store.find(sql, organizationId, uuid)) : undefined
          return found ?? (yield* new DocumentNotFound({ uuid }))
        }),
        remove: Effect.fn("Documents.remove")(function* (organizationId, uuid) {
          const gone = isUuid(uuid) ? yield* Effect.orDie(store.remove(sql, organizationId, uuid)) : undefined
          return gone ?? (yield* new DocumentNotFound({ uuid }))
        })
      })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const folderOf = (organizationId: OrganizationId, documentUuid: string): string => `knowledge_base/${organizationId}/${documentUuid}`
