/**
 * Releases phone numbers that have been held for too long. The number of a call that was written off is released once the call can no longer
 * appear; if the process responsible for that has died, it happens here. A contact waiting for a number that nobody holds is an error, which is
 * logged and repaired.
 */
import { Effect, Layer, Schedule } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { Slots } from "./Slots.ts"

const EVERY = "30 seconds"

const releaseOutlived = Effect.gen(function* () {
  const store = yield* AttemptStore
  const slots = yield* Slots
  const outlived = yield* store.outlived
  // A call that still holds its slot is still in doubt in this process, however old it is by the database's clock.
  for (const callId of outlived.filter((id) => !slots.holds(id))) yield* store.releaseNumber(callId)
  const forgotten = yield* store.resumeForgotten
  if (forgotten > 0) yield* Effect.logError("contacts waited for numbers that nobody held", { contacts: forgotten })
})

/** Runs once after recovery, and then periodically. */
export const layer = Layer.effectDiscard(
  releaseOutlived.pipe(
    Effect.catchCause((cause) => Effect.logWarning("held numbers could not be released", cause)),
    Effect.repeat(Schedule.spaced(EVERY)),
    Effect.forkScoped
  )
)
