/** Transfers of calls on two engines, while a third one decides: their requests leave under its rates, as the callees' phones see it. */
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import { CallRate, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { DispatchedTransfers } from "#runtime/nodes/DispatchedTransfers.ts"
import { Dispatcher } from "#runtime/nodes/Dispatcher.ts"
import { PROOF_MILLIS } from "#runtime/lock/Incumbent.ts"
import { GRANT_MILLIS, type ToNode } from "#runtime/nodes/messages.ts"
import { RemoteTransfers } from "#runtime/nodes/RemoteTransfers.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { run } from "#test/support/run.ts"

const configurationId = TelephonyConfigId.make(1)
const trunk = { configurationId, rate: 2, rateKey: "account:1" }
const callIdOf = (number: number) => CallId.make(`01890000-0000-7000-8000-00000000000${number}`)

/** An engine whose calls are dispatched by another one. */
const nodeOf = (dispatched: DispatchedTransfers) =>
  Effect.gen(function* () {
    const { follow } = yield* Dispatcher
    const transfers = yield* RemoteTransfers
    const node = {
      say: (message: ToNode) => message._tag === "TransferAnswered" && transfers.answered(message.callId, message.answer)
    }
    follow((message) => {
      if (message._tag === "AskTransfer" || message._tag === "TransferLeft") dispatched.hear(node, message, false)
    })
    return transfers
  }).pipe(
    Effect.provide(
      Layer.fresh(RemoteTransfers.layer.pipe(Layer.provideMerge(Layer.mergeAll(Dispatcher.layer, Charge.layer, CallRate.layerMemory))))
    )
  )

/** `provenMillis`: how long the proof lasts that nobody else decides, unless it is renewed. */
const play = <A>(
  known: ReadonlyArray<number>,
  act: (left: Effect.Effect<ReadonlyArray<number>>) => Effect.Effect<A>,
  provenMillis: (at: number) => number = () => PROOF_MILLIS
) =>
  run(
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const rate = yield* CallRate
      const dispatched = new DispatchedTransfers({
        clock,
        elsewhere: { has: (callId) => known.some((number) => callIdOf(number) === callId) },
        lock: { isHeld: (aheadMillis = 0) => provenMillis(clock.currentTimeMillisUnsafe()) > aheadMillis },
        // What a transfer needs of a trunk.
        pool: { all: () => [trunk as LiveTrunk] },
        rate
      })
      const nodes = [yield* nodeOf(dispatched), yield* nodeOf(dispatched)]
      const leftAt: Array<number> = []
      const transfers = [1, 2, 3, 4, 5, 6].map((number) =>
        Effect.gen(function* () {
          const departure = nodes[number % 2]?.departures.reserve(callIdOf(number), trunk)
          const isAllowed = (yield* departure?.granted?.(Number.POSITIVE_INFINITY) ?? Effect.succeed(false)) && departure?.leave() === true
          if (isAllowed) leftAt.push(clock.currentTimeMillisUnsafe())
        })
      )
      yield* Effect.forkChild(Effect.all(transfers, { concurrency: "unbounded" }), { startImmediately: true })
      return yield* act(Effect.as(Effect.repeat(TestClock.adjust(50), { times: 100 }), leftAt))
    }).pipe(
      Effect.provide(CallRate.layerMemory),
      Effect.provideService(RealMillis, () => 0)
    )
  )

t.test("given six transfers on two engines at once, then no rolling second has more than the account's two", async (t) => {
  const left = await play([1, 2, 3, 4, 5, 6], (left) => left)
  t.equal(left.length, 6)
  t.strictSame(
    left.slice(2).filter((at, index) => at - (left[index] ?? 0) < 1000),
    []
  )
})

t.test("given a proof that lapses sooner than a permission, then nothing leaves until it is renewed", async (t) => {
  const left = await play(
    [1, 2],
    (left) => left,
    (at) => (at < 700 ? GRANT_MILLIS : PROOF_MILLIS)
  )
  t.equal(left.length, 2)
  t.strictSame(
    left.filter((at) => at < 700),
    []
  )
})

t.test("given a call that the engine that decides does not know, then its transfer does not leave", async (t) => {
  t.equal((await play([1, 2, 3], (left) => left)).length, 3)
})
