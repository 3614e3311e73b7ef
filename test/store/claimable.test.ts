/** What a claim takes, and contacts that none may take: their campaign is not the claimer's to dial, or their retry is not due yet. */
import { Effect } from "effect"
import t from "tap"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { dialed, installClaims, numbersOf, type Running } from "./claims.ts"
import { column, journal, ours } from "./services.ts"

const { claim, ids, running, sql, store, test, undone } = await installClaims(t)

const epochsOf = ({ id }: Running) =>
  sql<{ readonly dialEpoch: number; readonly ownerEpoch: number }>`SELECT dial_epoch, owner_epoch FROM campaigns WHERE id = ${id}`.pipe(
    Effect.map(([row]) => row ?? { dialEpoch: 0, ownerEpoch: 0 })
  )
const statesOf = ({ id }: Running) =>
  sql<{ readonly state: string }>`SELECT state FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`.pipe(
    Effect.map((rows) => rows.map(({ state }) => state))
  )

test(t, "given contacts that are claimed, then their attempts are marked as sent in the same statement, and not again", function* (t) {
  const campaign = yield* running(numbersOf(3, "+1700"))
  const callIds = ids(2)
  const { attempts } = yield* claim(campaign, callIds)
  t.strictSame(column(attempts, "rowNo"), [2, 3])
  const rows = yield* sql<{ readonly sentAt: Date }>`
    SELECT row_no, state, sent_at FROM attempts WHERE campaign_id = ${campaign.id} ORDER BY row_no`
  const sentAt = rows[0]?.sentAt ?? new Date(0)
  t.ok(Math.abs(Date.now() - sentAt.getTime()) < 60_000)
  t.strictSame(rows, [
    { rowNo: 2, sentAt, state: "sent" },
    { rowNo: 3, sentAt, state: "sent" }
  ])
  t.match(yield* store.live, [{ journal, node: "here", sentAt: sentAt.getTime(), state: "sent" }, { state: "sent" }])
  for (const callId of callIds) {
    t.equal(yield* store.sent(callId, 0), false)
    yield* undone(callId)
  }
})

test(t, "given a campaign that another owner has taken over", function* (t) {
  const campaign = yield* running(numbersOf(2, "+1701"))
  yield* sql`UPDATE campaigns SET owner_epoch = owner_epoch + 1 WHERE id = ${campaign.id}`
  const earlier = yield* claim(campaign, ids(2))
  const states = yield* statesOf(campaign)
  const later = yield* claim({ ...campaign, ...(yield* epochsOf(campaign)) }, ids(2))
  for (const { callId } of later.attempts) yield* undone(callId)
  t.match(earlier, { attempts: [], more: false, owned: false }, "then the earlier owner claims nothing")
  t.strictSame(states, ["pending", "pending"], "and its contacts are as they were")
  t.strictSame(dialed(later), numbersOf(2, "+1701"), "and the later owner claims them")
})

test(t, "given a campaign that is paused, then nothing is claimed, not even under the permits that hold since then", function* (t) {
  const campaign = yield* running(numbersOf(2, "+1702"))
  yield* Campaigns.use((_) => _.pause(ours, campaign.id))
  t.match(yield* claim({ ...campaign, ...(yield* epochsOf(campaign)) }, ids(2)), { attempts: [], more: false, owned: false })
  t.strictSame(yield* statesOf(campaign), ["pending", "pending"])
})

test(
  t,
  "given two retries, one of which is not due yet, then the other is claimed, and the claim says when the first is due",
  function* (t) {
    const numbers = numbersOf(2, "+1703")
    const dueAt = Date.UTC(2030, 0, 1)
    const campaign = yield* running(numbers)
    yield* sql`UPDATE contacts SET state = 'retry_wait', retries_used = 1, retry_reason = 'busy',
        due_at = CASE WHEN phone_number = ${numbers[0] ?? ""} THEN to_timestamp(${dueAt}::float8 / 1000) ELSE now() - interval '1 second' END
        WHERE campaign_id = ${campaign.id}`
    const claimed = yield* claim(campaign, ids(2))
    const states = yield* statesOf(campaign)
    for (const { callId } of claimed.attempts) yield* undone(callId)
    t.strictSame(dialed(claimed), numbers.slice(1))
    t.strictSame(states, ["retry_wait", "dialing"])
    t.equal(claimed.nextDueAt, dueAt)
  }
)
