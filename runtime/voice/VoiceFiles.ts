/** The recording that a call's voice leaves behind. */
import { Effect } from "effect"
import { bytesAt } from "#runtime/storage/FileFolder.ts"
import { makeKeptFiles } from "#runtime/storage/keptFiles.ts"
import { repair } from "./Recording.ts"
import { headerBytes } from "./RecordingHeader.ts"
import type { VoicePlan } from "./VoiceSession.ts"

export const makeVoiceFiles = Effect.gen(function* () {
  const { counted, files, keep, names, room } = yield* makeKeptFiles

  const keepRecording = ({ organizationId, runId }: VoicePlan, close: Effect.Effect<unknown, unknown>) => {
    const key = names.recording(runId)
    const kept = Effect.flatMap(files.path(key), (path) => files.keep(path, key))
    return keep(organizationId, key, Effect.andThen(close, kept))
  }

  /** Completes a recording that an earlier process was writing. False if nothing had been recorded. */
  const completed = Effect.fnUntraced(function* (path: string, key: string) {
    yield* repair(path)
    if (((yield* bytesAt(path)) ?? 0) <= headerBytes) return false
    yield* files.keep(path, key)
    return true
  })

  /** The earlier process may have died after completing the recording. While this cannot be determined, the run refers to it. */
  const isKept = (key: string) =>
    files
      .stat(key)
      .pipe(Effect.as(true), Effect.catchTags({ FileNotFound: () => Effect.succeed(false), FilesAway: () => Effect.succeed(true) }))

  const salvage = Effect.fnUntraced(
    function* ({ organizationId, record, runId }: VoicePlan) {
      if (!record) return undefined
      for (const key of [names.recording(runId), names.formerRecording(runId)]) {
        const path = yield* files.path(key)
        const isThere = (yield* bytesAt(path)) === undefined ? yield* isKept(key) : yield* completed(path, key)
        if (isThere) return yield* counted(organizationId)(key)
      }
      return undefined
    },
    Effect.catch((error) => Effect.as(Effect.logError("a recording could not be salvaged", error), undefined))
  )

  const recordingPath = ({ runId }: VoicePlan) => Effect.orDie(files.path(names.recording(runId)))

  return { keepRecording, recordingPath, salvage, room }
})
export type VoiceFiles = Effect.Success<typeof makeVoiceFiles>
