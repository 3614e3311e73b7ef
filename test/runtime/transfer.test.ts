/** The request to transfer a callee: at the account's rate, only while the call is up, and once. */
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { CallCommand, CallEvent } from "#core/call/Call.ts"
import { CallId } from "#core/Id.ts"
import { TransferDoubtful, TransferRefused, type TransferRequest } from "#core/provider/Transfer.ts"
import type { CallServices } from "#runtime/call/CallServices.ts"
import type { LiveCall } from "#runtime/call/LiveCall.ts"
import { transfer } from "#runtime/call/transfer.ts"
import { CallRate, type Departure, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { refTo } from "#test/support/refTo.ts"
import { run } from "#test/support/run.ts"

const callId = CallId.make("01890000-0000-7000-8000-0000000000aa")
const command = CallCommand.cases.Transfer.make({ destination: { kind: "attended", timeoutSeconds: 30, to: "+15550100" }, transfer: 2 })
const refusal = CallEvent.cases.Transferred.make({ answered: false, at: 0, transfer: 2 })
const ACCOUNT = { key: "account:1", rate: 1 }

type Begin = (request: TransferRequest) => Effect.Effect<void, TransferRefused | TransferDoubtful>
interface World {
  readonly call: LiveCall
  readonly told: Array<CallEvent>
  readonly requests: Array<TransferRequest>
  readonly rate: CallRate["Service"]
  /** The transfers in the journal. */
  readonly noted: Array<number>
  readonly begun: Effect.Effect<Fiber.Fiber<void>>
  isLockHeld: boolean
  /** If another engine decides when it may leave. */
  departure?: Departure
}

const leaving: Begin = ({ leave }) => (leave() ? Effect.void : Effect.fail(new TransferRefused({ detail: "it may not leave" })))

const play = <A>(begin: Begin | undefined, act: (world: World) => Effect.Effect<A>) =>
  run(
    Effect.gen(function* () {
      const [clock, rate] = [yield* Clock.Clock, yield* CallRate]
      const [told, requests, noted]: [Array<CallEvent>, Array<TransferRequest>, Array<number>] = [[], [], []]
      const transferring = (_: unknown, request: TransferRequest) => {
        requests.push(request)
        return begin?.(request) ?? Effect.void
      }
      const trunk = { rate: ACCOUNT.rate, rateKey: ACCOUNT.key, trunk: begin === undefined ? {} : { transfer: transferring } }
      // What a transfer needs of a call and of the services.
      const call = {
        isOver: false,
        ref: { ...refTo(callId), from: "+15559000" },
        tell: (event: CallEvent) => told.push({ ...event, at: 0 } as CallEvent) > 0,
        transfer: undefined,
        trunk
      } as unknown as LiveCall
      const world: World = { begun: Effect.succeed(undefined as never), call, isLockHeld: true, noted, rate, requests, told }
      const local = { handed: (_: CallId, one: number) => noted.push(one) }
      const transfers = { reserve: () => world.departure ?? rate.reserve([ACCOUNT]) }
      const services = { charge: { mayDial: () => world.isLockHeld }, clock, local, rate, transfers } as unknown as CallServices
      return yield* act(Object.assign(world, { begun: Effect.forkChild(transfer(services, call, command), { startImmediately: true }) }))
    }).pipe(
      Effect.provide(CallRate.layerMemory),
      Effect.provideService(RealMillis, () => 0)
    )
  )

/** The transfer from its beginning to its end, with what happens in between. */
const throughout = (world: World, between: Effect.Effect<unknown> = Effect.void) =>
  Effect.flatMap(world.begun, (fiber) => Effect.andThen(between, Fiber.join(fiber)))

t.test("given an idle account, then the request leaves at once with the number that the callee was shown", async (t) => {
  const { noted, requests, told } = await play(leaving, (world) => Effect.as(throughout(world), world))
  t.match(requests, [{ from: "+15559000", kind: "attended", timeoutSeconds: 30, to: "+15550100", transfer: 2 }])
  t.strictSame(told, [], "what comes of it is the provider's to tell")
  t.strictSame(noted, [2], "and the journal knows of it")
})

t.test("given an account that has just dialed, then the request waits for its rate, and counts for the next call", async (t) => {
  const waited = await play(leaving, (world) =>
    Effect.gen(function* () {
      world.rate.reserve([ACCOUNT]).leave()
      let atOnce = -1
      const passes = Effect.andThen(
        Effect.sync(() => (atOnce = world.requests.length)),
        TestClock.adjust(1100)
      )
      yield* throughout(world, passes)
      const next = world.rate.reserve([ACCOUNT]).readyAt() - (yield* Clock.currentTimeMillis)
      return { atOnce, later: world.requests.length, next: next > 500 }
    })
  )
  t.strictSame(waited, { atOnce: 0, later: 1, next: true })
})

const preventions: Readonly<Record<string, (world: World) => void>> = {
  "a transfer that is over": ({ call }) => void (call.transfer = undefined),
  "a call that is over": ({ call }) => void (call.isOver = true),
  "an engine that has lost its lock": (world) => void (world.isLockHeld = false)
}
for (const [what, prevent] of Object.entries(preventions))
  t.test(`given ${what} while the request waits, then nobody is dialed`, async (t) => {
    const told = await play(leaving, (world) => {
      world.rate.reserve([ACCOUNT]).leave()
      const passes = Effect.andThen(
        Effect.sync(() => prevent(world)),
        TestClock.adjust(1100)
      )
      return Effect.as(throughout(world, passes), world.told)
    })
    t.strictSame(told, [refusal])
  })

t.test("given a request that fails, then only a refusal brings the callee back", async (t) => {
  const outcome = (begin: Begin | undefined) => play(begin, (world) => Effect.as(throughout(world), world.told))
  t.strictSame(await outcome(undefined), [refusal], "a provider that transfers no calls")
  t.strictSame(await outcome(() => Effect.fail(new TransferRefused({ detail: "" }))), [refusal])
  t.strictSame(await outcome(() => Effect.fail(new TransferDoubtful({ detail: "" }))), [])
})

t.test("given a refusal because of the account's rate, then the account's next dials are further apart", async (t) => {
  const spacing = (isRateLimited: boolean) =>
    play(
      () => Effect.fail(new TransferRefused({ detail: "", isRateLimited })),
      (world) =>
        Effect.map(throughout(world), () => {
          const [first, second] = [world.rate.reserve([ACCOUNT]), world.rate.reserve([ACCOUNT])]
          return second.readyAt() - first.readyAt()
        })
    )
  const [usual, slowed] = [await spacing(false), await spacing(true)]
  t.ok(slowed > usual, `${slowed} ms, and not ${usual} ms`)
})

t.test("given an adapter that never answers, then the request may no longer leave, or is in doubt", async (t) => {
  const afterLeaving = (leaves: boolean) =>
    play(
      ({ leave }) =>
        Effect.andThen(
          Effect.sync(() => leaves && leave()),
          Effect.never
        ),
      (world) => Effect.map(throughout(world, TestClock.adjust(20_000)), () => ({ late: world.requests[0]?.leave(), told: world.told }))
    )
  t.strictSame(await afterLeaving(true), { late: false, told: [] })
  t.strictSame(await afterLeaving(false), { late: false, told: [refusal] })
})

t.test("given another engine that decides, when its permission lapses before the first byte, then the next one is awaited", async (t) => {
  let grants = 0
  const departure: Departure = {
    giveBack: () => {},
    granted: () => Effect.sync(() => ++grants > 0),
    leave: () => grants === 2,
    readyAt: () => 0,
    renew: () => {}
  }
  const { noted, requests, told } = await play(leaving, (world) => Effect.as(throughout(Object.assign(world, { departure })), world))
  t.strictSame([grants, requests.length, told, noted], [2, 2, [], [2]])
})
