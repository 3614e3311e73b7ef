/**
 * An engine that decides and cannot write its journal lets no call leave, neither its own nor those of others. If another engine could carry calls, it
 * steps down for that one, and ends once its own calls are over; the disk of that one may have room.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { LocalJournal } from "./journal/LocalJournal.ts"
import { CallNodes } from "./nodes/CallNodes.ts"

const LOOK = "500 millis"
/** How many looks in a row find the journal unwritable, and another engine: for 3 s, which a busy disk may take. */
const MOST_LOOKS = 6

class JournalUnwritable extends Schema.TaggedError<JournalUnwritable>()("JournalUnwritable", {}) {
  override get message(): string {
    return "This engine cannot write its journal, and another one decides in its place: start it again once its disk has room"
  }
}

export class StepDown extends Context.Service<
  StepDown,
  {
    /** Fails once this engine should end. */
    readonly due: Effect.Effect<never, JournalUnwritable>
  }
>()("runtime/StepDown") {
  static readonly layer = Layer.effect(
    StepDown,
    Effect.gen(function* () {
      const { failure } = yield* LocalJournal
      const { metrics } = yield* CallNodes
      return {
        due: Effect.gen(function* () {
          for (let looks = 0; looks < MOST_LOOKS; ) {
            yield* Effect.sleep(LOOK)
            looks = failure() !== undefined && metrics().heard > 0 ? looks + 1 : 0
          }
          yield* Effect.logError("the local journal cannot be written: this engine ends, so that another one decides")
          return yield* new JournalUnwritable()
        })
      }
    })
  )
}
