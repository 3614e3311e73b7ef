/** How clients and graphs refer to a recording: by its number, or by the short name that a client gave it. */
import { RecordingId } from "#core/Id.ts"

export type RecordingName =
  | { readonly _tag: "Id"; readonly id: RecordingId }
  | { readonly _tag: "RecordingId"; readonly recordingId: string }

/** A name of digits alone is never a `recordingId`. */
export const recordingIdPattern = "^(?!\\d+$)[A-Za-z0-9_-]{1,64}$"
const maxId = 2_147_483_647

/** Returns undefined when no recording can have this name. */
export const nameOf = (text: string): RecordingName | undefined => {
  if (new RegExp(recordingIdPattern).test(text)) return { _tag: "RecordingId", recordingId: text }
  return /^\d{1,10}$/.test(text) && Number(text) <= maxId ? { _tag: "Id", id: RecordingId.make(Number(text)) } : undefined
}
