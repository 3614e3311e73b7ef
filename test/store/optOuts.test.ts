/** Numbers that have opted out: no claim takes them, at whatever time they opt out, and their contacts end. */
import { Effect, Layer } from "effect"
import t from "tap"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { OptOutId } from "#core/contact/OptOut.ts"
import { OptOuts } from "#core/contact/OptOuts.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import type { CallId, OrganizationId } from "#core/Id.ts"
import { dialed, installClaims, numbersOf, type Running } from "./claims.ts"
import { eventsOf, ours, tag, theirs } from "./services.ts"

const { begin, claim, claimBehind, ended, ids, run, running, sql, test, undone } = await installClaims(t)

const layer = OptOuts.layer.pipe(Layer.provideMerge(RecentOptOuts.layer))
const withOptOuts = <A, E, R>(use: (optOuts: OptOuts["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(OptOuts, use).pipe(Effect.provide(layer))
const optOut = (numbers: ReadonlyArray<string>, organizationId: OrganizationId = ours) =>
  withOptOuts((_) => _.add(organizationId, numbers, { source: "api", runId: undefined }))

const contactsOf = ({ id }: Running) =>
  sql<{ readonly state: string; readonly stopReason: string | null; readonly retriesUsed: number; readonly dueAt: Date | null }>`
      SELECT state, stop_reason, retries_used, due_at FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`
const progressOf = ({ id }: Running) => Campaigns.use((_) => _.progress(ours, id))
const recount = ({ id }: Running) => CampaignOwnership.use((_) => _.recount(id)).pipe(Effect.provide(CampaignOwnership.layer))
const cancelled = { state: "cancelled", stopReason: "opted_out", retriesUsed: 0, dueAt: null }

t.test("given a campaign for four people", async (t) => {
  const numbers = numbersOf(4, "+1301")
  const [first = "", second = "", third = "", fourth = ""] = numbers
  const campaign = await run(running(numbers))

  await test(t, "when two of them have opted out, then the others are called, and these two are cancelled", function* (t) {
    yield* optOut([second, first])
    const calls = yield* claimBehind(campaign, ids(2))
    t.strictSame(dialed(calls), [third, fourth])
    t.strictSame((yield* contactsOf(campaign)).slice(0, 2), [cancelled, cancelled])
    t.match(yield* progressOf(campaign), { state: "running", total: 4, cancelled: 2, pending: 0, progressPercentage: 100 })
    yield* Effect.forEach(calls.attempts, ({ callId }) => undone(callId))
  })

  await test(
    t,
    "when one of the others opts out while it waits for a retry, then it is not called again, and the retry is not counted",
    function* (t) {
      for (const { callId } of (yield* claim(campaign, ids(2))).attempts) yield* ended(callId, "busy")
      yield* sql`UPDATE contacts SET state = 'retry_wait', retries_used = 1, retry_reason = 'busy', due_at = now() - interval '1 day'
          WHERE campaign_id = ${campaign.id} AND state = 'completed'`
      yield* sql`UPDATE campaigns SET state = 'running', completed_rows = 0, retries_queued = 2 WHERE id = ${campaign.id}`
      yield* optOut([third])
      const again = yield* claimBehind(campaign, ids(2))
      t.strictSame(dialed(again), [fourth])
      t.strictSame((yield* contactsOf(campaign))[2], { state: "failed", stopReason: "opted_out", retriesUsed: 0, dueAt: null })
      yield* Effect.forEach(again.attempts, ({ callId }) => undone(callId))
    }
  )

  await test(t, "when the last one opts out, then the campaign completes, and its log says why", function* (t) {
    yield* optOut([fourth])
    const last = yield* claim(campaign, ids(2))
    const events = yield* eventsOf(campaign.id)
    const queued = yield* sql`SELECT retries_queued FROM campaigns WHERE id = ${campaign.id}`
    const isRight = [yield* recount(campaign), queued]
    t.strictSame(dialed(last), [])
    t.match(yield* progressOf(campaign), { state: "completed", completed: 0, failed: 2, cancelled: 2, pending: 0 })
    t.strictSame(events.slice(-2), ["contacts_opted_out", "campaign_completed"])
    t.strictSame(isRight, [true, [{ retriesQueued: 0 }]])
  })
})

t.test("given numbers that have opted out", async (t) => {
  const [first = "", second = ""] = numbersOf(2, "+1302")
  await run(optOut([first]))

  test(t, "when one is added again, then nothing changes, and there is one event", function* (t) {
    const added = yield* optOut([first, second, first])
    const events = yield* sql`SELECT type, data ->> 'phone_number' AS number, data ->> 'source' AS source FROM event_outbox
          WHERE type = 'contact.opted_out' AND data ->> 'phone_number' = ANY(${[first, second]}::text[]) ORDER BY id`
    t.equal(added, 1)
    t.strictSame(
      events,
      [first, second].map((number) => ({ type: "contact.opted_out", number, source: "api" }))
    )
  })

  test(t, "when a single call to one is requested, then it is refused, and leaves nothing behind", function* (t) {
    const refusal = yield* tag(begin(first))
    const seen = { left: yield* sql`SELECT id FROM attempts WHERE phone_number = ${first}`, refusal }
    t.strictSame(seen, { left: [], refusal: "NumberOptedOut" })
  })

  test(t, "when one is removed, by its own organization alone, then it is called again", function* (t) {
    const [found] = yield* withOptOuts((_) => _.list(ours, { after: undefined, limit: 9, phoneNumber: second }))
    const id = found?.id ?? OptOutId.make(0)
    const strange = yield* tag(withOptOuts((_) => _.remove(theirs, id)))
    yield* withOptOuts((_) => _.remove(ours, id))
    const again = yield* tag(withOptOuts((_) => _.remove(ours, id)))
    const { callId } = yield* begin(second)
    yield* undone(callId)
    t.strictSame([strange, again], ["OptOutNotFound", "OptOutNotFound"])
  })

  test(t, "when another organization's number is the same, then ours is called", function* (t) {
    const [other = ""] = numbersOf(1, "+1303")
    yield* optOut([other], theirs)
    t.strictSame(dialed(yield* Effect.flatMap(running([other]), (campaign) => claim(campaign, ids(1)))), [other])
  })
})

t.test("given a list of which almost all have opted out", async (t) => {
  const numbers = numbersOf(1001, "+1305")
  const campaign = await run(running(numbers))
  const [kept = "", ...out] = numbers.toReversed()
  const logOf = () => sql<{ readonly event: string; readonly details: Readonly<Record<string, unknown>> }>`
      SELECT event, details FROM campaign_log WHERE campaign_id = ${campaign.id} ORDER BY id`
  const calls: Array<CallId> = []
  const stoppedIn = (log: Effect.Success<ReturnType<typeof logOf>>) => log.filter(({ event }) => event === "contacts_opted_out")

  await test(t, "when it is dialed, then the log has one entry that counts them, whatever comes between", function* (t) {
    yield* optOut(out)
    const ownership = yield* Effect.provide(CampaignOwnership, CampaignOwnership.layer)
    const other = { level: "info", event: "waiting_for_capacity", message: "Between." } as const
    yield* claim(campaign, ids(1))
    yield* ownership.log(campaign.id, other)
    for (let claims = 0; claims < 20; claims++) {
      const { attempts } = yield* claim(campaign, ids(1))
      calls.push(...attempts.map(({ callId }) => callId))
      if (attempts.length > 0) break
    }
    const seen = { log: stoppedIn(yield* logOf()), left: yield* progressOf(campaign) }
    t.match(seen.left, { cancelled: 1000 })
    t.match(seen.log, [{ details: { contacts: 1000, rows: Array.from({ length: 100 }, (_, at) => at + 2) } }])
    t.match(seen.log[0]?.details, { list: `/api/v1/campaign/${campaign.id}/contacts/download?stop_reason=opted_out`, latest_at: String })
  })

  await test(t, "when that entry is not shown any more, then there is a new one, and the end comes after it", function* (t) {
    yield* Effect.forEach(calls, (callId) => undone(callId))
    yield* sql`INSERT INTO campaign_log (organization_id, campaign_id, level, event, message)
        SELECT organization_id, id, 'info', 'contacts_marked', '' FROM campaigns, generate_series(1, 100) WHERE id = ${campaign.id}`
    yield* optOut([kept])
    yield* claim(campaign, ids(1))
    const log = yield* logOf()
    const counts = stoppedIn(log).map(({ details }) => details["contacts"])
    t.strictSame(counts, [1000, 1])
    t.equal(log.at(-1)?.event, "campaign_completed")
  })
})

test(t, "given a campaign that claims as fast as it can, when its people opt out, then nobody is called later, and all end", function* (t) {
  const numbers = numbersOf(600, "+1304")
  const campaign = yield* running(numbers)
  const out = new Set<string>()
  const late: Array<string> = []
  let isDone = false
  const say = Effect.gen(function* () {
    for (let at = numbers.length; at > 0 && !isDone; at -= 7) {
      const said = numbers.slice(Math.max(0, at - 7), at)
      yield* optOut(said)
      for (const number of said) out.add(number)
    }
  })
  const dial = Effect.gen(function* () {
    for (;;) {
      const before = new Set(out)
      const { attempts, more, owned } = yield* claim(campaign, ids(5))
      late.push(...attempts.map(({ phoneNumber }) => phoneNumber).filter((number) => before.has(number)))
      for (const { callId } of attempts) yield* ended(callId)
      if (!owned || (attempts.length === 0 && !more)) break
    }
    isDone = true
  })
  yield* Effect.all([say, dial], { concurrency: 2 })
  const states = [...new Set((yield* contactsOf(campaign)).map(({ state }) => state))].toSorted()
  const seen = { isRight: yield* recount(campaign), late, progress: yield* progressOf(campaign), states }
  t.match(seen, { isRight: true, late: [], progress: { state: "completed", total: 600 }, states: ["cancelled", "completed"] })
})
