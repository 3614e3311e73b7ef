/** What the engine that decides answers a call node, and how many calls it counts there. */
import { Clock, Effect } from "effect"
import t from "tap"
import type { NewAttempt } from "#core/call/Attempt.ts"
import { CallState } from "#core/call/Call.ts"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CallRate, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { DispatchedCalls } from "#runtime/nodes/DispatchedCalls.ts"
import { GRANT_MILLIS, type ToNode } from "#runtime/nodes/messages.ts"
import { InFlight } from "#runtime/trunk/InFlight.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { run } from "#test/support/run.ts"

const callId = CallId.make("01890000-0000-7000-8000-000000000001")
const journal = "left's"
const ended = CallState.cases.Ended.make({ cause: "normal_clearing", endedAt: 0 })

/** One call, which holds its slot, on a call node. `provenMillis`: how much longer it is proven that nobody else decides. */
const dispatched = Effect.fnUntraced(function* (proven: { millis: number }) {
  const slots = yield* Slots
  const said: Array<ToNode> = []
  const node = { journal, limit: 10, rest: () => {}, say: (message: ToNode) => void said.push(message) }
  const trunk = {
    configurationId: TelephonyConfigId.make(1),
    dismiss: () => {},
    left: () => {},
    mayLeave: () => true,
    originating: new InFlight(1),
    placed: () => {}
  }
  const means = {
    clock: yield* Clock.Clock,
    elsewhere: yield* CallsElsewhere,
    local: { left: () => true, settled: () => {} },
    lock: { isHeld: (aheadMillis = 0) => proven.millis > aheadMillis },
    optOuts: { has: () => false },
    slots
  }
  // What an ordinary call needs of all the services.
  const calls = new DispatchedCalls(means as unknown as ConstructorParameters<typeof DispatchedCalls>[0])
  slots.adopt(callId, [])
  calls.expect(journal, [callId], false)
  // What is looked at before its request leaves.
  const attempt = { callId, campaign: undefined } as unknown as NewAttempt
  const departure = (yield* CallRate).reserve([{ key: "trunk:1", rate: 10 }])
  const dialing = { departure, from: undefined, marked: true, needsAudio: false, permit: { holds: () => true } }
  calls.start(
    node,
    { expect: () => {}, journal, node: "left", room: () => 10 },
    { attempt, dialing, trunk: trunk as unknown as LiveTrunk, watcher: {} }
  )
  const ask = () => {
    calls.hear(node, { _tag: "Ask", callId })
    const last = said.at(-1)
    return last?._tag === "Answered" ? last.answer : last
  }
  return { ask, calls, node, slots, trunk }
})

const play = <A>(story: Effect.Effect<A, never, CallRate | CallsElsewhere | Slots>) =>
  run(
    story.pipe(
      Effect.provide([CallRate.layerMemory, CallsElsewhere.layer, Slots.layerMemory]),
      Effect.provideService(RealMillis, () => 0)
    )
  )

t.test("given a proof that lapses sooner than a permission, then a call waits until it is renewed", async (t) => {
  const answers = await play(
    Effect.gen(function* () {
      const proven = { millis: GRANT_MILLIS }
      const { ask } = yield* dispatched(proven)
      const early = ask()
      proven.millis = GRANT_MILLIS + 1
      const renewed = ask()
      proven.millis = 0
      return [early, renewed, ask()]
    })
  )
  t.match(answers, [{ again: Number }, "go", "no"], "and never leaves once it has lapsed")
})

t.test("given a call on a call node, when its line is free, then it takes no room there, however late it is recorded", async (t) => {
  const counts = await play(
    Effect.gen(function* () {
      const { ask, calls, node, slots } = yield* dispatched({ millis: 1000 })
      ask()
      calls.hear(node, { _tag: "Left", callId })
      const up = calls.countOn(journal)
      calls.hear(node, { _tag: "LineFree", callId, how: ended })
      const free = [calls.countOn(journal), slots.holds(callId), calls.has(callId)]
      calls.hear(node, { _tag: "Gone", callId })
      return [up, free, calls.countOn(journal), calls.has(callId)]
    })
  )
  t.strictSame(counts, [1, [0, false, true], 0, false])
})

t.test(
  "given a call that is only being recorded, when its call node is lost, then it counts until the database has the record",
  async (t) => {
    const counts = await play(
      Effect.gen(function* () {
        const { ask, calls, node } = yield* dispatched({ millis: 1000 })
        ask()
        calls.hear(node, { _tag: "LineFree", callId, how: ended })
        const before = calls.countOn(journal)
        calls.lost(node)
        const lost = calls.countOn(journal)
        ;(yield* CallsElsewhere).remove(callId)
        return [before, lost, calls.countOn(journal)]
      })
    )
    t.strictSame(counts, [0, 1, 0])
  }
)

t.test(
  "given a call whose request has no reply, then it counts among those of its node, and its reply wakes who waits for one",
  async (t) => {
    const check = (name: string, report: Parameters<DispatchedCalls["hear"]>[1]) =>
      play(
        Effect.gen(function* () {
          const { ask, calls, node, trunk } = yield* dispatched({ millis: 1000 })
          let woken = 0
          trunk.originating.await(() => woken++)
          ask()
          const count = () => calls.unplaced(journal, trunk.configurationId)
          calls.hear(node, { _tag: "Left", callId })
          t.strictSame([count(), calls.unplaced("another", trunk.configurationId), woken], [1, 0, 0])
          calls.hear(node, report)
          t.strictSame([count(), woken], [0, 1], name)
        })
      )
    await check("accepted, or in doubt", { _tag: "Placed", callId })
    await check("gone, because its actor failed", { _tag: "Gone", callId })
    await check("refused", {
      _tag: "Over",
      callId,
      how: CallState.cases.Void.make({ at: 0, reason: "permit_lapsed" })
    })
  }
)
