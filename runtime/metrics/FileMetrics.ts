/** What happens to the files that this process keeps in a bucket, as plain numbers. */
import { Context } from "effect"

export class FileMetrics {
  /** Files that exist only on this machine's disk. */
  waiting = 0
  /** Files that the bucket has accepted. */
  stored = 0
  /** Failed requests to the bucket, counting each attempt. */
  failures = 0
}

/** The numbers of this process. */
export const CurrentFileMetrics = Context.Reference<FileMetrics>("runtime/metrics/CurrentFileMetrics", {
  defaultValue: () => new FileMetrics()
})
