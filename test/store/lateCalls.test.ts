import t from "tap"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { TelephonyConfigId } from "#core/Id.ts"
import { installClaims, numbersOf } from "./claims.ts"
import { makeConfig } from "./services.ts"

const { claim, config, newId, run, running, test } = await installClaims(t)
const store = await run(LateCallStore)

test(t, "given a ringing call, when its id is reported by two telephony configurations", function* (t) {
  const [callId, stranger] = [newId(), newId()]
  yield* claim(yield* running(numbersOf(1)), [callId])
  const another = yield* makeConfig("another")
  const there = yield* store.attempts(TelephonyConfigId.make(config.id), [callId, stranger])
  t.match(
    there,
    [{ call: { callId, to: "+14155550000" }, isLive: true, node: "here" }],
    "then the one that dialed it knows this id, and no other"
  )
  t.equal(there.length, 1)
  t.strictSame(yield* store.attempts(TelephonyConfigId.make(another.id), [callId, stranger]), [], "then the other does not know it")
})
