/** Attempts that a database has lost are written again, and no others. */
import { Effect } from "effect"
import t from "tap"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { type DialedContact, lostOf, pauseRestored, rewrite, stopAgain } from "#core/call/LostAttempts.ts"
import { type CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { installClaims, numbersOf, type Running } from "./claims.ts"

const { claim, config, ended, running, sql, test } = await installClaims(t)
const newId = () => newCallId(Date.now())
const ids = (count: number) => Array.from({ length: count }, newId)

const contactOf = ({ id }: Running, rowNo: number): DialedContact => ({ campaignId: id, rowNo, telephonyConfigurationId: config.id })
const again = (contact: DialedContact, callId: CallId, isOver = false) =>
  rewrite(sql, { ...contact, callId, isOver, journal: undefined, node: "here" })

/** What the database has about a contact's attempts, without the times, which differ. */
const leftOf = ({ id }: Running) =>
  Effect.all({
    attempts: sql`SELECT id, row_no, number, state, node, phone_number, holds_number, telephony_configuration_id, dial_epoch, breaker_epoch,
        caller_number, sent_at IS NOT NULL AS is_sent FROM attempts WHERE campaign_id = ${id} ORDER BY row_no, number`,
    contacts: sql`SELECT row_no, state, retries_used, awaits_number FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`,
    counts: sql`SELECT processed_rows, executed_count FROM campaign_dials WHERE campaign_id = ${id}`,
    runs: sql`SELECT attempt_id, agent_id, agent_definition_id, name, mode, initial_context FROM runs WHERE campaign_id = ${id} ORDER BY attempt_id`
  })

/** Undoes everything that a claim has written, as on a standby that has not received it. */
const lose = ({ id }: Running) =>
  Effect.all([
    sql`DELETE FROM runs WHERE campaign_id = ${id}`,
    sql`DELETE FROM attempts WHERE campaign_id = ${id}`,
    sql`UPDATE contacts SET state = 'pending' WHERE campaign_id = ${id}`,
    sql`DELETE FROM campaign_dials WHERE campaign_id = ${id}`
  ])

test(t, "given attempts that were lost, when they are written again, then everything is as before", function* (t) {
  const campaign = yield* running(numbersOf(3))
  const callIds = ids(3)
  yield* claim(campaign, callIds)
  const before = yield* leftOf(campaign)
  yield* lose(campaign)
  const lost = yield* lostOf(sql, callIds)
  const outcomes = yield* Effect.forEach(callIds, (callId, place) => again(contactOf(campaign, place + 2), callId))
  const repeated = yield* again(contactOf(campaign, 2), callIds[0] ?? newId())
  t.equal(lost.length, 3)
  t.strictSame([...outcomes, repeated], ["Written", "Written", "Written", "Taken"], "and no attempt is written twice")
  t.strictSame(yield* leftOf(campaign), before)
})

test(t, "given a contact that has another attempt, then that is kept, and the contact is written when it is over", function* (t) {
  const campaign = yield* running(numbersOf(1, "+1416"))
  const other = newId()
  yield* claim(campaign, [other])
  const lost = newId()
  t.equal(yield* again(contactOf(campaign, 2), lost), "Taken")
  yield* sql`UPDATE attempts SET state = 'void', holds_number = false WHERE id = ${other}::uuid`
  yield* sql`UPDATE contacts SET state = 'pending' WHERE campaign_id = ${campaign.id}`
  t.equal(yield* again(contactOf(campaign, 2), lost), "Written")
})

t.test("given a number that an attempt holds in another list", async (t) => {
  const scene = Effect.fnUntraced(function* (prefix: string) {
    const [first, second] = [yield* running(numbersOf(1, prefix)), yield* running(numbersOf(1, prefix))]
    const [before, holder, after] = [newCallId(Date.now() - 1000), newId(), newCallId(Date.now() + 1000)]
    yield* claim(first, [holder])
    const held = sql<{ readonly id: CallId }>`SELECT id FROM attempts WHERE phone_number LIKE ${`${prefix}%`} AND holds_number`
    const holders = Effect.map(held, (rows) => rows.map(({ id }) => id))
    return { after, before, contact: contactOf(second, 2), holder, holders }
  })

  test(t, "when a call that started later was lost, then the attempt is over, and the later call holds the number", function* (t) {
    const { after, contact, holders } = yield* scene("+1421")
    t.equal(yield* again(contact, after), "Written")
    t.strictSame(yield* holders, [after])
  })
  test(t, "when a call that is over was lost, then it is written, and the number stays as it is", function* (t) {
    const { after, contact, holder, holders } = yield* scene("+1422")
    t.equal(yield* again(contact, after, true), "Written")
    t.strictSame(yield* holders, [holder])
  })
  test(t, "when a call that began earlier was lost, then it waits", function* (t) {
    const { before, contact, holder, holders } = yield* scene("+1423")
    t.equal(yield* again(contact, before), "Taken")
    t.strictSame(yield* holders, [holder])
  })
})

test(t, "given a contact that is done, or does not exist, then nothing is written", function* (t) {
  const campaign = yield* running(numbersOf(2, "+1417"))
  const [callId = newId()] = ids(1)
  yield* claim(campaign, [callId])
  yield* ended(callId)
  const seen = yield* Effect.all([
    again(contactOf(campaign, 2), newId()),
    again(contactOf(campaign, 9), newId()),
    again({ ...contactOf(campaign, 3), campaignId: CampaignId.make(999_999) }, newId()),
    again({ ...contactOf(campaign, 3), telephonyConfigurationId: TelephonyConfigId.make(999_999) }, newId()),
    // A contact of a campaign that was lost, and whose id another campaign has now.
    again(contactOf(campaign, 3), newCallId(Date.now() - 120_000)),
    lostOf(sql, [callId])
  ])
  t.strictSame(seen, ["Gone", "Gone", "Gone", "Gone", "Gone", []])
})

test(t, "given campaigns that when the database is a copy, then each is paused once, with an entry in its log", function* (t) {
  const campaign = yield* running(numbersOf(1, "+1418"))
  t.ok((yield* pauseRestored(sql)) > 0)
  t.equal(yield* pauseRestored(sql), 0)
  t.equal(yield* stopAgain(sql, campaign.id), false)
  const entries = yield* sql`SELECT level, event FROM campaign_log WHERE campaign_id = ${campaign.id} ORDER BY id DESC LIMIT 1`
  const [row] = yield* sql`SELECT state, dial_epoch > ${campaign.dialEpoch} AS "isFenced" FROM campaigns WHERE id = ${campaign.id}`
  t.match(row, { state: "paused", isFenced: true })
  t.strictSame(entries, [{ level: "warning", event: "database_restored" }])
})

test(t, "given a database on another timeline than the engine knows, then nothing is claimed there", function* (t) {
  const campaign = yield* running(numbersOf(2, "+1419"))
  const [row] = yield* sql<{ readonly timeline: string }>`SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline`
  const ask = (timeline: string | undefined) =>
    Effect.map(claim(campaign, [newId()], undefined, timeline), ({ attempts, owned }) => ({ count: attempts.length, owned }))
  t.strictSame(
    [yield* ask("0000FFFF"), yield* ask(row?.timeline), yield* ask(undefined)],
    [
      { count: 0, owned: false },
      { count: 1, owned: true },
      { count: 1, owned: true }
    ]
  )
})
