/**
 * Milliseconds between the end of a call and its record, and between two statements that record calls of one campaign. A freed line is dialed
 * again at once: that claim goes first, and does not compete with the previous call's record for CPU and disk. Nobody waits for a record, and
 * most of a statement's cost is the same for many calls.
 */
import { Context } from "effect"

/** Zero in tests that control the clock. */
export const RecordPause = Context.Reference<number>("runtime/call/RecordPause", { defaultValue: () => 10 })
