/** The recordings of an organization. */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { AgentNotFound } from "#core/agent/Agent.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import { fitting, type Page, type Part } from "#core/Page.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import type { UserId } from "#core/organization/Caller.ts"
import { refusedAs } from "#core/uniqueness.ts"
import { type Recording, RecordingIdTaken, RecordingNotFound } from "./Recording.ts"
import { nameOf } from "#core/agent/RecordingName.ts"
import * as store from "./RecordingStore.ts"
import { type ResourceFile, type ResourceTicket, ResourceUploads, UploadMissing } from "#core/file/ResourceUploads.ts"

interface RecordingDetails {
  readonly agentId?: AgentId | undefined
  readonly ttsProvider?: string | undefined
  readonly ttsModel?: string | undefined
  readonly ttsVoiceId?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface NewRecording extends RecordingDetails {
  readonly recordingId: string
  /** The key that was issued with the upload URL, together with the `recordingId`. */
  readonly storageKey: string
  readonly transcript: string
  readonly createdBy?: UserId | undefined
}

/** Omitted fields stay unchanged. */
export interface RecordingChanges extends RecordingDetails {
  readonly recordingId?: string | undefined
  readonly transcript?: string | undefined
}

export type RecordingFilter = Omit<RecordingDetails, "metadata">

export interface RecordingTicket extends ResourceTicket {
  readonly recordingId: string
}

export class Recordings extends Context.Service<
  Recordings,
  {
    readonly requestUpload: (
      organizationId: OrganizationId,
      file: ResourceFile,
      agentId: AgentId | undefined
    ) => Effect.Effect<RecordingTicket, AgentNotFound | QuotaFull>
    readonly create: (
      organizationId: OrganizationId,
      recording: NewRecording
    ) => Effect.Effect<Recording, AgentNotFound | RecordingIdTaken | UploadMissing>
    /** Creates either all of them or none. */
    readonly createAll: (
      organizationId: OrganizationId,
      recordings: ReadonlyArray<NewRecording>
    ) => Effect.Effect<ReadonlyArray<Recording>, AgentNotFound | RecordingIdTaken | UploadMissing>
    /** Newest first. */
    readonly list: (organizationId: OrganizationId, filter: RecordingFilter, page: Page) => Effect.Effect<Part<Recording>>
    /** `name` is an id or a `recordingId`. */
    readonly update: (
      organizationId: OrganizationId,
      name: string,
      changes: RecordingChanges
    ) => Effect.Effect<Recording, AgentNotFound | RecordingIdTaken | RecordingNotFound>
    readonly get: (organizationId: OrganizationId, name: string) => Effect.Effect<Recording, RecordingNotFound>
    /** Its file must be deleted before. */
    readonly remove: (organizationId: OrganizationId, name: string) => Effect.Effect<Recording, RecordingNotFound>
  }
>()("core/recording/Recordings") {
  static readonly layer = Layer.effect(
    Recordings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const uploads = yield* ResourceUploads
      const random = yield* SecureRandom.SecureRandom
      return Recordings.of({
        requestUpload: Effect.fn("Recordings.requestUpload")(function* (organizationId, file, agentId) {
          yield* knows(sql, organizationId, agentId)
          // It begins with a letter, so that it is never taken for a number.
          const recordingId = `r${(yield* random.uuidV4()).slice(0, 8)}`
          const ticket = yield* uploads.request(organizationId, folderOf(organizationId, recordingId), file)
          return { ...ticket, recordingId }
        }),
        create: Effect.fn("Recordings.create")((organizationId, recording) => create(sql, organizationId, recording)),
        createAll: Effect.fn("Recordings.createAll")((organizationId, recordings) =>
          Effect.forEach(recordings, (recording) => create(sql, organizationId, recording)).pipe(
            sql.withTransaction,
            Effect.catchTag("SqlError", Effect.die)
          )
        ),
        list: Effect.fn("Recordings.list")((organizationId, filter, page) =>
          fitting(page, (part) =>
            Effect.orDie(store.list(sql, organizationId, { ...voiceOf(filter), agentId: filter.agentId ?? null }, part))
          )
        ),
        update: Effect.fn("Recordings.update")((organizationId, name, changes) => update(sql, organizationId, name, changes)),
        get: Effect.fn("Recordings.get")((organizationId, name) =>
          Effect.catchTag(sql.withTransaction(locked(sql, organizationId, name)), "SqlError", Effect.die)
        ),
        remove: Effect.fn("Recordings.remove")((organizationId, name) => remove(sql, organizationId, name))
      })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

type Sql = SqlClient.SqlClient

const folderOf = (organizationId: OrganizationId, recordingId: string): string => `recordings/${organizationId}/${recordingId}`

const knows = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, agentId: AgentId | undefined) {
  if (agentId === undefined) return
  if (!(yield* Effect.orDie(store.hasAgent(sql, organizationId, agentId)))) return yield* new AgentNotFound({ id: agentId })
})

const voiceOf = ({ ttsModel, ttsProvider, ttsVoiceId }: RecordingDetails) => ({
  ttsProvider: ttsProvider ?? null,
  ttsModel: ttsModel ?? null,
  ttsVoiceId: ttsVoiceId ?? null
})

const create = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, recording: NewRecording) {
    const { agentId, createdBy = null, metadata = {}, recordingId, storageKey, transcript } = recording
    yield* knows(sql, organizationId, agentId)
    const values = { ...voiceOf(recording), agentId: agentId ?? null, createdBy, metadata, recordingId, storageKey, transcript }
    const isOurs = storageKey.startsWith(`${folderOf(organizationId, recordingId)}/`)
    const made = isOurs ? yield* store.insert(sql, organizationId, values) : undefined
    return made ?? (yield* new UploadMissing({ key: storageKey }))
  },
  (create, _, __, { recordingId }) => create.pipe(taken(recordingId), Effect.catchTag("SqlError", Effect.die))
)

const locked = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, name: string) {
  const known = nameOf(name)
  const found = known === undefined ? undefined : yield* store.lock(sql, organizationId, known)
  return found ?? (yield* new RecordingNotFound({ id: name }))
})

const update = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, name: string, changes: RecordingChanges) {
    const before = yield* locked(sql, organizationId, name)
    yield* knows(sql, organizationId, changes.agentId)
    const [after] = yield* store.update(sql, organizationId, before.id, {
      recordingId: changes.recordingId ?? before.recordingId,
      agentId: changes.agentId ?? before.agentId,
      ttsProvider: changes.ttsProvider ?? before.ttsProvider,
      ttsModel: changes.ttsModel ?? before.ttsModel,
      ttsVoiceId: changes.ttsVoiceId ?? before.ttsVoiceId,
      transcript: changes.transcript ?? before.transcript,
      metadata: changes.metadata ?? before.metadata
    })
    return after ?? (yield* Effect.die("A locked recording was not updated"))
  },
  (update, sql, _, __, { recordingId }) => sql.withTransaction(update).pipe(taken(recordingId), Effect.catchTag("SqlError", Effect.die))
)

const remove = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, name: string) {
    const recording = yield* locked(sql, organizationId, name)
    yield* store.remove(sql, organizationId, recording.id)
    return recording
  },
  (remove, sql) => Effect.catchTag(sql.withTransaction(remove), "SqlError", Effect.die)
)

/** Two recordings of one organization never have the same `recordingId`. */
const taken = (recordingId = "") => refusedAs({ recordings_recording_id: () => new RecordingIdTaken({ recordingId }) })
