/**
 * An engine that was killed with calls that had not left yet, and is started again while another one decides: only its own journals prove that they
 * never left, so it says so, and their contacts are called soon instead of being in doubt for good.
 */
import { Effect, FiberSet, Layer } from "effect"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { persist } from "#runtime/postgres/persist.ts"
import { Dispatcher } from "./Dispatcher.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { onFollow, say } = yield* Dispatcher
    const { earlier, known } = yield* LocalJournal
    const store = yield* AttemptStore
    const fork = yield* FiberSet.makeRuntime()
    const tell = Effect.gen(function* () {
      const journals = earlier()
      if (journals.size === 0) return
      for (const { callId, journal, state } of yield* persist(store.live)) {
        if (state !== "sent" || journal === undefined || !journals.has(journal)) continue
        const { left, undone } = known(callId, journal)
        if (left === "never_left" || undone !== undefined) say({ _tag: "NeverLeft", callId })
      }
    })
    onFollow(() => void fork(tell))
  })
)
