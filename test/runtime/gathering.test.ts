/** Items that are written together. */
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { SqlError } from "effect/sql"
import t, { type Test } from "tap"
import { makeGathering } from "#runtime/postgres/Gathering.ts"

const refused = (item: string) =>
  Effect.die(new SqlError.SqlError({ reason: new SqlError.ConstraintError({ cause: { code: "22P05" }, message: item }) }))

/** A database whose statements take until they are let go, and refuse the item `bad`. */
const given = (t: Test, options: { readonly most?: number; readonly atOnce?: number } = {}) => {
  const statements: Array<ReadonlyArray<string>> = []
  const gates: Array<() => void> = []
  const scope = Scope.makeUnsafe()
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const gathering = Effect.runSync(
    makeGathering<string, string, string>({
      atOnce: options.atOnce ?? 2,
      most: options.most ?? 10,
      write: (items) =>
        Effect.gen(function* () {
          statements.push(items)
          const gate = Deferred.makeUnsafe<void>()
          gates.push(() => Deferred.doneUnsafe(gate, Effect.void))
          yield* Deferred.await(gate)
          return items.includes("bad") ? yield* refused("bad") : items.map((item) => `${item} written`)
        })
    }).pipe(Effect.provideService(Scope.Scope, scope))
  )
  const write = (item: string, lane = "lane") => Effect.runPromiseExit(gathering(lane, item))
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  /** Lets the next statement end, and what follows from it begin. */
  const letGo = async () => {
    while (gates.length === 0) await turn()
    gates.shift()?.()
    await turn()
  }
  return { gathering, letGo, scope, statements, turn, write }
}

t.test("when items come while a statement is under way, then they go next, together, in order", async (t) => {
  const { letGo, statements, turn, write } = given(t, { most: 2 })
  const written = ["a", "b", "c", "d"].map((item) => write(item))
  await turn()
  t.strictSame(statements, [["a"]], "the first goes at once")
  for (let count = 0; count < 3; count++) await letGo()
  t.strictSame(statements, [["a"], ["b", "c"], ["d"]])
  t.strictSame(
    (await Promise.all(written)).map((exit) => Exit.isSuccess(exit) && exit.value),
    ["a written", "b written", "c written", "d written"]
  )
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

t.test("when one is refused for its content, then the others are written all the same", async (t) => {
  const { letGo, statements, write } = given(t)
  const written = ["a", "b", "bad", "c"].map((item) => write(item))
  for (let count = 0; count < 5; count++) await letGo()
  t.strictSame(statements, [["a"], ["b", "bad", "c"], ["b"], ["bad"], ["c"]])
  t.strictSame((await Promise.all(written)).map(Exit.isSuccess), [true, true, false, true])
})

t.test("when who asked is gone, then the item is written, and when all of it closes, then nobody waits for ever", async (t) => {
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
