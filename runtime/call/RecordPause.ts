/**
 * Milliseconds between the end of a call and its record. A line that has become free is dialed again at once: the claim for that goes first,
 * and does not share processor and disk with the record of the call before.
 */
import { Context } from "effect"

/** Zero in tests that turn the clock. */
export const RecordPause = Context.Reference<number>("runtime/call/RecordPause", { defaultValue: () => 10 })
