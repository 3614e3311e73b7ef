/**
 * The format in which a call's recording is stored. Every call is recorded as WAV; if Opus is wanted, it is encoded from that after the call.
 * The two keys of a recording differ only in their extension, so a client with the earlier key finds the file under the later one.
 */
import { Context } from "effect"

export const recordingFormats = ["wav", "opus"] as const
export type RecordingFormat = (typeof recordingFormats)[number]

/** Applies to organizations that have not chosen a format. */
export const DefaultRecordingFormat = Context.Reference<RecordingFormat>("core/file/DefaultRecordingFormat", { defaultValue: () => "wav" })

/** The key of a recording once it is compressed; any other key is returned unchanged. */
export const compressedKey = (key: string): string => key.replace(/\.wav$/, ".opus")

/** All keys under which a recording may be stored: while it is being compressed, it exists under both. */
export const filesOfRecording = (key: string): ReadonlyArray<string> => {
  const [, name] = /^(.*)\.(?:wav|opus)$/.exec(key) ?? []
  return name === undefined ? [key] : [`${name}.wav`, `${name}.opus`]
}
