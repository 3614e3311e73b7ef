/** Attempts that a database has lost are written again, and no others. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { type DialedContact, lostOf, pauseRestored, rewrite, stopAgain } from "#core/call/LostAttempts.ts"
import { type CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { installClaims, numbersOf, type Running } from "./claims.ts"

const { claim, config, ended, run, running } = await installClaims(t)
const newId = () => newCallId(Date.now())
const ids = (count: number) => Array.from({ length: count }, newId)

const withSql = <A, E, R>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E, R>) => Effect.flatMap(SqlClient.SqlClient, use)
const contactOf = ({ id }: Running, rowNo: number): DialedContact => ({ campaignId: id, rowNo, telephonyConfigurationId: config.id })
const again = (contact: DialedContact, callId: CallId, isOver = false) =>
  withSql((sql) => rewrite(sql, { ...contact, callId, isOver, journal: undefined, node: "here" }))

/** What the database has about a contact's attempts, without the times, which differ. */
const leftOf = ({ id }: Running) =>
  withSql((sql) =>
    Effect.all({
      attempts: sql`SELECT id, row_no, number, state, node, phone_number, holds_number, telephony_configuration_id, dial_epoch, breaker_epoch,
        caller_number, sent_at IS NOT NULL AS is_sent FROM attempts WHERE campaign_id = ${id} ORDER BY row_no, number`,
      contacts: sql`SELECT row_no, state, retries_used, awaits_number FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`,
      counts: sql`SELECT processed_rows, executed_count FROM campaign_dials WHERE campaign_id = ${id}`,
      runs: sql`SELECT attempt_id, agent_id, agent_definition_id, name, mode, initial_context FROM runs WHERE campaign_id = ${id} ORDER BY attempt_id`
    })
  )

/** Undoes everything that a claim has written, as on a standby that has not received it. */
const lose = ({ id }: Running) =>
  withSql((sql) =>
    Effect.all([
      sql`DELETE FROM runs WHERE campaign_id = ${id}`,
      sql`DELETE FROM attempts WHERE campaign_id = ${id}`,
      sql`UPDATE contacts SET state = 'pending' WHERE campaign_id = ${id}`,
      sql`DELETE FROM campaign_dials WHERE campaign_id = ${id}`
    ])
  )

t.test("given attempts that were lost, when they are written again, then everything is as before", async (t) => {
  const [before, lost, outcomes, after] = await run(
    Effect.gen(function* () {
      const campaign = yield* running(numbersOf(3))
      const callIds = ids(3)
      yield* claim(campaign, callIds)
      const before = yield* leftOf(campaign)
      yield* lose(campaign)
      const lost = yield* withSql((sql) => lostOf(sql, callIds))
      const outcomes = yield* Effect.forEach(callIds, (callId, place) => again(contactOf(campaign, place + 2), callId))
      const repeated = yield* again(contactOf(campaign, 2), callIds[0] ?? newId())
      return [before, lost, [...outcomes, repeated], yield* leftOf(campaign)] as const
    })
  )
  t.equal(lost.length, 3)
  t.strictSame(outcomes, ["Written", "Written", "Written", "Taken"], "and no attempt is written twice")
  t.strictSame(after, before)
})

t.test("given a contact that has another attempt, then that is kept, and the contact is written when it is over", async (t) => {
  const seen = await run(
    Effect.gen(function* () {
      const campaign = yield* running(numbersOf(1, "+1416"))
      const other = newId()
      yield* claim(campaign, [other])
      const lost = newId()
      const before = yield* again(contactOf(campaign, 2), lost)
      yield* withSql((sql) => sql`UPDATE attempts SET state = 'void', holds_number = false WHERE id = ${other}::uuid`)
      yield* withSql((sql) => sql`UPDATE contacts SET state = 'pending' WHERE campaign_id = ${campaign.id}`)
      return [before, yield* again(contactOf(campaign, 2), lost)]
    })
  )
  t.strictSame(seen, ["Taken", "Written"])
})

