import { Clock, Effect } from "effect"

/** Epoch milliseconds. */
export const nowMillis = (): number => Effect.runSync(Clock.currentTimeMillis)
