/**
 * In which format the recording of a call is kept. Every call is recorded as WAV; where Opus is wanted, that is made of it after the call. The
 * two names of one recording differ in their ending only, so whoever has an earlier name finds the file under the later one.
 */
import { Context } from "effect"

export const recordingFormats = ["wav", "opus"] as const
export type RecordingFormat = (typeof recordingFormats)[number]

/** For organizations that have not chosen. */
export const DefaultRecordingFormat = Context.Reference<RecordingFormat>("core/file/DefaultRecordingFormat", { defaultValue: () => "wav" })

/** The name of a recording once it is compressed; of anything else, its own. */
export const compressedKey = (key: string): string => key.replace(/\.wav$/, ".opus")

/** Where the sound of a recording may lie: while it is being compressed, under both names. */
export const filesOfRecording = (key: string): ReadonlyArray<string> => {
  const [, name] = /^(.*)\.(?:wav|opus)$/.exec(key) ?? []
  return name === undefined ? [key] : [`${name}.wav`, `${name}.opus`]
}
