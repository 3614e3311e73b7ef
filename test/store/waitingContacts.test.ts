/** What contacts wait for, as the database knows it, and how they are found by a part of their number. */
import { Clock, Effect } from "effect"
import t from "tap"
import { standing } from "#core/campaign/StandingStore.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { installCounted } from "./blocksRead.ts"
import { numbersOf } from "./claims.ts"
import { column, ours, theirs } from "./services.ts"

const { begin, blocksRead, claim, config, ended, ids, newId, run, running, sql, test } = await installCounted(t)
const everybody = {
  after: undefined,
  limit: 1000,
  number: undefined,
  outcome: undefined,
  reached: undefined,
  state: undefined,
  stopReason: undefined
}
const campaigns = await run(Campaigns)

test(t, "given a running campaign, when its limits are reached one after the other, then its contacts wait for a slot", function* (t) {
  const campaign = yield* running(numbersOf(4, "+1401"))
  const reasons = Effect.map(campaigns.contacts(ours, campaign.id, everybody), (contacts) => contacts.map(({ waiting }) => waiting?.reason))
  const set = (limits: {
    readonly campaign?: number
    readonly organization?: number
    readonly reserve?: number
    readonly trunk?: number
  }) =>
    Effect.andThen(
      sql`UPDATE campaigns SET max_concurrency = ${limits.campaign ?? null}::int WHERE id = ${campaign.id}`,
      Effect.andThen(
        sql`UPDATE organizations SET concurrency_limit = ${limits.organization ?? 10}::int, concurrency_reserve = ${limits.reserve ?? 0}::int WHERE id = ${ours}`,
        sql`UPDATE telephony_configurations SET max_concurrent_calls = ${limits.trunk ?? null}::int WHERE id = ${config.id}`
      )
    )
  const free = yield* reasons
  const calls = ids(2)
  yield* claim(campaign, calls)
  yield* begin("+14155559999")
  const seen: Array<unknown> = []
  for (const limits of [
    { campaign: 3 },
    { campaign: 2 },
    { organization: 4 },
    { organization: 3 },
    { organization: 10, reserve: 7 },
    { organization: 10, reserve: 8 },
    { trunk: 4 },
    { trunk: 3 }
  ]) {
    yield* set(limits)
    seen.push((yield* reasons).slice(1).join(" "))
  }
  yield* set({})
  for (const callId of calls) yield* ended(callId)
  t.strictSame(free, ["turn", "turn", "turn", "turn"])
  const [turn, slot] = [" turn turn", " slot slot"]
  t.strictSame(seen, [turn, slot, turn, slot, turn, slot, turn, slot])
})

test(t, "given a trunk that is down, when it comes back, then contacts waited for it until then", function* (t) {
  const campaign = yield* running(numbersOf(1, "+1402"))
  const outages = yield* TrunkOutages
  const now = yield* Clock.currentTimeMillis
  const reason = Effect.map(campaigns.contacts(ours, campaign.id, everybody), ([contact]) => contact?.waiting?.reason)
  yield* outages.began({ id: config.id, endpoint: "one" }, now, undefined, [])
  const before = yield* reason
  yield* outages.began({ id: config.id, endpoint: "" }, now, undefined, [])
  const during = yield* reason
  yield* outages.ended({ id: config.id, endpoint: "" }, now + 1000)
  t.strictSame([before, during, yield* reason], ["turn", "trunk_down", "turn"])
})

test(t, "given a closed window, a number in another call, and a pause, then each is what its contacts wait for", function* (t) {
  const [number = ""] = numbersOf(1, "+1403")
  const campaign = yield* running([number])
  const waiting = Effect.map(campaigns.contacts(ours, campaign.id, everybody), ([contact]) => contact?.waiting)
  const callId = newId()
  yield* begin(number, callId)
  yield* claim(campaign, ids(1))
  const held = yield* waiting
  const schedule = { enabled: true, slots: [{ dayOfWeek: 9, endTime: "10:00", startTime: "09:00" }], timezone: "UTC" }
  yield* sql`UPDATE campaigns SET schedule_config = ${JSON.stringify(schedule)}::text::jsonb WHERE id = ${campaign.id}`
  const shut = yield* waiting
  yield* campaigns.pause(ours, campaign.id)
  const paused = yield* waiting
  const foreign = yield* standing(sql, theirs, campaign.id, 0)
  t.strictSame(
    [held?.reason, shut, paused?.reason, foreign],
    ["number_in_call", { reason: "window", windowOpensAt: undefined }, "campaign_not_running", undefined]
  )
})

test(
  t,
  "given a hundred thousand contacts, when a part of a number is looked for, then at most the campaign's own are read",
  function* (t) {
    const other = yield* running(numbersOf(100_000, "+1404"))
    const campaign = yield* running(numbersOf(1000, "+1405"))
    yield* sql`VACUUM ANALYZE contacts`.unprepared
    const found = (id: typeof campaign.id, number: string, limit: number) =>
      Effect.map(campaigns.contacts(ours, id, { ...everybody, number, limit }), (contacts) => column(contacts, "rowNo"))
    const own = yield* blocksRead(["contacts"], found(campaign.id, "5550999", 1000))
    const first = yield* blocksRead(["contacts"], found(other.id, "1404555", 100))
    const began = yield* Clock.currentTimeMillis
    const last = yield* blocksRead(["contacts"], found(other.id, "5649999", 1000))
    t.comment(`the whole list: ${last.heap + last.index} blocks, ${(yield* Clock.currentTimeMillis) - began} ms`)
    const [size] = yield* sql<{ readonly blocks: number }>`SELECT pg_relation_size('contacts') / 8192 AS blocks`
    t.strictSame([own.result, first.result.length, last.result], [[1001], 100, [100_001]])
    t.ok(own.heap + own.index < 100, `${own.heap + own.index} blocks of ${size?.blocks} for the small campaign`)
    t.ok(first.heap + first.index < 100, `${first.heap + first.index} blocks for a page that is soon full`)
  }
)
