/** What becomes of the files that this process keeps in a bucket, as plain numbers. */
import { Context } from "effect"

export class FileMetrics {
  /** Files that are on this machine's disk alone. */
  waiting = 0
  /** Files that the bucket has taken. */
  stored = 0
  /** Requests to the bucket that came to nothing, tries included. */
  failures = 0
}

/** The numbers of this process. */
export const CurrentFileMetrics = Context.Reference<FileMetrics>("runtime/metrics/CurrentFileMetrics", {
  defaultValue: () => new FileMetrics()
})
