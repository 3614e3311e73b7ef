/** When an engine takes the place of another one, when it waits, and when it refuses. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { Config } from "#runtime/config/config.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { judge, type Situation, type Verdict } from "#runtime/lock/Incumbent.ts"
import { lockStore, type Seen } from "#runtime/postgres/LockStore.ts"
import { clientLayer } from "#runtime/postgres/postgres.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { runLive } from "#test/support/run.ts"

const incumbent: Seen = {
  ageMillis: 100,
  backend: 10,
  beat: 5,
  epoch: 1,
  holder: 10,
  host: "elsewhere",
  node: "one",
  pid: 4242,
  process: "",
  released: false,
  since: new Date(0)
}
const situation: Situation = { holder: 10, isGone: false, patienceMillis: 60_000, seen: incumbent, silentMillis: 0, waitedMillis: 0 }
const late = { waitedMillis: 60_000 }

t.test("given whoever has the lock, or had it", async (t) => {
  const check = (name: string, expected: Verdict, changes: Partial<Situation>, seen: Partial<Seen> = {}) =>
    t.equal(judge({ ...situation, seen: { ...incumbent, ...seen }, ...changes }), expected, name)

  check("nobody ever had it", "take", { holder: undefined, seen: undefined })
  check("somebody has it who is about to write his row", "wait", { seen: undefined })
  check("for longer than anybody would wait", "refuse", { seen: undefined, ...late })
  check("it was released", "take", { holder: undefined }, { holder: undefined, released: true })
  check("it is just being released", "wait", {}, { released: true })
  check("and never is", "refuse", late, { released: true })

  check("its engine beats", "wait", { waitedMillis: 59_999 })
  check("and does so for longer than anybody would wait", "refuse", late)
  check("its engine is late for a beat when the waiting is over", "refuse", { ...late, silentMillis: 2999 })
  check("its engine may have ended when the waiting is over", "wait", { ...late, silentMillis: 3000 })

  check("its host has vanished, almost half a minute ago", "wait", { silentMillis: 29_999 })
  check("its host has vanished", "end_session", { silentMillis: 30_000 })
  check("it has vanished before anybody came, by the clock of the database", "end_session", { silentMillis: 3000 }, { ageMillis: 30_000 })
  check("that clock alone proves nothing", "wait", { silentMillis: 2999 }, { ageMillis: 3_600_000 })
  check("its process is seen to have ended, and may have dialed a moment ago", "wait", { isGone: true, silentMillis: 2999 })
  check("its process is seen to have ended", "end_session", { isGone: true, silentMillis: 3000 })

  check("its session has ended, and it may come back", "wait", { silentMillis: 4999 }, { holder: undefined })
  check("it does not come back", "take", { silentMillis: 5000 }, { holder: undefined })
  check("its session has ended, and its process too", "take", { isGone: true }, { holder: undefined })
  check("another one has taken it, and is about to write its row", "wait", { isGone: true, silentMillis: 60_000 }, { holder: 11 })
  check("and never does", "refuse", { ...late, silentMillis: 60_000 }, { holder: 11 })
})

t.test("given a host that dies and leaves its session behind, then another engine takes its place, and not before", async (t) => {
  const { url } = await openDatabase(t)
  const address = Redacted.make(url)
  const row = Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ epoch: number; node: string }>`SELECT epoch, node FROM engine_lock`)
  const lock = Layer.build(EngineLock.layer).pipe(Effect.provide(Config.layerOf({ DRAIN: "0", NODE_NAME: "two" })))
  await runLive(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const session = yield* PgConnection.make({ url: address })
      const dead = lockStore(session)
      t.equal(yield* dead.tryLock, true)
      yield* dead.take({ host: "elsewhere", node: "one", pid: 4242, process: "" }, undefined)
      const waiting = yield* Effect.forkScoped(lock)
      for (let beats = 0; beats < 8; beats++) {
        yield* dead.beat(1)
        yield* Effect.sleep("500 millis")
      }
      t.match(yield* row, [{ epoch: 1, node: "one" }], "it waits for as long as the other one beats")
      t.equal(waiting.pollUnsafe(), undefined)
      // As if it had been silent for almost half a minute when the newcomer came.
      yield* sql`UPDATE engine_lock SET beat_at = clock_timestamp() - interval '28 seconds'`
      yield* Fiber.join(waiting)
      t.match(yield* row, [{ epoch: 2, node: "two" }])
      t.ok(Exit.isFailure(yield* Effect.exit(dead.beat(1))), "and what was left of the first one's session is ended")
    }).pipe(Effect.scoped, Effect.provide(clientLayer(address, { applicationName: "test" })), Effect.orDie)
  )
})
