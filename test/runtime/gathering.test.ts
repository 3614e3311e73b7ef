/** Items that are written together. */
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import t, { type Test } from "tap"
import { makeGathering } from "#runtime/postgres/Gathering.ts"
import { story } from "#test/support/story.ts"

const failures: Readonly<Record<string, Effect.Effect<never>>> = {
  away: Effect.die(new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: { code: "57P01" } }) })),
  bad: Effect.die(new SqlError.SqlError({ reason: new SqlError.ConstraintError({ cause: { code: "22P05" } }) })),
  impossible: Effect.die(new RangeError("Maximum call stack size exceeded"))
}

/** A database whose statements wait until the test lets them go, and that fails for the reason that an item is named after. */
const given = (t: Test, most = 10) => {
  const statements: Array<ReadonlyArray<string>> = []
  const gates: Array<() => void> = []
  const scope = Scope.makeUnsafe()
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const gathering = Effect.runSync(
    makeGathering<string, string, string>({
      atOnce: 2,
      most,
      restMillis: 0,
      write: Effect.fnUntraced(function* (items) {
        statements.push(items)
        const gate = Deferred.makeUnsafe<void>()
        gates.push(() => Deferred.doneUnsafe(gate, Effect.void))
        yield* Deferred.await(gate)
        for (const item of items) yield* failures[item] ?? Effect.void
        return items.map((item) => `${item} written`)
      })
    }).pipe(Effect.provideService(Scope.Scope, scope))
  )
  const write = (item: string, lane = "lane") => Effect.runPromiseExit(gathering(lane, item))
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  /** Lets the next statement end, and whatever follows from it start. */
  const letGo = async () => {
    while (gates.length === 0) await turn()
    gates.shift()?.()
    await turn()
  }
  return { gathering, letGo, scope, statements, turn, write }
}

t.test("when items arrive during a statement, then they are written next, together, in order", async (t) => {
  const { letGo, statements, turn, write } = given(t, 2)
  const written = ["a", "b", "c", "d"].map((item) => write(item))
  await turn()
  t.strictSame(statements, [["a"]], "the first goes at once")
  for (let count = 0; count < 3; count++) await letGo()
  t.strictSame(statements, [["a"], ["b", "c"], ["d"]])
  const results = (await Promise.all(written)).map((exit) => Exit.isSuccess(exit) && exit.value)
  t.strictSame(results, ["a written", "b written", "c written", "d written"])
})

t.test("when lanes differ, then they do not wait for each other, unless too many statements run", async (t) => {
  const { letGo, statements, turn, write } = given(t)
  const written = [write("a", "one"), write("b", "two"), write("c", "three")]
  await turn()
  t.strictSame(statements, [["a"], ["b"]])
  const more = write("d", "three")
  await letGo()
  t.strictSame(statements.slice(2), [["c", "d"]], "what came meanwhile goes along")
  await letGo()
  await letGo()
  t.ok((await Promise.all([...written, more])).every(Exit.isSuccess))
})

story("given lanes that rest, when items arrive during a rest, then they are written together after it, in full statements", function* (t) {
  const statements: Array<ReadonlyArray<string>> = []
  const written = (items: ReadonlyArray<string>) => Effect.sync(() => statements[statements.push(items) - 1] ?? [])
  const write = yield* makeGathering<string, string, string>({ atOnce: 2, most: 3, restMillis: 10, write: written })
  const begin = (...items: ReadonlyArray<string>) =>
    Effect.andThen(
      Effect.forEach(items, (item) => Effect.forkScoped(write("lane", item), { startImmediately: true })),
      TestClock.adjust(0)
    )
  yield* begin("a")
  t.strictSame(statements, [["a"]], "the first goes at once")
  yield* begin("b", "c")
  yield* TestClock.adjust(9)
  t.strictSame(statements, [["a"]])
  yield* TestClock.adjust(1)
  t.strictSame(statements, [["a"], ["b", "c"]])
  yield* TestClock.adjust(10)
  yield* begin("d", "e", "f", "g", "h", "i", "j")
  t.strictSame(statements.slice(2), [["d"]], "the lane has rested")
  yield* TestClock.adjust(10)
  const later = statements.slice(3).map((items) => items.join(""))
  t.strictSame(later, ["efg", "hij"])
})

for (const item of ["bad", "impossible"]) {
  t.test(`when one is ${item}, then the others are still written`, async (t) => {
    const { letGo, statements, write } = given(t)
    const written = ["a", "b", item, "c"].map((item) => write(item))
    for (let count = 0; count < 5; count++) await letGo()
    t.strictSame(statements, [["a"], ["b", item, "c"], ["b"], [item], ["c"]])
    t.strictSame((await Promise.all(written)).map(Exit.isSuccess), [true, true, false, true])
  })
}

t.test("when the database is away, then each is told at once, and the next statement is tried", async (t) => {
  const { letGo, statements, turn, write } = given(t, 3)
  const written = ["a", "b", "away", "c", "d"].map((item) => write(item))
  for (let count = 0; count < 3; count++) await letGo()
  await turn()
  t.strictSame(statements, [["a"], ["b", "away", "c"], ["d"]])
  t.strictSame((await Promise.all(written)).map(Exit.isSuccess), [true, false, false, false, true])
})

t.test("when the caller is gone, then the item is written, and when everything closes, then nobody waits forever", async (t) => {
  const { gathering, letGo, scope, statements, turn, write } = given(t)
  const first = write("a")
  const gone = Effect.runFork(gathering("lane", "b"))
  await turn()
  await Effect.runPromise(Fiber.interrupt(gone))
  await letGo()
  t.strictSame(statements, [["a"], ["b"]])
  t.ok(Exit.isSuccess(await first))
  const waits = write("c")
  await turn()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  t.ok(Exit.hasInterrupts(await waits))
})
