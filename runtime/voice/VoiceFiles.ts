/** The files that a call's voice leaves behind: its recording and its transcript. */
import { Duration, Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import { CallFiles } from "#runtime/storage/CallFiles.ts"
import { Files } from "#runtime/storage/Files.ts"
import { StorageRoom } from "#runtime/storage/StorageRoom.ts"
import { repair } from "./Recording.ts"
import { headerBytes } from "./RecordingHeader.ts"
import type { VoicePlan } from "./VoiceSession.ts"

// A disk that hangs must not keep a call's actor.
const storeTimeout = Duration.seconds(10)

/** Undefined, and logged, when the file could not be stored in time. */
const stored = <E>(key: string, write: Effect.Effect<unknown, E>): Effect.Effect<string | undefined> =>
  write.pipe(
    Effect.timeout(storeTimeout),
    Effect.as(key),
    Effect.catchCause((cause) => Effect.as(Effect.logError("voice file not stored", cause), undefined)),
    Effect.annotateLogs({ key })
  )

export const makeVoiceFiles = Effect.gen(function* () {
  const files = yield* Files
  const names = yield* CallFiles
  const room = yield* StorageRoom

  /** Adds the size of the file, if it exists, to the organization's storage. */
  const counted = (organizationId: OrganizationId) => (key: string | undefined) =>
    key === undefined
      ? Effect.undefined
      : files.stat(key).pipe(
          Effect.map(({ bytes }) => room.kept({ organizationId, key, bytes })),
          Effect.ignore,
          Effect.as(key)
        )

  const keepRecording = ({ organizationId, runId }: VoicePlan, close: Effect.Effect<unknown, unknown>) =>
    Effect.flatMap(stored(names.recording(runId), close), counted(organizationId))

  const keepTranscript = ({ organizationId, runId }: VoicePlan, text: string) => {
    const key = names.transcript(runId)
    return Effect.flatMap(stored(key, files.write(key, new TextEncoder().encode(text))), counted(organizationId))
  }

  const salvage = Effect.fnUntraced(
    function* ({ organizationId, record, runId }: VoicePlan) {
      if (!record) return undefined
      const begun = names.recording(runId)
      const key = (yield* Effect.isSuccess(files.stat(begun))) ? begun : names.formerRecording(runId)
      yield* files.stat(key)
      yield* repair(yield* files.path(key))
      const { bytes } = yield* files.stat(key)
      return bytes > headerBytes ? yield* counted(organizationId)(key) : undefined
    },
    Effect.catchTag("FileNotFound", () => Effect.undefined),
    Effect.catch((error) => Effect.as(Effect.logError("a recording could not be salvaged", error), undefined))
  )

  const recordingPath = ({ runId }: VoicePlan) => Effect.orDie(files.path(names.recording(runId)))

  return { keepRecording, keepTranscript, recordingPath, salvage, room }
})
export type VoiceFiles = Effect.Success<typeof makeVoiceFiles>
