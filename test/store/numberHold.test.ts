/** One phone, one call: whatever starts attempts, and however many start them at the same time. */
import { Effect } from "effect"
import t from "tap"
import type { Claim, Claimed } from "#core/call/AttemptBeginning.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { dialed, installClaims, numbersOf, type Running } from "./claims.ts"
import { ours } from "./services.ts"

const { begin, claim, claimBehind, ended, ids, newId, run, running, sql, store, test, undone, waiting, woken } = await installClaims(t)
const campaigns = await run(Campaigns)

t.test("given two campaigns with the same list", async (t) => {
  const numbers = numbersOf(4, "+1201")
  const { first, second, third } = await run(Effect.all({ first: running(numbers), second: running(numbers), third: running(numbers) }))

  test(t, "when one has two of the numbers in calls, then the other calls the ones behind them, and waits for those two", function* (t) {
    const a = yield* claim(first, ids(2))
    t.strictSame(dialed(a), numbers.slice(0, 2))
    t.strictSame(dialed(yield* claimBehind(second, ids(2))), numbers.slice(2))
    t.equal(a.more, true)
    t.match(yield* claimBehind(second, ids(2)), { attempts: [], more: false, nextDueAt: undefined })
    t.strictSame(yield* waiting(second), numbers.slice(0, 2))
  })

  test(t, "when a single call to such a number is requested, then it is refused, and leaves nothing behind", function* (t) {
    const callId = newId()
    t.match(yield* Effect.flip(begin(numbers[0] ?? "", callId)), { _tag: "NumberInCall" })
    t.strictSame(yield* sql`SELECT attempt_id FROM runs WHERE attempt_id = ${callId}::uuid`, [])
  })

  test(t, "when the calls end, then the waiting campaign is woken once, and calls the number", function* (t) {
    woken.length = 0
    const calls = yield* claim(third, ids(1))
    const live = yield* store.live
    for (const { callId, campaign } of live) if (campaign?.campaignId === first.id) yield* ended(callId)
    t.strictSame(dialed(calls), [])
    t.strictSame([...woken].toSorted(), [second.id, third.id, second.id, third.id].toSorted())
    t.strictSame(dialed(yield* claim(second, ids(4))), numbers.slice(0, 2))
  })

  test(t, "when a call is undone, then its number is free as well", function* (t) {
    woken.length = 0
    const live = yield* store.live
    for (const { callId } of live) yield* undone(callId)
    const free = yield* claim(third, ids(10))
    t.ok(woken.includes(third.id))
    t.strictSame(dialed(free), numbers)
    yield* Effect.forEach(free.attempts, ({ callId }) => undone(callId))
  })
})

t.test("given an attempt that was written off", async (t) => {
  const [number = ""] = numbersOf(1, "+1202")
  const campaign = await run(running([number]))
  const callId = newId()
  await run(Effect.andThen(begin(number, callId), Effect.andThen(store.sent(callId, Date.now()), ended(callId, "unknown"))))

  test(t, "then it holds its number until its call is known not to appear", function* (t) {
    woken.length = 0
    t.strictSame(dialed(yield* claim(campaign, ids(1))), [])
    t.equal(yield* store.releaseNumber(callId), true)
    t.equal(yield* store.releaseNumber(callId), false)
    const after = yield* claim(campaign, ids(1))
    t.strictSame(woken, [campaign.id])
    t.strictSame(dialed(after), [number])
    yield* Effect.forEach(after.attempts, ({ callId }) => undone(callId))
  })

  test(t, "when ten minutes have passed since its request, then it is found as one that must no longer hold it", function* (t) {
    yield* sql`UPDATE attempts SET holds_number = true, sent_at = now() - interval '9 minutes' WHERE id = ${callId}::uuid`
    const before = yield* store.outlived
    yield* sql`UPDATE attempts SET sent_at = now() - interval '10 minutes' WHERE id = ${callId}::uuid`
    const after = yield* store.outlived
    yield* store.releaseNumber(callId)
    t.strictSame({ after, before }, { after: [callId], before: [] })
  })
})

t.test("given retries that are due and whose numbers are in calls", async (t) => {
  const numbers = numbersOf(3, "+1203")
  const { campaign, found, waits } = await run(function* () {
    const other = yield* running(numbers)
    yield* claim(other, ids(2))
    const campaign = yield* running(numbers)
    yield* sql`UPDATE contacts SET state = 'retry_wait', retries_used = 1, retry_reason = 'busy', due_at = now() - interval '1 day'
      WHERE campaign_id = ${campaign.id}`
    return { campaign, found: yield* claimBehind(campaign, ids(2)), waits: yield* waiting(campaign) }
  })
  await t.test("when there is another one behind them, then that is called", async (t) => {
    t.strictSame(dialed(found), numbers.slice(2))
    t.strictSame(waits, numbers.slice(0, 2))
  })
  await test(t, "when the settings no longer allow retries, then the waiting ones fail as well", function* (t) {
    yield* campaigns.pause(ours, campaign.id)
    yield* campaigns.update(ours, campaign.id, {
      retry: {
        enabled: false,
        maxRetries: 0,
        retryDelaySeconds: 30,
        retryOnBusy: false,
        retryOnNoAnswer: false,
        retryOnVoicemail: false
      }
    })
    yield* campaigns.resume(ours, campaign.id)
    const states = yield* sql`SELECT state, awaits_number FROM contacts WHERE campaign_id = ${campaign.id} ORDER BY row_no`
    t.match(states, [{ awaitsNumber: false, state: "failed" }, { awaitsNumber: false, state: "failed" }, { state: "dialing" }])
  })
  await run(function* () {
    for (const { callId } of yield* store.live) yield* undone(callId)
  })
})

