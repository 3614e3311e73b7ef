/**
 * When the ends and answers of calls are recorded. A freed line is dialed again at once: that claim goes first, and does not compete with the previous
 * call's record for CPU and disk. Nobody waits for a record, and most of a statement's cost is the same for many calls.
 */
import { Context } from "effect"

/** Both are zero in tests that control the clock. */
export const RecordPause = Context.Reference<{
  /** Milliseconds between the end of a call and its record. */
  readonly afterEnd: number
  /** Milliseconds between two statements that record calls of one campaign: two engines that share its calls share no statement. */
  readonly between: number
}>("runtime/call/RecordPause", { defaultValue: () => ({ afterEnd: 10, between: 25 }) })
