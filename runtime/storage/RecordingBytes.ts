/** Reads the bytes of an uploaded recording: from this node's files, unless recordings are stored elsewhere. */
import { Context, Effect, Layer, Schema } from "effect"
import { Files } from "./Files.ts"

class RecordingMissing extends Schema.TaggedError<RecordingMissing>()("RecordingMissing", { cause: Schema.Defect() }) {
  override get message(): string {
    return "the recording's file could not be read"
  }
}

export class RecordingBytes extends Context.Service<
  RecordingBytes,
  {
    /** The whole file: the size of uploads is limited. */
    readonly read: (storageKey: string) => Effect.Effect<Uint8Array, RecordingMissing>
  }
>()("runtime/storage/RecordingBytes") {
  static readonly layerFiles = Layer.effect(
    RecordingBytes,
    Effect.map(Files, (files) => ({
      read: (storageKey) => Effect.mapError(files.read(storageKey), (cause) => new RecordingMissing({ cause }))
    }))
  )
}
