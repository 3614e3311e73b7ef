/** The store of files cannot be reached, or refuses to work: a bucket may, a folder of this machine never does. */
import { Schema } from "effect"

export class FilesAway extends Schema.TaggedError<FilesAway>()("FilesAway", { retryAfterSeconds: Schema.Int }) {
  override get message(): string {
    return "the store of files is away"
  }
}
