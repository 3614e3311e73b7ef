/** Shared places: who gets the next one, who has to wait, and who is refused. */
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { FairTurns, type Shares } from "#core/load/FairTurns.ts"
import { isOverload } from "#core/load/Overload.ts"
import { run } from "#test/support/run.ts"

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
  const turns = new FairTurns<string>(shares)
  t.equal(Effect.runSync(turns.take("a", Effect.succeed(1))), 1)
})

t.test("given a client that asks for more than all places", async (t) => {
  await t.test("when no client may hold all, then another gets one at once", async (t) => {
    const { ask, begun } = sceneOf({ places: 3, placesEach: 2 })
    const order = await run(
      Effect.gen(function* () {
        for (const name of ["a1", "a2", "a3", "a4"]) yield* ask("a", name)
        yield* ask("b")
        return [...begun]
      })
    )
    t.strictSame(order, ["a1", "a2", "b"])
  })

  await t.test("when others wait too, then they take turns, and each keeps to its own order", async (t) => {
    const { ask, begun, end } = sceneOf({ places: 1, placesEach: 1 })
    const order = await run(
      Effect.gen(function* () {
        for (const name of ["a1", "a2", "a3", "a4"]) yield* ask("a", name)
        for (const name of ["b1", "b2"]) yield* ask("b", name)
        yield* ask("c", "c1")
        for (let ended = 0; ended < 7; ended++) yield* end
        return [...begun]
      })
    )
    t.strictSame(order, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"])
  })

  await t.test("when another holds fewer, then that one is first, however many wait", async (t) => {
    const { ask, begun, end } = sceneOf({ places: 3, placesEach: 3 })
    const order = await run(
      Effect.gen(function* () {
        for (const name of ["a1", "a2", "a3", "a4", "a5"]) yield* ask("a", name)
        for (const name of ["b1", "b2"]) yield* ask("b", name)
        yield* end
        return [...begun]
      })
    )
    t.strictSame(order, ["a1", "a2", "a3", "b1"])
  })
})

t.test("given no room to wait in", async (t) => {
  await t.test("when a client has too many waiting, then it is refused at once, and others may still wait", async (t) => {
    const { ask } = sceneOf({ places: 1, waitingEach: 1 })
    const refusals = await run(
      Effect.gen(function* () {
        yield* ask("a")
        yield* ask("a")
        const third = yield* Fiber.await(yield* ask("a"))
        const other = yield* ask("b")
        return [refusalOf(third), other.pollUnsafe()]
      })
    )
    t.strictSame(refusals, ["TooManyAtOnce 3", undefined])
  })

  await t.test("when there are too many in total, then every new one is refused at once", async (t) => {
    const { ask } = sceneOf({ places: 1, waiting: 1 })
    const refusal = await run(
      Effect.gen(function* () {
        yield* ask("a")
        yield* ask("b")
        return refusalOf(yield* Fiber.await(yield* ask("c")))
      })
    )
    t.equal(refusal, "TooBusy 3")
  })
})

t.test("given a waiting client", async (t) => {
  await t.test("when nothing becomes free in time, then it is refused, and gets no place later", async (t) => {
    const { ask, begun, end, turns } = sceneOf({ places: 1 })
    const [before, after, waiting] = await run(
      Effect.gen(function* () {
        yield* ask("a")
        const late = yield* ask("b")
        yield* TestClock.adjust(9999)
        const before = late.pollUnsafe()
        yield* TestClock.adjust(1)
        const after = refusalOf(yield* Fiber.await(late))
        yield* end
        yield* ask("c")
        return [before, after, turns.waiting]
      })
    )
    t.strictSame([before, after, waiting], [undefined, "TooBusy 3", 0])
    t.strictSame(begun, ["a", "c"])
  })

  await t.test("when it is uninterruptible and nothing becomes free in time, then it is refused as well", async (t) => {
    const { ask, turns } = sceneOf({ places: 1 })
    const refusal = await run(
      Effect.gen(function* () {
        yield* ask("a")
        const late = yield* Effect.forkChild(Effect.uninterruptible(turns.take("b", Effect.void)), { startImmediately: true })
        yield* TestClock.adjust(10_000)
        return refusalOf(yield* Fiber.await(late))
      })
    )
    t.equal(refusal, "TooBusy 3")
  })

  await t.test("when it goes away, then the place goes to the next one", async (t) => {
    const { ask, begun, end, turns } = sceneOf({ places: 1 })
    await run(
      Effect.gen(function* () {
        yield* ask("a")
        const gone = yield* ask("b")
        yield* ask("c")
        yield* Fiber.interrupt(gone)
        yield* end
      })
    )
    t.strictSame([begun, turns.waiting], [["a", "c"], 0])
  })

  await t.test("when it goes away at the moment it gets the place, then the next one has it", async (t) => {
    const { ask, begun, turns } = sceneOf({ places: 1 })
    await run(
      Effect.gen(function* () {
        const first = yield* ask("a")
        const gone = yield* ask("b")
        yield* ask("c")
        // Both before any other fiber has run.
        first.interruptUnsafe()
        gone.interruptUnsafe()
        yield* TestClock.adjust(0)
      })
    )
    t.strictSame([begun.filter((name) => name !== "b").at(-1), turns.waiting], ["c", 0])
  })
})

t.test("given work that ends badly, then its place is free again", async (t) => {
  const { ask, begun, fail, settle } = sceneOf({ places: 1 })
  await run(
    Effect.gen(function* () {
      yield* ask("a")
      const broken = yield* ask("b")
      yield* ask("c")
      yield* fail
      yield* Fiber.interrupt(broken)
      yield* settle
    })
  )
  t.strictSame(begun, ["a", "b", "c"])
})

t.test("given places that rest", async (t) => {
  const rest = { place: { times: 1, mostMillis: 500 }, worker: { times: 3, mostMillis: 2000 } }
  const check = async (name: string, next: string, workedMillis: number, restedMillis: number) => {
    const { ask, begun, end } = sceneOf({ places: 1, placesEach: 1, rest, patienceMillis: 100_000 })
    const [early, late] = await run(
      Effect.gen(function* () {
        const first = yield* ask("a")
        yield* ask(next)
        yield* TestClock.adjust(workedMillis)
        yield* end
        yield* Fiber.join(first)
        yield* TestClock.adjust(restedMillis - 1)
        const early = [...begun]
        yield* TestClock.adjust(1)
        return [early, [...begun]]
      })
    )
    t.strictSame([early, late], [["a"], ["a", next]], name)
  }
  await check("when one was used for a moment, then it rests for as long", "b", 40, 40)
  await check("when one was used for long, then its rest is limited", "b", 30_000, 500)
  await check("when the same client asks again, then it waits three times as long as it worked", "a", 40, 120)
  await check("when it worked for long, then its wait is limited", "a", 30_000, 2000)
})

t.test("given a place that is held until a scope closes, then nobody else has it before", async (t) => {
  const { ask, begun, settle, turns } = sceneOf({ places: 1 })
  const before = await run(
    Effect.gen(function* () {
      const held = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* turns.hold("a")
          yield* ask("b")
          yield* settle
          return [...begun]
        })
      )
      yield* settle
      return held
    })
  )
  t.strictSame([before, begun], [[], ["b"]])
})
