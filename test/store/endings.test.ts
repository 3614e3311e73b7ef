/** Answers and ends that are recorded together must have the same effect as when each is recorded alone. */
import { Effect } from "effect"
import t from "tap"
import type { AttemptEnd, ContactFate } from "#core/call/Attempt.ts"
import type { DecidedEnd } from "#core/call/AttemptEnding.ts"
import type { CallId } from "#core/Id.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import { installClaims, numbersOf, type Running } from "./claims.ts"
import { column } from "./services.ts"

const { begin, claim, ids, newId, running, sql, store, test } = await installClaims(t)

const endedAt = Date.UTC(2030, 0, 1)
const endOf = (place: number, outcome: Outcome, more: Partial<AttemptEnd> = {}): AttemptEnd => ({
  answeredAt: outcome === "answered" ? endedAt - 5_000 : undefined,
  cause: outcome === "busy" ? "user_busy" : "normal_clearing",
  endedAt: endedAt + place,
  outcome,
  record: {
    annotations: place === 0 ? { note: "first" } : undefined,
    gatheredContext: { call_tags: [`tag ${place}`], call_disposition: `said \\u0000 "${place}"\u0000` },
    logs: { entries: place },
    recordingKey: place === 1 ? "recordings/1" : undefined,
    transcriptKey: undefined,
    usageInfo: { call_duration_seconds: place }
  } as AttemptEnd["record"],
  ...more
})
const fates: ReadonlyArray<readonly [Outcome, ContactFate, Partial<AttemptEnd>?]> = [
  ["answered", { state: "completed" }, { callerNumber: "+15550100", endpoint: "http://pbx:8088", fetchedContext: { plan: "gold" } }],
  ["busy", { state: "retry_wait", dueAt: endedAt + 60_000, reason: "busy" }, { providerCallId: "CA1" }],
  ["failed", { state: "failed" }],
  ["unknown", { state: "failed" }],
  ["voicemail", { state: "failed" }]
]
const endsOf = (callIds: ReadonlyArray<CallId>, settingsVersion = 0): ReadonlyArray<DecidedEnd> =>
  callIds.map((callId, place) => {
    const [outcome, fate, more] = fates[place % fates.length] ?? ["answered", { state: "completed" }]
    return { callId, decided: { fate, settingsVersion }, end: endOf(place, outcome, more) }
  })

/** What the database has about a campaign, without what differs between two campaigns. */
const leftBy = ({ id }: Running) =>
  Effect.all({
    campaign: sql`SELECT state, completed_at, completed_rows, failed_rows, failed_calls, retries_queued FROM campaigns WHERE id = ${id}`,
    contacts: sql`SELECT row_no, state, last_outcome, retries_used, retry_reason, due_at FROM contacts WHERE campaign_id = ${id} ORDER BY 1`,
    attempts: sql`SELECT row_no, state, outcome, hangup_cause, answered_at, ended_at, endpoint, provider_call_id, breaker_failure, holds_number
        FROM attempts WHERE campaign_id = ${id} ORDER BY 1`,
    runs: sql`SELECT is_completed, completed_at, gathered_context, usage_info, logs, annotations, recording_key, transcript_key,
          initial_context - ARRAY['campaign_id', 'source_uuid', 'phone_number', 'called_number'] AS context
        FROM runs JOIN attempts ON attempts.id = runs.attempt_id WHERE runs.campaign_id = ${id} ORDER BY attempts.row_no`,
    log: sql`SELECT level, event, message, details FROM campaign_log WHERE campaign_id = ${id} ORDER BY event, details ->> 'row'`,
    events: sql`SELECT type, data -> 'row' AS row, data -> 'outcome' AS outcome FROM (
          SELECT type, data FROM event_outbox UNION ALL SELECT type, data FROM events) AS told
        WHERE (data ->> 'campaign_id')::int = ${id} AND type <> 'campaign.completed' ORDER BY type, 2`
  })

const answer = (callIds: ReadonlyArray<CallId>) =>
  store.answered(callIds.map((callId) => ({ answeredAt: endedAt - 9_000, callId, endpoint: "http://pbx:8088" })))

const dialing = Effect.fnUntraced(function* (prefix: string, contacts: number) {
  const campaign = yield* running(numbersOf(contacts, prefix))
  const { attempts } = yield* claim(campaign, ids(contacts))
  return { callIds: attempts.map(({ callId }) => callId), campaign }
})

test(t, "when ends are recorded together, then they leave the same as alone", function* (t) {
  const [one, other] = [yield* dialing("+1415", 10), yield* dialing("+1416", 10)]
  for (const callId of one.callIds.slice(0, 4)) yield* answer([callId])
  yield* answer(other.callIds.slice(0, 4))
  t.strictSame(yield* leftBy(other.campaign), yield* leftBy(one.campaign), "so with answers")
  for (const end of endsOf(one.callIds)) yield* store.finish([end])
  const finished = yield* store.finish(endsOf(other.callIds))
  t.strictSame(
    column(finished, "_tag"),
    other.callIds.map(() => "Done")
  )
  const alone = yield* leftBy(one.campaign)
  const together = yield* leftBy(other.campaign)
  t.strictSame(together, alone)
  t.match(together.campaign, [{ state: "running", completedRows: 2, failedRows: 6, retriesQueued: 2 }])
  t.equal(together.attempts.filter(({ holdsNumber }) => holdsNumber === true).length, 2, "those written off hold their numbers")
})

