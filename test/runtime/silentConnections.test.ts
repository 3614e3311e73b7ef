/** Connections to Postgres that a network has dropped silently, while new ones work. */
import { Effect, Exit, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import t, { type Test } from "tap"
import { clientLayer } from "#runtime/postgres/postgres.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { runLive } from "#test/support/run.ts"
import { TcpProxy } from "#test/support/TcpProxy.ts"
import { watchLateness } from "#test/support/lateness.ts"

const database = await openDatabase(t)

/** A pool with open connections through a proxy that can be frozen. */
const given = async <A>(t: Test, work: (sql: SqlClient.SqlClient, proxy: TcpProxy) => Effect.Effect<A, unknown>) => {
  const address = new URL(database.url)
  const proxy = await TcpProxy.start({ host: address.hostname, port: Number(address.port) })
  t.teardown(() => proxy.stop())
  address.port = String(proxy.port)
  const four = (sql: SqlClient.SqlClient) =>
    Effect.all(
      Array.from({ length: 4 }, () => sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid, pg_sleep(0.2)`),
      { concurrency: 4 }
    )
  // One that is still being opened would go silent unused.
  const warm = (sql: SqlClient.SqlClient) =>
    Effect.repeat(four(sql), { until: (rows) => new Set(rows.map(([row]) => row?.pid)).size === 4 })
  return await runLive(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* warm(sql)
      return yield* work(sql, proxy)
    }).pipe(Effect.provide(clientLayer(Redacted.make(address.href), { applicationName: "silent" })), Effect.orDie)
  )
}

t.test("given open connections that go silent, when a statement gets no answer", async (t) => {
  const seen = await given(t, (sql, proxy) =>
    Effect.gen(function* () {
      proxy.freeze()
      const lateness = watchLateness()
      const began = performance.now()
      const first = yield* Effect.exit(sql`SELECT 1 AS one`)
      const waited = performance.now() - began
      // The other idle connections are closed with it, so that the next statement is not held up again.
      const others = yield* Effect.exit(
        Effect.all(
          Array.from({ length: 8 }, () => sql`SELECT 1 AS one`),
          { concurrency: 8 }
        )
      )
      return { first: Exit.isFailure(first), lateness, others: Exit.isSuccess(others), waited, whole: performance.now() - began }
    })
  )
  t.equal(seen.first, true, "then it fails")
  t.ok(seen.waited < seen.lateness.allow(20_000), `in seconds: ${Math.round(seen.waited)} ms`)
  t.equal(seen.others, true, "and the statements after it are answered")
  t.ok(seen.whole - seen.waited < seen.lateness.allow(2000), `at once: ${Math.round(seen.whole - seen.waited)} ms`)
})

t.test("given a transaction that has locked a row, when its connection goes silent, then the row is free", async (t) => {
  const free = await given(t, (sql, proxy) =>
    Effect.gen(function* () {
      yield* sql`CREATE TABLE locked AS SELECT 1 AS id`
      const held = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`UPDATE locked SET id = 2`
          proxy.freeze()
          yield* sql`SELECT 1`
        })
      )
      yield* Effect.exit(held)
      return yield* Effect.exit(sql`UPDATE locked SET id = 3 RETURNING id`)
    })
  )
  t.ok(Exit.isSuccess(free))
})

t.test("given a slow statement, when the server is working on it, then it is left alone", async (t) => {
  const slow = await given(t, (sql) => Effect.exit(sql`SELECT count(*) FROM generate_series(1, 6) AS second, pg_sleep(1)`))
  t.ok(Exit.isSuccess(slow), "six seconds of sleep at the server")
})
