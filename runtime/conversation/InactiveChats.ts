/** Ends text chats that nobody writes to any more. */
import { Effect, Layer, Schedule } from "effect"
import { TextChats } from "#core/chat/TextChats.ts"

const EVERY = "30 seconds"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { expire } = yield* TextChats
    const look = Effect.catchCause(expire, (cause) => Effect.logWarning("text chats could not be looked through", cause))
    yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(EVERY)))
  })
)
