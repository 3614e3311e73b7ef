/** What the steps of a call read: neither all live calls nor, in a claim, all contacts that wait for their numbers. */
import { Effect } from "effect"
import t from "tap"
import type { Claimed } from "#core/call/AttemptBeginning.ts"
import type { CallId } from "#core/Id.ts"
import { installCounted } from "./blocksRead.ts"
import { numbersOf } from "./claims.ts"
import { ours } from "./services.ts"

const { blocksRead, claim, config, ended, ids, running, sql, store, test, undone } = await installCounted(t)

const giveBack = Effect.flatMap(store.live, (left) => Effect.forEach(left, ({ callId }) => undone(callId), { discard: true }))

test(
  t,
  "given a campaign with hundreds of calls that are up, when it claims the next contact, then it does not read them all",
  function* (t) {
    const campaign = yield* running(numbersOf(600, "+1208"))
    // The planner uses the current statistics, and may keep its plan for long.
    yield* sql`VACUUM ANALYZE`.unprepared
    yield* claim(campaign, ids(1))
    for (let i = 0; i < 8; i++) yield* claim(campaign, ids(50))
    const { heap } = yield* blocksRead(
      ["attempts"],
      Effect.replicateEffect(
        Effect.suspend(() => claim(campaign, ids(1))),
        20
      )
    )
    yield* giveBack
    const blocks = heap
    t.ok(blocks < 20 * 20, `${blocks} blocks for twenty claims`)
  }
)

test(t, "given thousands of calls over and hundreds up, when calls are answered and end, then nothing reads through them", function* (t) {
  const steps = 20
  yield* sql`INSERT INTO attempts (id, organization_id, telephony_configuration_id, node, state, ended_at)
        SELECT gen_random_uuid(), ${ours}::int, ${config.id}::int, 'there', 'ended', now() FROM generate_series(1, 5000)`
  const campaign = yield* running(numbersOf(600, "+1210"))
  // None of its calls is up now, so the planner expects live calls to be rare.
  yield* sql`VACUUM ANALYZE attempts, contacts`.unprepared
  for (let i = 0; i < 12; i++) yield* claim(campaign, ids(50))
  const live = (yield* store.live).map(({ callId }) => callId)
  const answerAndEnd = (callId: CallId) =>
    Effect.andThen(store.answered([{ callId, answeredAt: Date.now(), endpoint: undefined }]), ended(callId))
  // Postgres analyzes tables one by one, at any moment, and plans again with what it knows of each.
  const heaps = yield* Effect.forEach(["none", "runs", "contacts", "attempts"] as const, (analyzed, round) =>
    Effect.gen(function* () {
      if (analyzed !== "none") yield* sql`ANALYZE ${sql(analyzed)}`.unprepared
      const calls = live.slice(round * steps, (round + 1) * steps)
      const { heap } = yield* blocksRead(["attempts", "contacts", "runs"], Effect.forEach(calls, answerAndEnd, { discard: true }))
      return { analyzed, heap }
    })
  )
  yield* giveBack
  const blocks = heaps
  for (const { analyzed, heap } of blocks) t.ok(heap < 45 * steps, `${heap} blocks for ${steps} calls, analyzed before: ${analyzed}`)
})

test(t, "given tens of thousands of numbers that opted out after the first claim, then a claim does not read through them", function* (t) {
  const claims = 20
  const campaign = yield* running(numbersOf(600, "+1209"))
  // The planner uses the current statistics, and may keep its plan for long.
  yield* sql`VACUUM ANALYZE`.unprepared
  for (let i = 0; i < claims; i++) yield* claim(campaign, ids(1))
  yield* sql`INSERT INTO opt_outs (organization_id, phone_number, source)
        SELECT ${ours}::int, '+49' || (10000000 + n), 'api' FROM generate_series(1, 50000) AS n`
  const { heap, index } = yield* blocksRead(
    ["opt_outs"],
    Effect.replicateEffect(
      Effect.suspend(() => claim(campaign, ids(1))),
      claims
    )
  )
  yield* giveBack
  const blocks = heap + index
  t.ok(blocks <= 5 * claims, `${blocks} blocks for ${claims} claims`)
})

test(t, "given ten thousand contacts whose numbers are all in calls of another campaign", function* (t) {
  const contacts = 10_000
  const numbers = numbersOf(contacts, "+1205")
  const other = yield* running(numbers)
  yield* sql`INSERT INTO attempts (id, organization_id, campaign_id, row_no, telephony_configuration_id, node, state, phone_number, holds_number)
        SELECT gen_random_uuid(), ${ours}::int, campaign_id, row_no, ${config.id}::int, 'there', 'sent', phone_number, true
        FROM contacts WHERE campaign_id = ${other.id}`
  yield* sql`UPDATE contacts SET state = 'dialing' WHERE campaign_id = ${other.id}`
  const campaign = yield* running([...numbers, ...numbersOf(100, "+1206")])
  yield* sql`ANALYZE`
  const measured = () =>
    Effect.map(blocksRead(["contacts"], claim(campaign, ids(1))), ({ heap, index, result }) => ({
      blocks: heap + index,
      claimed: result
    }))
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
  t.comment({ claims, first: blocks.slice(0, 3), last: blocks.slice(-20) })
  t.ok(claims <= 60, `${claims} claims passed over all of them`)
  t.match(dialable, [{ phoneNumber: /^\+1206/ }], "the ones behind them are dialed")
  t.ok(Math.max(...blocks) < 10_000, "no claim reads them all")
  // Their dead entries in the index, some two hundred blocks, stay for as long as any transaction on the server is older than they are.
  t.ok(Math.max(...blocks.slice(-20)) < 1000, "and none looks at them again")
})