t.test("given a number that an attempt holds in another list", async (t) => {
  const scene = (prefix: string) =>
    Effect.gen(function* () {
      const [first, second] = [yield* running(numbersOf(1, prefix)), yield* running(numbersOf(1, prefix))]
      const [before, holder, after] = [newCallId(Date.now() - 1000), newId(), newCallId(Date.now() + 1000)]
      yield* claim(first, [holder])
      const holders = withSql(
        (sql) => sql<{ readonly id: CallId }>`SELECT id FROM attempts WHERE phone_number LIKE ${`${prefix}%`} AND holds_number`
      )
      return { after, before, contact: contactOf(second, 2), holder, holders: Effect.map(holders, (rows) => rows.map(({ id }) => id)) }
    })

  t.test("when a call that started later was lost, then the attempt is over, and the later call holds the number", async (t) => {
    const [outcome, holders, after] = await run(
      Effect.gen(function* () {
        const { after, contact, holders } = yield* scene("+1421")
        return [yield* again(contact, after), yield* holders, after] as const
      })
    )
    t.strictSame([outcome, holders], ["Written", [after]])
  })
  t.test("when a call that is over was lost, then it is written, and the number stays as it is", async (t) => {
    const [outcome, holders, holder] = await run(
      Effect.gen(function* () {
        const { after, contact, holder, holders } = yield* scene("+1422")
        return [yield* again(contact, after, true), yield* holders, holder] as const
      })
    )
    t.strictSame([outcome, holders], ["Written", [holder]])
  })
  t.test("when a call that began earlier was lost, then it waits", async (t) => {
    const [outcome, holders, holder] = await run(
      Effect.gen(function* () {
        const { before, contact, holder, holders } = yield* scene("+1423")
        return [yield* again(contact, before), yield* holders, holder] as const
      })
    )
    t.strictSame([outcome, holders], ["Taken", [holder]])
  })
})

t.test("given a contact that is done, or does not exist, then nothing is written", async (t) => {
  const seen = await run(
    Effect.gen(function* () {
      const campaign = yield* running(numbersOf(2, "+1417"))
      const [callId = newId()] = ids(1)
      yield* claim(campaign, [callId])
      yield* ended(callId)
      return yield* Effect.all([
        again(contactOf(campaign, 2), newId()),
        again(contactOf(campaign, 9), newId()),
        again({ ...contactOf(campaign, 3), campaignId: CampaignId.make(999_999) }, newId()),
        again({ ...contactOf(campaign, 3), telephonyConfigurationId: TelephonyConfigId.make(999_999) }, newId()),
        // A contact of a campaign that was lost, and whose id another campaign has now.
        again(contactOf(campaign, 3), newCallId(Date.now() - 120_000)),
        withSql((sql) => lostOf(sql, [callId]))
      ])
    })
  )
  t.strictSame(seen, ["Gone", "Gone", "Gone", "Gone", "Gone", []])
})

t.test("given campaigns that run, when the database is a copy, then each is paused once, with an entry in its log", async (t) => {
  const [paused, stopped, entries] = await run(
    Effect.gen(function* () {
      const campaign = yield* running(numbersOf(1, "+1418"))
      const paused = yield* withSql(pauseRestored)
      const stopped = [paused > 0, yield* withSql(pauseRestored), yield* withSql((sql) => stopAgain(sql, campaign.id))]
      const entries = yield* withSql(
        (sql) => sql`SELECT level, event FROM campaign_log WHERE campaign_id = ${campaign.id} ORDER BY id DESC LIMIT 1`
      )
      const [row] = yield* withSql(
        (sql) => sql`SELECT state, dial_epoch > ${campaign.dialEpoch} AS "isFenced" FROM campaigns WHERE id = ${campaign.id}`
      )
      return [row, stopped, entries] as const
    })
  )
  t.match(paused, { state: "paused", isFenced: true })
  t.strictSame(stopped, [true, 0, false])
  t.strictSame(entries, [{ level: "warning", event: "database_restored" }])
})

t.test("given a database on another timeline than the engine knows, then nothing is claimed there", async (t) => {
  const seen = await run(
    Effect.gen(function* () {
      const campaign = yield* running(numbersOf(2, "+1419"))
      const [row] = yield* withSql(
        (sql) => sql<{ readonly timeline: string }>`SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline`
      )
      const ask = (timeline: string | undefined) =>
        Effect.map(claim(campaign, [newId()], undefined, timeline), ({ attempts, owned }) => ({ count: attempts.length, owned }))
      return [yield* ask("0000FFFF"), yield* ask(row?.timeline), yield* ask(undefined)]
    })
  )
  t.strictSame(seen, [
    { count: 0, owned: false },
    { count: 1, owned: true },
    { count: 1, owned: true }
  ])
})
