/** Which test files a run takes, in which order, and which of them run beside others. */
import { type Batch, batchesOf } from "./batches.ts"
import { longest, proving, realTime } from "./namedFiles.ts"

/** `tests` prove a change. `stories` are the rest: they take long, or repeat what one of the tests shows in another way. */
type Length = "tests" | "stories"

const isStory = (file: string): boolean => /^test\/(chaos|conversations|journey|package)\//.test(file) && !proving.includes(file)
/** Files that mostly wait: for calls to end, for engines to start, for timeouts to pass. */
export const waits = (file: string): boolean => /^test\/(adapters|chaos|conversations|journey)\//.test(file)
/** Undefined: not a file of one carrier among six. */
const carrierOf = (file: string): string | undefined => /^test\/journey\/hosted\/(\w+)\.test\.ts$/.exec(file)?.[1]

/** `carriers`: those whose files it takes. Default: all. */
export const filesOf = (length: Length, files: ReadonlyArray<string>, carriers?: ReadonlyArray<string>): ReadonlyArray<string> =>
  files.filter((file) => {
    const carrier = carrierOf(file)
    return isStory(file) === (length === "stories") && (carrier === undefined || carriers === undefined || carriers.includes(carrier))
  })

interface Plan {
  /** Batches that mostly wait. */
  readonly stories: Array<Batch>
  /** Batches that keep a core busy. */
  readonly others: Array<Batch>
  /** These run one by one, after everything else. */
  readonly realTime: ReadonlyArray<string>
}

const placeOf = (file: string): number => {
  const place = longest.indexOf(file)
  return place === -1 ? longest.length : place
}
/** Batches come after the longest files, and before the files that take little time. */
const placeOfBatch = (batch: Batch): number => (batch.length > 1 ? longest.length - 0.5 : placeOf(batch[0]))

export const planOf = (files: ReadonlyArray<string>): Plan => {
  const ordered = files.toSorted((a, b) => placeOf(a) - placeOf(b) || a.localeCompare(b))
  const batches = batchesOf(ordered.filter((file) => !realTime.has(file))).toSorted((a, b) => placeOfBatch(a) - placeOfBatch(b))
  return {
    stories: batches.filter(([file]) => waits(file)),
    others: batches.filter(([file]) => !waits(file)),
    realTime: ordered.filter((file) => realTime.has(file))
  }
}
