/**
 * How many milliseconds after an end its record is written. A line that has become free is dialed again at once: the claim for that comes first,
 * on a processor and a disk that it does not share with the record of the call before. What the provider has said of the end stands in the
 * local journal already.
 */
import { Context } from "effect"

/** None where a test turns the clock. */
export const RecordPause = Context.Reference<number>("runtime/call/RecordPause", { defaultValue: () => 10 })
