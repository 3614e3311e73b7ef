/**
 * Looks after what holds phone numbers. A call that was written off gives its number back when it can appear no more; should nobody have
 * lived to say so, that is done here. And a contact never waits for a number that nobody holds: if one does, that is an error, and mended.
 */
import { Effect, Layer, Schedule } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { Slots } from "./Slots.ts"

const EVERY = "30 seconds"

/** All of it, once. */
export const releaseOutlived = Effect.gen(function* () {
  const store = yield* AttemptStore
  const slots = yield* Slots
  const outlived = yield* store.outlived
  // A call whose slot is still held is in doubt here and now, whatever the database's clock says of its age.
  for (const callId of outlived.filter((id) => !slots.holds(id))) yield* store.releaseNumber(callId)
  const forgotten = yield* store.resumeForgotten
  if (forgotten > 0) yield* Effect.logError("contacts waited for numbers that nobody held", { contacts: forgotten })
})

/** At the start, after recovery, and then again and again. */
export const layer = Layer.effectDiscard(
  releaseOutlived.pipe(
    Effect.catchCause((cause) => Effect.logWarning("numbers could not be looked after", cause)),
    Effect.repeat(Schedule.spaced(EVERY)),
    Effect.forkScoped
  )
)
