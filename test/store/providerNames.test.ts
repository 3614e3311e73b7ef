import t from "tap"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { TelephonyConfigId } from "#core/Id.ts"
import { installClaims, numbersOf } from "./claims.ts"
import { makeConfig } from "./services.ts"

const { claim, config, ended, newId, run, running, store, test } = await installClaims(t)
const late = await run(LateCallStore)

test(t, "given a call that its provider has named", function* (t) {
  const [number = ""] = numbersOf(1)
  const callId = newId()
  yield* claim(yield* running([number]), [callId], { callers: ["+14155559999"], usable: { numbers: ["+14155559999"], rooms: [1] } })
  const named = (name: string) => store.named([{ callId, providerCallId: name }])
  yield* named("request")
  yield* named("CA1")
  const [left] = yield* store.live
  const [heard] = yield* late.attempts(TelephonyConfigId.make(config.id), [callId])
  const hasOther = (id: typeof callId, configurationId: number, name: string) =>
    store.hasOther(id, [TelephonyConfigId.make(configurationId)], name)
  const others = {
    toItself: yield* hasOther(callId, config.id, "CA1"),
    toAnother: yield* hasOther(newId(), config.id, "CA1"),
    ofOldName: yield* hasOther(newId(), config.id, "request"),
    elsewhere: yield* hasOther(newId(), config.id + 1, "CA1")
  }
  yield* ended(callId, "unknown")
  const [doubted] = yield* late.inDoubt
  // The provider reports the name only when the call appears late.
  yield* named("CA2")
  const call = { callId, from: "+14155559999", providerCallId: "CA1", to: number }
  t.match(left, { call }, "then the next process finds it by its latest name")
  t.ok((left?.call.sentAt ?? 0) > 0)
  t.match(heard, { call, isLive: true }, "then it can be followed when it is reported")
  t.strictSame(
    others,
    { toItself: false, toAnother: true, ofOldName: false, elsewhere: false },
    "then no other call of its account can be taken for it"
  )
  t.match(doubted, { call }, "then it keeps the name when it is written off")
  t.match((yield* late.inDoubt)[0], { call: { providerCallId: "CA2" } }, "then it can be named even then")
})

test(t, "given calls that are named together, then each has its own name, and the latest", function* (t) {
  const [one, other] = [newId(), newId()]
  yield* claim(yield* running(numbersOf(2, "+1416")), [one, other])
  yield* store.named([
    { callId: one, providerCallId: "request" },
    { callId: other, providerCallId: "CB1" },
    { callId: one, providerCallId: "CA1" },
    { callId: newId(), providerCallId: "CX1" }
  ])
  const left = yield* store.find([one, other])
  const names = new Map(left.map(({ call, callId }) => [callId, call.providerCallId]))
  t.strictSame([names.get(one), names.get(other)], ["CA1", "CB1"])
})

test(t, "given a ringing call, when its id is reported by two telephony configurations", function* (t) {
  const [callId, stranger] = [newId(), newId()]
  yield* claim(yield* running(numbersOf(1, "+1417")), [callId])
  const another = yield* makeConfig("another")
  const there = yield* late.attempts(TelephonyConfigId.make(config.id), [callId, stranger])
  t.match(
    there,
    [{ call: { callId, to: "+14175550000" }, hasJustEnded: false, isLive: true, node: "here" }],
    "then the one that dialed it knows this id, and no other"
  )
  t.equal(there.length, 1)
  t.strictSame(yield* late.attempts(TelephonyConfigId.make(another.id), [callId, stranger]), [], "then the other does not know it")
})
