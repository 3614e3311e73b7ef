/** What the steps of a call read: neither all calls that are up, nor, in a claim, all contacts that wait for their numbers. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import type { Claimed } from "#core/call/AttemptBeginning.ts"
import { installClaims, numbersOf } from "./claims.ts"
import { ours } from "./services.ts"

const { claim, config, ended, ids, run, running, undone, withStore } = await installClaims(t)

t.test(
  "given a campaign that is the first of its engine, when hundreds of its calls are up and it claims the next contact, then it does not read through them",
  async (t) => {
    const blocks = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const campaign = yield* running(numbersOf(600, "+1208"))
        const touched = Effect.gen(function* () {
          yield* sql`SELECT pg_stat_force_next_flush()`
          const [row] = yield* sql<{ readonly blocks: number }>`
          SELECT (heap_blks_hit + heap_blks_read)::float8 AS blocks FROM pg_statio_user_tables WHERE relname = 'attempts'`
          return row?.blocks ?? 0
        })
        // The planner goes by what it sees now, and may keep that plan for long.
        yield* sql`VACUUM ANALYZE`.unprepared
        yield* claim(campaign, ids(1))
        for (let i = 0; i < 8; i++) yield* claim(campaign, ids(50))
        const before = yield* touched
        for (let i = 0; i < 20; i++) yield* claim(campaign, ids(1))
        const after = yield* touched
        for (const { callId } of yield* withStore((store) => store.live)) yield* undone(callId)
        return after - before
      })
    )
    t.ok(blocks < 20 * 20, `${blocks} blocks for twenty claims`)
  }
)

t.test(
  "given thousands of calls that are over and hundreds that are up, when calls are answered and end, then nothing reads through them",
  async (t) => {
    const steps = 20
    const blocks = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO attempts (id, organization_id, telephony_configuration_id, node, state, ended_at)
        SELECT gen_random_uuid(), ${ours}::int, ${config.id}::int, 'there', 'ended', now() FROM generate_series(1, 5000)`
        const campaign = yield* running(numbersOf(600, "+1210"))
        // While none of its calls is up: the planner takes live calls for rare.
        yield* sql`VACUUM ANALYZE attempts, contacts`.unprepared
        for (let i = 0; i < 12; i++) yield* claim(campaign, ids(50))
        const touched = Effect.gen(function* () {
          yield* sql`SELECT pg_stat_force_next_flush()`
          const [row] = yield* sql<{ readonly blocks: number }>`
          SELECT (heap_blks_hit + heap_blks_read)::float8 AS blocks FROM pg_statio_user_tables WHERE relname = 'attempts'`
          return row?.blocks ?? 0
        })
        const live = (yield* withStore((store) => store.live)).map(({ callId }) => callId)
        const before = yield* touched
        for (const callId of live.slice(0, steps)) {
          yield* withStore((store) => store.answered([{ callId, answeredAt: Date.now(), endpoint: undefined }]))
          yield* ended(callId)
        }
        const after = yield* touched
        for (const callId of live.slice(steps)) yield* undone(callId)
        return after - before
      })
    )
    t.ok(blocks < 30 * steps, `${blocks} blocks for ${steps} calls`)
  }
)

t.test(
  "given tens of thousands of numbers that have opted out since the first claim, then a claim does not read through them",
  async (t) => {
    const claims = 20
    const blocks = await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const campaign = yield* running(numbersOf(600, "+1209"))
        const touched = Effect.gen(function* () {
          yield* sql`SELECT pg_stat_force_next_flush()`
          const [row] = yield* sql<{ readonly blocks: number }>`
          SELECT (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 AS blocks
          FROM pg_statio_user_tables WHERE relname = 'opt_outs'`
          return row?.blocks ?? 0
        })
        // The planner goes by what it sees now, and may keep that plan for long.
        yield* sql`VACUUM ANALYZE`.unprepared
        for (let i = 0; i < claims; i++) yield* claim(campaign, ids(1))
        yield* sql`INSERT INTO opt_outs (organization_id, phone_number, source)
        SELECT ${ours}::int, '+49' || (10000000 + n), 'api' FROM generate_series(1, 50000) AS n`
        const before = yield* touched
        for (let i = 0; i < claims; i++) yield* claim(campaign, ids(1))
        const after = yield* touched
        for (const { callId } of yield* withStore((store) => store.live)) yield* undone(callId)
        return after - before
      })
    )
    t.ok(blocks <= 5 * claims, `${blocks} blocks for ${claims} claims`)
  }
)

t.test("given ten thousand contacts whose numbers are all in calls of another campaign", async (t) => {
  const contacts = 10_000
  const numbers = numbersOf(contacts, "+1205")
  const { blocks, claims, dialable } = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const other = yield* running(numbers)
      yield* sql`INSERT INTO attempts (id, organization_id, campaign_id, row_no, telephony_configuration_id, node, state, phone_number, holds_number)
        SELECT gen_random_uuid(), ${ours}::int, campaign_id, row_no, ${config.id}::int, 'there', 'sent', phone_number, true
        FROM contacts WHERE campaign_id = ${other.id}`
      yield* sql`UPDATE contacts SET state = 'dialing' WHERE campaign_id = ${other.id}`
      const campaign = yield* running([...numbers, ...numbersOf(100, "+1206")])
      yield* sql`ANALYZE`
      // A vacuum that comes by would be counted as well, and on a busy machine it stays for long.
      yield* sql`ALTER TABLE contacts SET (autovacuum_enabled = false)`
      const touched = sql<{ readonly blocks: number }>`
        SELECT (heap_blks_hit + idx_blks_hit + heap_blks_read + idx_blks_read)::float8 AS blocks FROM pg_statio_user_tables WHERE relname = 'contacts'`
      const measured = Effect.fnUntraced(function* () {
        yield* sql`SELECT pg_stat_force_next_flush()`
        const [before] = yield* touched
        const claimed = yield* claim(campaign, ids(1))
        yield* sql`SELECT pg_stat_force_next_flush()`
        const [after] = yield* touched
        return { blocks: (after?.blocks ?? 0) - (before?.blocks ?? 0), claimed }
      })
      let claims = 0
      let dialable: Claimed["attempts"] = []
      const blocks: Array<number> = []
      while (dialable.length < 1 && claims < 1000) {
        claims++
        const { blocks: touchedNow, claimed } = yield* measured()
        blocks.push(touchedNow)
        dialable = claimed.attempts
      }
      for (let i = 0; i < 20; i++) blocks.push((yield* measured()).blocks)
      return { blocks, claims, dialable }
    })
  )
  t.comment({ claims, first: blocks.slice(0, 3), last: blocks.slice(-20) })
  t.ok(claims <= 60, `${claims} claims passed over all of them`)
  t.match(dialable, [{ phoneNumber: /^\+1206/ }], "the ones behind them are dialed")
  t.ok(Math.max(...blocks) < 10_000, "no claim reads them all")
  // Their dead entries in the index, some two hundred blocks, stay for as long as any transaction of the server is older than they are.
  t.ok(Math.max(...blocks.slice(-20)) < 1000, "and none looks at them again")
})
