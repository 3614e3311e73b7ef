/** Shared places: who gets the next one, who has to wait, and who is refused. */
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { FairTurns, type Shares } from "#core/load/FairTurns.ts"
import { isOverload } from "#core/load/Overload.ts"
import { test } from "./effectTest.ts"

const shares: Shares = { places: 2, placesEach: 2, waiting: 100, waitingEach: 100, patienceMillis: 10_000, retryAfterSeconds: 3 }

/** Asks for places, and returns who got one, in order; `end` ends the work of the one who began first. */
const sceneOf = (changes: Partial<Shares> = {}) => {
  const turns = new FairTurns<string>({ ...shares, ...changes })
  const begun: Array<string> = []
  const working: Array<Deferred.Deferred<void, string>> = []
  const ask = Effect.fnUntraced(function* (who: string, name = who) {
    const fiber = yield* Effect.forkChild(
      turns.take(
        who,
        Effect.suspend(() => {
          const end = Deferred.makeUnsafe<void, string>()
          begun.push(name)
          working.push(end)
          return Deferred.await(end)
        })
      ),
      { startImmediately: true }
    )
    return fiber
  })
  const next = () => working.shift() ?? Deferred.makeUnsafe<void, string>()
  /** Lets the others begin. */
  const settle = TestClock.adjust(0)
  const end = Effect.andThen(
    Effect.suspend(() => Deferred.succeed(next(), undefined)),
    settle
  )
  const fail = Effect.andThen(
    Effect.suspend(() => Deferred.fail(next(), "broken")),
    settle
  )
  return { ask, begun, end, fail, settle, turns }
}

/** The message to somebody who got no place. */
const refusalOf = <A, E>(exit: Exit.Exit<A, E>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const [reason] = exit.cause.reasons
  return reason?._tag === "Die" && isOverload(reason.defect) ? `${reason.defect._tag} ${reason.defect.retryAfterSeconds}` : "another"
}

t.test("given places that are free, then the work begins at once, and without a fiber of its own", async (t) => {
  t.equal(Effect.runSync(new FairTurns<string>(shares).take("a", Effect.succeed(1))), 1)
})

t.test("given a client that asks for more than all places", async (t) => {
  await test(t, "when no client may hold all, then another gets one at once", function* (t) {
    const { ask, begun } = sceneOf({ places: 3, placesEach: 2 })
    for (const name of ["a1", "a2", "a3", "a4"]) yield* ask("a", name)
    yield* ask("b")
    t.strictSame([...begun], ["a1", "a2", "b"])
  })

  await test(t, "when others wait too, then they take turns, and each keeps to its own order", function* (t) {
    const { ask, begun, end } = sceneOf({ places: 1, placesEach: 1 })
    for (const name of ["a1", "a2", "a3", "a4"]) yield* ask("a", name)
    for (const name of ["b1", "b2"]) yield* ask("b", name)
    yield* ask("c", "c1")
    for (let ended = 0; ended < 7; ended++) yield* end
    t.strictSame([...begun], ["a1", "a2", "b1", "c1", "a3", "b2", "a4"])
  })

  await test(t, "when another holds fewer, then that one is first, however many wait", function* (t) {
    const { ask, begun, end } = sceneOf({ places: 3, placesEach: 3 })
    for (const name of ["a1", "a2", "a3", "a4", "a5"]) yield* ask("a", name)
    for (const name of ["b1", "b2"]) yield* ask("b", name)
    yield* end
    t.strictSame([...begun], ["a1", "a2", "a3", "b1"])
  })
})

t.test("given no room to wait in", async (t) => {
  await test(t, "when a client has too many waiting, then it is refused at once, and others may still wait", function* (t) {
    const { ask } = sceneOf({ places: 1, waitingEach: 1 })
    yield* ask("a")
    yield* ask("a")
    t.strictSame([refusalOf(yield* Fiber.await(yield* ask("a"))), (yield* ask("b")).pollUnsafe()], ["TooManyAtOnce 3", undefined])
  })

  await test(t, "when there are too many in total, then every new one is refused at once", function* (t) {
    const { ask } = sceneOf({ places: 1, waiting: 1 })
    yield* ask("a")
    yield* ask("b")
    t.equal(refusalOf(yield* Fiber.await(yield* ask("c"))), "TooBusy 3")
  })
})