test(t, "when the last ends of a campaign are recorded together, then it is completed once, at the last of them", function* (t) {
  const { callIds, campaign } = yield* dialing("+1417", 3)
  const ends = callIds.map(
    (callId, place): DecidedEnd => ({
      callId,
      decided: { fate: { state: "completed" }, settingsVersion: 0 },
      end: endOf(2 - place, "answered")
    })
  )
  const finished = yield* store.finish(ends)
  const left = yield* leftBy(campaign)
  t.match(left.campaign, [{ state: "completed", completedRows: 3, completedAt: new Date(endedAt + 2) }])
  t.equal(left.log.filter(({ event }) => event === "campaign_completed").length, 1)
  t.ok(finished.every((one) => one._tag === "Done" && one.campaignCompleted))
})

test(t, "when some are already over, stale, or unknown, then each is reported as such, and the others are recorded", function* (t) {
  const { callIds } = yield* dialing("+1418", 4)
  const [over, stale, good, late] = endsOf(callIds)
  if (over === undefined || stale === undefined || good === undefined || late === undefined) throw new Error("too few were claimed")
  yield* store.finish([over])
  const outdated = { ...stale, decided: { fate: { state: "completed" }, settingsVersion: 7 } } as const
  const batch = [over, outdated, good, { ...good, callId: newId() }, late]
  // The same again, as after a lost reply.
  const first = yield* store.finish(batch)
  const second = yield* store.finish(batch)
  t.match(first, [
    { _tag: "AlreadyOver" },
    { _tag: "Stale", settingsVersion: 0 },
    { _tag: "Done", campaignCompleted: false },
    { _tag: "AlreadyOver" },
    { _tag: "Done" }
  ])
  const tags = second.map(({ _tag }) => _tag)
  t.match(tags, ["AlreadyOver", "Stale", "AlreadyOver", "AlreadyOver", "AlreadyOver"])
})

test(
  t,
  "given a contact that is being dialed again, when its first call ends once more, then nothing changes or is counted",
  function* (t) {
    const { callIds, campaign } = yield* dialing("+1423", 2)
    const fate = { state: "retry_wait", dueAt: Date.now() - 1000, reason: "busy" } as const
    const [first] = callIds.map((callId): DecidedEnd => ({ callId, decided: { fate, settingsVersion: 0 }, end: endOf(0, "busy") }))
    if (first === undefined) throw new Error("nobody was claimed")
    yield* store.finish([first])
    yield* claim(campaign, ids(1))
    const before = yield* leftBy(campaign)
    const late = { ...first, decided: { fate: { state: "failed" }, settingsVersion: 0 }, end: endOf(0, "failed") } as const
    t.strictSame(yield* store.finish([late]), [{ _tag: "AlreadyOver" }])
    t.match(before.contacts, [{ state: "dialing", retriesUsed: 1 }, { state: "dialing" }])
    t.strictSame(yield* leftBy(campaign), before)
  }
)

test(t, "when two ends of one attempt are recorded together, then the first one counts, once", function* (t) {
  const { callIds, campaign } = yield* dialing("+1422", 2)
  const decided = { fate: { state: "failed" }, settingsVersion: 0 } as const
  const ends = callIds.map((callId): DecidedEnd => ({ callId, decided, end: endOf(0, "unknown") }))
  const finished = yield* store.finish([...ends, ...ends.map((end) => ({ ...end }))])
  const left = yield* leftBy(campaign)
  t.strictSame(column(finished, "_tag"), ["Done", "Done", "AlreadyOver", "AlreadyOver"])
  t.match(left.campaign, [{ state: "completed", failedRows: 2 }])
  t.equal(left.log.filter(({ event }) => event === "attempt_written_off").length, 2)
})

test(t, "when single calls and calls of several campaigns end together, then each has its own", function* (t) {
  const [one, other] = [yield* dialing("+1419", 2), yield* dialing("+1420", 2)]
  const single = yield* begin("+14215550000")
  const ends = [...endsOf(other.callIds), ...endsOf(one.callIds), { callId: single.callId, decided: undefined, end: endOf(1, "answered") }]
  t.ok((yield* store.finish(ends)).every(({ _tag }) => _tag === "Done"))
  const runs = yield* sql`SELECT is_completed, recording_key FROM runs WHERE attempt_id = ${single.callId}::uuid`
  const left = { one: yield* leftBy(one.campaign), other: yield* leftBy(other.campaign), runs }
  t.match(left.runs, [{ isCompleted: true, recordingKey: "recordings/1" }])
  t.strictSame(left.one, left.other)
  t.match(left.one.campaign, [{ completedRows: 1, retriesQueued: 1 }])
})

test(t, "given two calls, when their answers are recorded together, one of them at a fraction of a millisecond", function* (t) {
  const campaign = yield* running(numbersOf(2, "+1309"))
  const callIds = [newId(), newId()]
  yield* claim(campaign, callIds)
  yield* store.answered(callIds.map((callId, place) => ({ answeredAt: endedAt - 9_000 + place / 2, callId, endpoint: undefined })))
  const rows = yield* sql`
    SELECT extract(epoch FROM answered_at)::float8 * 1000 AS at FROM attempts WHERE campaign_id = ${campaign.id} ORDER BY row_no`
  t.strictSame(column(rows, "at"), [endedAt - 9_000, endedAt - 8_999.5])
})
