/** Claims start where the last one ended: what they do not read again, and whom they do not miss. */
import { Effect } from "effect"
import t from "tap"
import { witness } from "#test/support/postgres.ts"
import { installCounted } from "./blocksRead.ts"
import { dialed, numbersOf, type Running } from "./claims.ts"
import { endOf } from "./services.ts"

const { blocksRead, claim, claimBehind, database, ended, ids, newId, running, sql, store, test, undone } = await installCounted(t)

const giveBack = Effect.flatMap(store.live, (left) => Effect.forEach(left, ({ callId }) => undone(callId), { discard: true }))
/** Claims and ends calls one after the other. */
const call = Effect.fnUntraced(function* (campaign: Running, count: number) {
  for (let called = 0; called < count; called++) {
    const { attempts } = yield* claim(campaign, ids(1))
    for (const { callId } of attempts) yield* ended(callId)
  }
})
/** Lets the contact wait for a retry that has been due for that many seconds. */
const retryDue = ({ id }: Running, row: number, seconds: number) =>
  sql`UPDATE contacts SET state = 'retry_wait', retries_used = 1, retry_reason = 'busy',
      due_at = now() - ${seconds}::int * interval '1 second' WHERE campaign_id = ${id} AND row_no = ${row}`

test(t, "given hundreds of calls since a long transaction started, then a claim does not read past their contacts", function* (t) {
  const reader = witness(database.url)
  t.teardown(() => reader.end())
  const campaign = yield* running(numbersOf(1000, "+1401"))
  yield* sql`VACUUM ANALYZE`.unprepared
  const held = yield* Effect.promise(() => reader.reserve())
  yield* Effect.promise(() => held`BEGIN ISOLATION LEVEL REPEATABLE READ`)
  yield* Effect.promise(() => held`SELECT count(*) FROM campaigns`)
  yield* call(campaign, 600)
  const { heap } = yield* blocksRead(
    ["contacts"],
    Effect.replicateEffect(
      Effect.suspend(() => claim(campaign, ids(1))),
      20
    )
  )
  yield* Effect.promise(() => held`ROLLBACK`)
  held.release()
  yield* giveBack
  const blocks = heap
  t.ok(blocks < 15 * 20, `${blocks} blocks for twenty claims`)
})

test(t, "given claims in the order of the list, when a contact is given back, then it is the next one", function* (t) {
  const numbers = numbersOf(6, "+1402")
  const campaign = yield* running(numbers)
  const returned = newId()
  yield* claim(campaign, [returned])
  yield* claim(campaign, ids(2))
  yield* undone(returned)
  const claimed = dialed(yield* claim(campaign, ids(2)))
  yield* giveBack
  t.strictSame(claimed, [numbers[0], numbers[3]])
})

test(t, "given retries in the order in which they are due, when one is given back, then it is the next one", function* (t) {
  const numbers = numbersOf(5, "+1403")
  const campaign = yield* running(numbers)
  for (const row of [2, 3, 4, 5]) yield* retryDue(campaign, row, 100 - row)
  const returned = newId()
  yield* claim(campaign, [returned])
  yield* claim(campaign, ids(1))
  yield* undone(returned)
  const claimed = dialed(yield* claim(campaign, ids(3)))
  yield* giveBack
  t.strictSame(claimed, [numbers[0], numbers[2], numbers[3]])
})

test(t, "given retries that are due at the same moment, then each is claimed in its turn", function* (t) {
  const numbers = numbersOf(4, "+1404")
  const campaign = yield* running(numbers)
  for (const row of [2, 3, 4, 5]) yield* retryDue(campaign, row, 0)
  yield* sql`UPDATE contacts SET due_at = '2026-01-01T00:00:00.123457Z' WHERE campaign_id = ${campaign.id}`
  const claims = yield* Effect.forEach([1, 2, 3, 4], () => Effect.map(claim(campaign, ids(1)), dialed))
  yield* giveBack
  t.strictSame(claims.flat(), numbers)
})

test(t, "given a contact that is given back as the last one, then those behind it come first, and it is not forgotten", function* (t) {
  const numbers = numbersOf(4, "+1408")
  const campaign = yield* running(numbers)
  const returned = newId()
  yield* claim(campaign, [returned])
  yield* undone(returned, true)
  const claimed = [yield* claim(campaign, ids(3)), yield* claimBehind(campaign, ids(1))]
  yield* giveBack
  t.strictSame(claimed.map(dialed), [numbers.slice(1), numbers.slice(0, 1)])
})

test(t, "given a number that was in a call, when that call ends, then its contact is the next one", function* (t) {
  const numbers = numbersOf(6, "+1405")
  const other = yield* running(numbers.slice(0, 1))
  const holding = newId()
  yield* claim(other, [holding])
  const campaign = yield* running(numbers)
  yield* claim(campaign, ids(1))
  yield* claim(campaign, ids(2))
  yield* ended(holding)
  const claimed = dialed(yield* claim(campaign, ids(2)))
  yield* giveBack
  t.strictSame(claimed, [numbers[0], numbers[3]])
})

test(t, "given a contact that becomes pending again without notice, when there is no other, then it is found", function* (t) {
  const numbers = numbersOf(3, "+1406")
  const campaign = yield* running(numbers)
  yield* call(campaign, 2)
  yield* sql`UPDATE contacts SET state = 'pending' WHERE campaign_id = ${campaign.id} AND row_no = 2`
  const [behind, last] = [yield* claim(campaign, ids(2)), yield* claim(campaign, ids(2))]
  const none = yield* claim(campaign, ids(2))
  yield* giveBack
  const found = { behind: dialed(behind), last: dialed(last), more: [behind.more, last.more, none.more] }
  t.strictSame(found, { behind: [numbers[2]], last: [numbers[0]], more: [true, false, false] })
})

test(t, "given a campaign whose permits were withdrawn, then a claim under them finds nothing, nor is there more to claim", function* (t) {
  const campaign = yield* running(numbersOf(3, "+1407"))
  yield* claim(campaign, ids(1))
  const refused = yield* claim({ ...campaign, dialEpoch: campaign.dialEpoch - 1 }, ids(1))
  yield* giveBack
  t.match(refused, { attempts: [], more: false, owned: false })
})

test(t, "given a retry that is recorded after it fell due, then it is the next one", function* (t) {
  const numbers = numbersOf(6, "+1409")
  const campaign = yield* running(numbers)
  const [first = newId(), second = newId()] = ids(2)
  yield* claim(campaign, [first])
  yield* claim(campaign, [second])
  const dueAt = Date.now() - 20_000
  const end = endOf({ cause: "user_busy", endedAt: dueAt - 30_000, outcome: "busy" })
  const decided = { fate: { dueAt, reason: "busy", state: "retry_wait" }, settingsVersion: 0 } as const
  yield* store.finish([{ callId: first, decided, end }])
  const next = yield* claim(campaign, [newId()])
  yield* giveBack
  t.strictSame(dialed(next), numbers.slice(0, 1))
})