t.test("given retries whose contacts have seen our numbers before", async (t) => {
  const [own = "", other = "", third = ""] = ["+15550000001", "+15550000002", "+15550000003"]
  const numbers = numbersOf(3, "+1207")
  const campaign = await run(running(numbers))
  const first = await run(claim(campaign, ids(3), { callers: [own, own, other], usable: { numbers: [], rooms: [] } }))
  await run(function* () {
    for (const { callId } of first.attempts) yield* ended(callId, "busy")
    yield* sql`UPDATE contacts SET state = 'retry_wait', retries_used = 1, retry_reason = 'busy', due_at = now() - interval '1 day'
      WHERE campaign_id = ${campaign.id}`
    // All contacts were done, which had completed the campaign.
    yield* sql`UPDATE campaigns SET state = 'running' WHERE id = ${campaign.id}`
  })
  const shown = ({ attempts }: Claimed) => attempts.map(({ callerNumber }) => callerNumber)
  const again = (usable: Claim["usable"]) =>
    run(function* () {
      const found = yield* claimBehind(campaign, ids(3), { callers: [third, third, third], usable })
      for (const { callId } of found.attempts) yield* undone(callId)
      return found
    })

  t.strictSame(shown(first), [own, own, other])
  t.match(first.attempts[0]?.initialContext, { caller_number: own }, "the run has it from the beginning")
  t.strictSame(shown(await again({ numbers: [own, other, third], rooms: [9, 9, 9] })), [own, own, other], "then they see them again")
  t.strictSame(shown(await again({ numbers: [own, third], rooms: [9, 9] })), [own, own, third], "but none that is not ours any more")
  t.strictSame(shown(await again({ numbers: [own, other, third], rooms: [1, 0, 9] })), [own, third, third], "nor more often than it may be")
})

t.test("given four campaigns with one list, in different orders", async (t) => {
  const contacts = 150
  const numbers = numbersOf(contacts, "+1204")
  const orders = [numbers, numbers.toReversed(), numbers.toSorted((a, b) => a.slice(-1).localeCompare(b.slice(-1))), numbers]

  test(t, "when all dial at the same time as fast as they can, then no number is ever in two calls, and all are called", function* (t) {
    const campaigns = yield* Effect.forEach(orders, running)
    const inCall = new Set<string>()
    let twice = 0
    let idle = 0
    const dial = Effect.fnUntraced(function* (campaign: Running) {
      let calls = 0
      while (calls < contacts) {
        const { attempts, more } = yield* claim(campaign, ids(7))
        for (const { phoneNumber } of attempts) {
          if (inCall.has(phoneNumber)) twice++
          inCall.add(phoneNumber)
        }
        yield* Effect.forEach(
          attempts,
          ({ callId, phoneNumber }, index) =>
            Effect.gen(function* () {
              yield* Effect.sleep(index)
              inCall.delete(phoneNumber)
              yield* ended(callId)
            }),
          { concurrency: "unbounded", discard: true }
        )
        calls += attempts.length
        // A campaign that is told that there is nothing to claim sleeps until it is woken.
        while (attempts.length === 0 && !more && !woken.includes(campaign.id)) {
          idle++
          yield* Effect.sleep(1)
          if (idle > 30_000) return yield* Effect.die(new Error("a campaign was never woken"))
        }
        for (let at = woken.indexOf(campaign.id); at >= 0; at = woken.indexOf(campaign.id)) woken.splice(at, 1)
      }
    })
    yield* Effect.forEach(campaigns, dial, { concurrency: "unbounded", discard: true })
    const left = yield* sql`SELECT id FROM attempts WHERE holds_number UNION ALL SELECT NULL FROM contacts WHERE awaits_number`
    const recounts = yield* Effect.forEach(campaigns, ({ id }) =>
      Effect.provide(
        CampaignOwnership.use((_) => _.recount(id)),
        CampaignOwnership.layer
      )
    )
    const states = yield* sql`SELECT DISTINCT state FROM contacts WHERE campaign_id = ANY(${campaigns.map(({ id }) => id)}::int[])`
    const seen = { left, recounts, states, twice }
    t.strictSame(seen, { left: [], recounts: [true, true, true, true], states: [{ state: "completed" }], twice: 0 })
  })
})
