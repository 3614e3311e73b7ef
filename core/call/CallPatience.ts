/** How long a call waits for what its provider has yet to say, and how often the engine looks before it believes that there is nothing to come. */

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
/** The same for a call that is being taken out of the provider's queue, which it may leave at any moment. */
export const LOOK_AT_QUEUE_MILLIS = 2000
/** How long the end of a call that may never have left the provider's queue waits for the record that proves it. */
export const LONGEST_PROOF_MILLIS = 600_000
/** How long an end that may hide an answer waits for the answer event: carriers deliver events seconds apart and in any order. */
export const HOLD_MILLIS = 5000
/** The same if the provider has not even answered the look. */
export const LONGEST_HOLD_MILLIS = 15_000
/**
 * How long an end waits of which the record tells only the fact: longer than a carrier that could not reach us pauses before it tries again, for it may
 * have tried for the last time but one right before we could be reached.
 */
export const UNEXPLAINED_MILLIS = 60_000
/** Carriers close the audio first and report the end some seconds later. */
export const MEDIA_GRACE_MILLIS = 10_000
/** When a look no longer finds an answered call, the report of its end should arrive within this time. */
export const LAST_WORD_MILLIS = 2000
/**
 * How long after its ring timeout the outcome of a transfer is waited for: the request waits for the account's rate and for its reply, and events are
 * seconds late.
 */
export const TRANSFER_PATIENCE_MILLIS = 60_000
/** A call that was handed to somebody else has no audio whose end would show that the report of its end was lost. */
export const LOOK_AT_TRANSFERRED_MILLIS = 60_000
/** A call that was up under another process may have ended long ago, and then no report of its end will come. */
export const RECOVERED_LOOK_MILLIS = 1000
