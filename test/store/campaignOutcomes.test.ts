/** A campaign's calls and retries over time. */
import { Clock } from "effect"
import t from "tap"
import { bucketMillis, type BucketSize, bucketSizes, bucketsOf } from "#core/campaign/CampaignOutcomes.ts"
import { outcomes } from "#core/campaign/CampaignOutcomeStore.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import type { CampaignId } from "#core/Id.ts"
import { forAll } from "#test/support/forAll.ts"
import fc from "fast-check"
import { installCounted } from "./blocksRead.ts"
import { numbersOf } from "./claims.ts"
import { ours, tag, theirs } from "./services.ts"

const { blocksRead, config, run, running, sql, test } = await installCounted(t)
const campaigns = await run(Campaigns)
const [minute, hour, day] = [bucketMillis.minute, bucketMillis.hour, bucketMillis.day]
const noon = Date.UTC(2026, 0, 5, 12)

t.test("given the time of a campaign, then its buckets are the smallest that show all of it, and 500 at most", async (t) => {
  const check = (started: number | undefined, expected: object, ended?: number, wanted?: BucketSize) =>
    t.match(bucketsOf({ ended, now: noon + 90_000, started }, wanted), expected)
  check(undefined, { current: noon + minute, since: noon + minute, size: "minute", until: noon + 102 * minute })
  check(noon - 300 * minute, { since: noon - 300 * minute, size: "minute" })
  check(noon - 400 * minute, { current: noon, since: noon - 7 * hour, size: "hour", until: noon + 101 * hour })
  check(noon - 20 * day, { since: noon - 20.5 * day, size: "day" })
  check(noon - 20 * day, { since: noon - 398 * minute, size: "minute" }, undefined, "minute")
  check(noon - 20 * day, { size: "minute", since: noon - 20 * day }, noon - 20 * day + 5 * hour)
  check(noon + day, { since: noon + minute, size: "minute" })
  const instants = fc.integer({ max: noon + 1000 * day, min: noon - 1000 * day })
  forAll(
    instants,
    fc.option(instants, { nil: undefined }),
    instants,
    fc.constantFrom(undefined, ...bucketSizes),
    (started, ended, now, wanted) => {
      const { current, since, size, until } = bucketsOf({ ended, now, started }, wanted)
      const last = Math.floor((ended ?? now) / bucketMillis[size]) * bucketMillis[size]
      const number = (last - since) / bucketMillis[size] + 1 + (until - current) / bucketMillis[size] - 1
      return number <= 500 && since <= last && since % bucketMillis[size] === 0 && (wanted === undefined || size === wanted)
    }
  )
})

const insert = (id: CampaignId, count: number, ends: { readonly every: string; readonly from: number }) => sql`
  INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, state, ended_at, outcome)
  SELECT gen_random_uuid(), ${ours}::int, ${id}::int, 2 + n / 3, 1 + n % 3, ${config.id}::int, 'here', CASE n % 4 WHEN 3 THEN 'void' ELSE 'ended' END,
    to_timestamp(${ends.from}::float8 / 1000) + n * ${ends.every}::text::interval, (ARRAY['answered', 'busy', 'busy', NULL])[1 + n % 4]
  FROM generate_series(0, ${count}::int - 1) n`

test(t, "given calls that have ended and retries that wait, when they are counted, then each is in its bucket", function* (t) {
  const campaign = yield* running(numbersOf(9, "+1501"))
  const current = noon - (noon % hour)
  const counted = (size?: BucketSize) => outcomes(sql, ours, campaign.id, { now: noon + 90_000, size })
  yield* sql`UPDATE campaigns SET started_at = to_timestamp(${current - 10 * hour}::float8 / 1000) WHERE id = ${campaign.id}`
  yield* insert(campaign.id, 8, { every: "30 minutes", from: current - 3 * hour })
  const due = [current - 5 * hour, current, current + 3 * hour, current + 3.5 * hour, current + 2000 * hour]
  for (const [row, at] of due.entries())
    yield* sql`UPDATE contacts SET state = 'retry_wait', due_at = to_timestamp(${at}::float8 / 1000) WHERE campaign_id = ${campaign.id} AND row_no = ${row + 2}`
  yield* sql`UPDATE contacts SET state = 'retry_wait', due_at = to_timestamp(${current + 3 * hour}::float8 / 1000), awaits_number = true
    WHERE campaign_id = ${campaign.id} AND row_no = 8`
  const found = yield* counted()
  const byMinute = yield* counted("minute")
  t.match(found, { size: "hour", since: current - 10 * hour })
  t.strictSame(found?.calls, [
    { at: current - 3 * hour, counts: { answered: 1, busy: 1 } },
    { at: current - 2 * hour, counts: { busy: 1 } },
    { at: current - hour, counts: { answered: 1, busy: 1 } },
    { at: current, counts: { busy: 1 } }
  ])
  t.strictSame(found?.retries, { due: 3, ahead: [{ at: current + 3 * hour, retries: 2 }], later: 1 })
  t.match(byMinute?.calls[0], { at: current - 3 * hour, counts: { answered: 1 } })
  t.equal(yield* tag(campaigns.outcomes(theirs, campaign.id)), "CampaignNotFound")
})

test(
  t,
  "given fifty thousand calls, when they are counted, then the table is not read, and the index no further back than is shown",
  function* (t) {
    const campaign = yield* running(numbersOf(17_000, "+1502"))
    const other = yield* running(numbersOf(17_000, "+1503"))
    const now = yield* Clock.currentTimeMillis
    yield* sql`UPDATE campaigns SET started_at = to_timestamp(${now - 30 * hour}::float8 / 1000)`
    for (const { id } of [campaign, other]) yield* insert(id, 50_000, { every: "2 seconds", from: now - 28 * hour })
    yield* sql`VACUUM ANALYZE attempts`.unprepared
    const read = (size: BucketSize) => blocksRead(["attempts"], campaigns.outcomes(ours, campaign.id, size))
    const whole = yield* read("hour")
    const latest = yield* read("minute")
    t.comment(`hours: ${whole.index} blocks of the index, minutes: ${latest.index}`)
    const calls = whole.result.calls.reduce((all, { counts }) => all + (counts.answered ?? 0) + (counts.busy ?? 0), 0)
    t.strictSame([calls, whole.heap, latest.heap], [37_500, 1, 1], "nothing but the map of what is visible")
    t.ok(latest.index < whole.index / 2, `${latest.index} of ${whole.index} blocks`)
  }
)
