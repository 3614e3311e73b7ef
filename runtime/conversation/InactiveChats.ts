/** Ends text chats that nobody writes to any more. */
import { Effect, Layer, Schedule } from "effect"
import { TextChats } from "#core/chat/TextChats.ts"

const EVERY = "30 seconds"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { expire } = yield* TextChats
    const look = Effect.catchCause(expire, (cause) => Effect.logWarning("inactive text chats could not be ended", cause))
    yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(EVERY)))
  })
)
