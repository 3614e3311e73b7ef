/** The file store cannot be reached, or refuses requests. This happens to buckets, never to a folder on this machine. */
import { Schema } from "effect"

export class FilesAway extends Schema.TaggedError<FilesAway>()("FilesAway", { retryAfterSeconds: Schema.Int }) {
  override get message(): string {
    return "the store of files is away"
  }
}
