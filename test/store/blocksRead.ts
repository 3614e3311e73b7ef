/** What statements read, as Postgres counts it for each table. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Test } from "tap"
import { installClaims } from "./claims.ts"

const tables = ["attempts", "contacts", "opt_outs", "runs"] as const
type Table = (typeof tables)[number]

/**
 * Like `installClaims`, for tests that count blocks. Nothing else is counted with them: there is only one session, because a session may
 * report its activity up to ten seconds later, unless it is told to; and there is no vacuum, which reads whole tables.
 */
export const installCounted = async (t: Test) => {
  const claims = await installClaims(t, 1)
  const { run } = claims
  const quiet = (table: Table) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`ALTER TABLE ${sql(table)} SET (autovacuum_enabled = false)`.unprepared)
  await run(Effect.forEach(tables, quiet, { discard: true }))

  const count = Effect.fnUntraced(function* (counted: ReadonlyArray<Table>) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT pg_stat_force_next_flush()`
    const [row] = yield* sql<{ readonly heap: number; readonly index: number }>`
      SELECT sum(heap_blks_hit + heap_blks_read)::float8 AS heap, sum(idx_blks_hit + idx_blks_read)::float8 AS index
      FROM pg_statio_user_tables WHERE relname IN ${sql.in(counted)}`
    return row ?? { heap: 0, index: 0 }
  })
  /** The blocks of these tables, and of their indexes, that `work` reads. */
  const blocksRead = <A, E, R>(counted: ReadonlyArray<Table>, work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const before = yield* count(counted)
      const result = yield* work
      const after = yield* count(counted)
      return { heap: after.heap - before.heap, index: after.index - before.index, result }
    })
  return { ...claims, blocksRead }
}
