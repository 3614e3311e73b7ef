/** What an engine hears about calls of its earlier processes, before and after it follows the engine that settles them. */
import { Effect } from "effect"
import t from "tap"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { Dispatcher } from "#runtime/nodes/Dispatcher.ts"
import { hearing } from "#runtime/nodes/FormerCalls.ts"
import type { FromNode } from "#runtime/nodes/messages.ts"

const [former, other] = ["018f3b1e-7c00-7000-8000-000000000001", "018f3b1e-7c00-7000-8000-000000000002"].map((id) => CallId.make(id))
const configurationId = TelephonyConfigId.make(1)
const busy: TrunkEvent = { _tag: "HungUp", cause: "user_busy" }

t.test("given an event of a former call, then the engine that settles it is told, once, as soon as it can be heard", async (t) => {
  const dispatcher = await Effect.runPromise(Effect.provide(Effect.service(Dispatcher), Dispatcher.layer))
  let isTaken = false
  const heard = hearing({ dispatcher, isTaken: () => isTaken, sentBefore: (callId) => callId === former })
  const hears = (callId = former) => heard(callId as CallId, configurationId, busy)
  const said: Array<FromNode> = []
  t.notOk(hears(), "this engine has to act on it as well, while nobody else can")
  t.notOk(hears(other))
  t.strictSame(said, [])
  const message = { _tag: "HeardOfFormer", callId: former, configurationId, event: busy }
  dispatcher.follow((message) => void said.push(message))
  t.strictSame(said, [message], "what came before is told")
  t.ok(hears())
  t.notOk(hears(other), "calls of nobody are not")
  dispatcher.follow((message) => void said.push(message))
  t.strictSame(said, [message, message], "and nothing twice")
  dispatcher.lost()
  isTaken = true
  t.notOk(hears(), "an engine that decides settles them itself")
})