t.test("given a waiting client", async (t) => {
  await test(t, "when nothing becomes free in time, then it is refused, and gets no place later", function* (t) {
    const { ask, begun, end, turns } = sceneOf({ places: 1 })
    yield* ask("a")
    const late = yield* ask("b")
    yield* TestClock.adjust(9999)
    const before = late.pollUnsafe()
    yield* TestClock.adjust(1)
    const after = refusalOf(yield* Fiber.await(late))
    yield* end
    yield* ask("c")
    t.strictSame([before, after, turns.waiting], [undefined, "TooBusy 3", 0])
    t.strictSame(begun, ["a", "c"])
  })

  await test(t, "when it is uninterruptible and nothing becomes free in time, then it is refused as well", function* (t) {
    const { ask, turns } = sceneOf({ places: 1 })
    yield* ask("a")
    const late = yield* Effect.forkChild(Effect.uninterruptible(turns.take("b", Effect.void)), { startImmediately: true })
    yield* TestClock.adjust(10_000)
    t.equal(refusalOf(yield* Fiber.await(late)), "TooBusy 3")
  })

  await test(t, "when it goes away, then the place goes to the next one", function* (t) {
    const { ask, begun, end, turns } = sceneOf({ places: 1 })
    yield* ask("a")
    const gone = yield* ask("b")
    yield* ask("c")
    yield* Fiber.interrupt(gone)
    yield* end
    t.strictSame([begun, turns.waiting], [["a", "c"], 0])
  })

  await test(t, "when it goes away at the moment it gets the place, then the next one has it", function* (t) {
    const { ask, begun, turns } = sceneOf({ places: 1 })
    const first = yield* ask("a")
    const gone = yield* ask("b")
    yield* ask("c")
    // Both before any other fiber has run.
    first.interruptUnsafe()
    gone.interruptUnsafe()
    yield* TestClock.adjust(0)
    t.strictSame([begun.filter((name) => name !== "b").at(-1), turns.waiting], ["c", 0])
  })
})

test(t, "given work that ends badly, then its place is free again", function* (t) {
  const { ask, begun, fail, settle } = sceneOf({ places: 1 })
  yield* ask("a")
  const broken = yield* ask("b")
  yield* ask("c")
  yield* fail
  yield* Fiber.interrupt(broken)
  yield* settle
  t.strictSame(begun, ["a", "b", "c"])
})

t.test("given places that rest", async (t) => {
  const rest = { place: { times: 1, mostMillis: 500 }, worker: { times: 3, mostMillis: 2000 } }
  const check = (title: string, next: string, workedMillis: number, restedMillis: number) =>
    test(t, title, function* (t) {
      const { ask, begun, end } = sceneOf({ places: 1, placesEach: 1, rest, patienceMillis: 100_000 })
      const first = yield* ask("a")
      yield* ask(next)
      yield* TestClock.adjust(workedMillis)
      yield* end
      yield* Fiber.join(first)
      yield* TestClock.adjust(restedMillis - 1)
      t.strictSame(begun, ["a"])
      yield* TestClock.adjust(1)
      t.strictSame(begun, ["a", next])
    })
  await check("when one was used for a moment, then it rests for as long", "b", 40, 40)
  await check("when one was used for long, then its rest is limited", "b", 30_000, 500)
  await check("when the same client asks again, then it waits three times as long as it worked", "a", 40, 120)
  await check("when it worked for long, then its wait is limited", "a", 30_000, 2000)
})

test(t, "given a place that is held until a scope closes, then nobody else has it before", function* (t) {
  const { ask, begun, settle, turns } = sceneOf({ places: 1 })
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* turns.hold("a")
      yield* ask("b")
      yield* settle
      t.strictSame(begun, [])
    })
  )
  yield* settle
  t.strictSame(begun, ["b"])
})
