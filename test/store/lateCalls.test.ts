/** Who owns a call that lives on after its attempt, or that is no longer followed. */
import { Effect } from "effect"
import t from "tap"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { TelephonyConfigId } from "#core/Id.ts"
import { installClaims, numbersOf } from "./claims.ts"
import { makeConfig } from "./services.ts"

const { claim, config, newId, run, running } = await installClaims(t)

t.test("given a ringing call, when its id is reported by two telephony configurations", async (t) => {
  const { callId, there, elsewhere } = await run(
    Effect.gen(function* () {
      const [callId, stranger] = [newId(), newId()]
      yield* claim(yield* running(numbersOf(1)), [callId])
      const store = yield* LateCallStore
      const another = yield* makeConfig("another")
      return {
        callId,
        there: yield* store.attempts(TelephonyConfigId.make(config.id), [callId, stranger]),
        elsewhere: yield* store.attempts(TelephonyConfigId.make(another.id), [callId, stranger])
      }
    }).pipe(Effect.provide(LateCallStore.layer))
  )
  t.match(
    there,
    [{ call: { callId, to: "+14155550000" }, isLive: true, node: "here" }],
    "then the one that dialed it knows this id, and no other"
  )
  t.equal(there.length, 1)
  t.strictSame(elsewhere, [], "then the other does not know it")
})
