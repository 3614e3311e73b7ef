/** Finds a stored file by any key that it ever had, and derives the media type from the key. */
import { Effect } from "effect"
import { compressedKey } from "#core/file/RecordingFormat.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"

/** A recording that has been compressed since its key was given out is found under its new key. */
export const keptFile = (key: string) =>
  FileStore.use((files) => {
    const later = compressedKey(key)
    const found = Effect.map(files.find(key), (file) => ({ file, key }))
    const foundLater = Effect.map(files.find(later), (file) => ({ file, key: later }))
    return later === key ? found : Effect.catchTag(found, "FileMissing", () => foundLater)
  })

export const workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
const mediaTypes: Readonly<Record<string, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json",
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  pdf: "application/pdf",
  txt: "text/plain; charset=utf-8",
  wav: "audio/wav",
  xlsx: workbookType
}
export const mediaTypeOf = (key: string): string => mediaTypes[key.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream"
