/** The files that a call's voice leaves behind: its recording and its transcript. */
import { Effect } from "effect"
import { makeKeptFiles } from "#runtime/storage/keptFiles.ts"
import { repair } from "./Recording.ts"
import { headerBytes } from "./RecordingHeader.ts"
import type { VoicePlan } from "./VoiceSession.ts"

export const makeVoiceFiles = Effect.gen(function* () {
  const { counted, files, keep, keepTranscript, names, room } = yield* makeKeptFiles

  const keepRecording = ({ organizationId, runId }: VoicePlan, close: Effect.Effect<unknown, unknown>) =>
    keep(organizationId, names.recording(runId), close)

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
