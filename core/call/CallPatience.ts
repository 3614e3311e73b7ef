/** How long a call waits for its provider's reports, and how often the engine looks before it concludes that none will come. */

/** How long after the ring timeout we wait for the provider's report before we look. */
export const PATIENCE_MILLIS = 30_000
export const LOOK_AGAIN_MILLIS = 10_000
/** A call counts as gone after this many looks, ten seconds apart, that did not find it. */
export const MISSES_TO_BELIEVE = 3
/** The same for a call that we are ending. */
export const MISSES_TO_BELIEVE_CLOSED = 2
/** The same for a call that we are ending while the reply to its request is awaited: by then that wait has timed out, and the call is in doubt. */
export const MISSES_TO_BELIEVE_IN_FLIGHT = 6
/** After ten minutes without an answer to any look, the provider is taken to have lost the call. */
export const SILENCES_TO_BELIEVE = 60
/** How often a call that is being removed from the provider's queue is looked up: it may leave the queue at any moment. */
export const LOOK_AT_QUEUE_MILLIS = 2000
/** How long the end of a call that may never have left the provider's queue waits for the record that proves it. */
export const LONGEST_PROOF_MILLIS = 600_000
/** How long an end that may hide an answer waits for the answer event: carriers deliver events seconds apart and in any order. */
export const HOLD_MILLIS = 5000
/** The same if the provider has not even answered the look. */
export const LONGEST_HOLD_MILLIS = 15_000
/**
 * How long an end waits that the record does not explain: longer than a carrier pauses between attempts to deliver a callback, because its
 * second-to-last attempt may have failed just before we became reachable.
 */
export const UNEXPLAINED_MILLIS = 60_000
/** Carriers close the audio first and report the end afterwards, usually within this time. */
export const MEDIA_LOOK_MILLIS = 2000
/** A record that still has the call although its audio has ended lags behind for no longer than this. */
export const MEDIA_GRACE_MILLIS = 10_000
/** How long after the end of the audio the report of a call's end is awaited. */
export const LONGEST_REPORT_MILLIS = 12_000
/** When a look no longer finds an answered call, the report of its end should arrive within this time. */
export const LAST_WORD_MILLIS = 2000
/**
 * How long after its ring timeout a transfer's outcome is awaited: the request waits for the account's rate and for its reply, and events arrive
 * seconds late.
 */
export const TRANSFER_PATIENCE_MILLIS = 60_000
/** A call that was handed to somebody else has no audio whose end would show that the report of its end was lost. */
export const LOOK_AT_TRANSFERRED_MILLIS = 60_000
/** A call of a process that has died may have ended long ago, and its events may go to nobody: no report of its end will come. */
export const RECOVERED_LOOK_MILLIS = 1000
