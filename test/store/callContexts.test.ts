/**
 * What a run knows about its call from the start, whoever started it; and that no call is placed through a configuration that cannot place
 * any.
 */
import { Effect, Exit } from "effect"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { runName } from "#core/call/AttemptBeginning.ts"
import { Calls } from "#core/call/Calls.ts"
import type { SingleCall } from "#core/call/Dialer.ts"
import { CallId, RecordingId } from "#core/Id.ts"
import { PlayedRecordings } from "#core/recording/PlayedRecordings.ts"
import { ApiKeyId, UserId } from "#core/organization/Caller.ts"
import { Runs } from "#core/run/Runs.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { PhoneNumbers } from "#core/telephony/PhoneNumbers.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { publishedOf } from "#test/support/given.ts"
import { installClaims } from "./claims.ts"
import { beginCall, definition, column, endOf, makeAgent, makeCampaign, ours, theirs, upload } from "./services.ts"

const { claim, config: main, dialed, run, sql, store, test } = await installClaims(t)
const callIdOf = (last: number) => CallId.make(`01890000-0000-7000-8000-${String(last).padStart(12, "0")}`)

/** The current context of a call's run. */
const contextOf = (callId: CallId) =>
  sql<{ readonly initialContext: Readonly<Record<string, unknown>> }>`
      SELECT initial_context FROM runs WHERE attempt_id = ${callId}::uuid`.pipe(Effect.map(([row]) => row?.initialContext ?? {}))
const finish = (callId: CallId, callerNumber: string | undefined) =>
  store.finish([{ callId, decided: { fate: { state: "failed" }, settingsVersion: 0 }, end: endOf({ callerNumber }) }])
const calledFrom = (number: string) =>
  Runs.use((runs) => {
    const filters = JSON.stringify([{ attribute: "callerNumber", type: "text", value: { value: number } }])
    return Effect.map(runs.listOfOrganization(ours, { page: 1, limit: 100, filters }), (page) => column(page.runs, "callId"))
  })

const claimOf = Effect.fnUntraced(function* (csv: string, callIds: ReadonlyArray<CallId>) {
  const { id } = yield* makeCampaign({ sourceId: yield* upload(csv) })
  yield* Campaigns.use((_) => _.start(ours, id))
  yield* sql`UPDATE contacts SET state = 'retry_wait', retries_used = 1, retry_reason = 'busy', due_at = now() - interval '1 day'
    WHERE campaign_id = ${id} AND row_no = (SELECT max(row_no) FROM contacts WHERE campaign_id = ${id})`
  const [row] = yield* sql<{ readonly dialEpoch: number }>`SELECT dial_epoch FROM campaigns WHERE id = ${id}`
  const { attempts } = yield* claim({ id, dialEpoch: row?.dialEpoch ?? 0 }, callIds)
  return { attempts, id }
})

t.test("given contacts with columns whose names the engine uses", async (t) => {
  const csv = `phone_number,first_name,direction,called_number,provider,runtime_configuration,mps_correlation_id,caller_number
+14155550101,Ada,north,x,x,x,x,+19990001
+14155550102,Bob,south,x,x,x,x,+19990002
`
  const callIds = [callIdOf(1), callIdOf(2)]
  const { attempts, id } = await run(claimOf(csv, callIds))
  const fresh = attempts.find(({ retriesUsed }) => retriesUsed === 0)
  const retried = attempts.find(({ retriesUsed }) => retriesUsed === 1)

  t.test("when they are dialed, then the contact's values take precedence, except for reserved names", async (t) => {
    t.strictSame(fresh?.initialContext, {
      phone_number: "+14155550101",
      first_name: "Ada",
      direction: "north",
      caller_number: "+19990001",
      called_number: "+14155550101",
      provider: "fake",
      campaign_id: id,
      source_uuid: `csv_${id}_row_2`,
      telephony_configuration_id: main.id
    })
    t.match(retried?.initialContext, { is_retry: true, retry_attempt: 1, retry_reason: "busy", source_uuid: `csv_${id}_row_3_retry_1` })
  })

  test(t, "when a call is over, then the contact's caller_number stays", function* (t) {
    const context = yield* Effect.andThen(finish(fresh?.callId ?? callIdOf(0), "+15550001"), contextOf(fresh?.callId ?? callIdOf(0)))
    t.equal(context["caller_number"], "+19990001")
  })
})

test(t, "given contacts without such columns, when their calls are over, then runs are found by the number that was shown", function* (t) {
  const callIds = [callIdOf(11), callIdOf(12)]
  const { attempts } = yield* claimOf("phone_number,first_name\n+14155550111,Ada\n+14155550112,Bob\n", callIds)
  yield* finish(callIdOf(11), "+15550100777")
  yield* finish(callIdOf(12), undefined)
  const before = attempts
  const haveCaller = before.map(({ initialContext }) => "caller_number" in initialContext)
  t.strictSame(haveCaller, [false, false])
  t.match(yield* contextOf(callIdOf(11)), { caller_number: "+15550100777", called_number: /^\+1415555011[12]$/, direction: "outbound" })
  t.notOk("caller_number" in (yield* contextOf(callIdOf(12))), "nobody knows it")
  t.strictSame(yield* calledFrom("0100777"), [callIdOf(11)])
})

test(t, "given a single call, when it is recorded, then it has its numbers, and the client's own values take precedence", function* (t) {
  const agent = yield* makeAgent()
  /** A number can be in only one call at a time. */
  const begun = (last: number, more: Partial<SingleCall>) => {
    const call = { from: "+15550100888", phoneNumber: `+141555501${last}`, ...more }
    return Effect.andThen(beginCall(callIdOf(last), agent, main.id, call), contextOf(callIdOf(last)))
  }
  t.strictSame(yield* begun(21, {}), {
    phone_number: "+14155550121",
    called_number: "+14155550121",
    caller_number: "+15550100888",
    direction: "outbound",
    provider: "fake",
    telephony_configuration_id: main.id
  })
  t.notOk("caller_number" in (yield* begun(22, { from: undefined })))
  const initialContext = { direction: "mine", caller_number: "mine", called_number: "x", provider: "x", mps_correlation_id: "x" }
  const own = yield* begun(23, { initialContext })
  t.match(own, { direction: "mine", caller_number: "mine", called_number: "+14155550123", provider: "fake" })
  t.notOk("mps_correlation_id" in own)
  t.strictSame(yield* calledFrom("0100888"), [callIdOf(21)])
})

t.test("given an agent with template variables of its own", async (t) => {
  const templateContextVariables = { first_name: "Ada", city: "Rome", provider: "mine" }
  const agent = await run(Agents.use((_) => _.create(ours, { name: "Ada", definition: definition(), templateContextVariables })))
  const call = { isTest: true, phoneNumber: "+14155550151", initialContext: { first_name: "Bob" } }
  const begin = (last: number, more: Partial<SingleCall> = {}) => beginCall(callIdOf(last), agent, main.id, { ...call, ...more })

  test(t, "when it is tested, then it has them, but the request's values and the call's own take precedence", function* (t) {
    const attempt = yield* begin(51)
    const [row] = yield* sql`SELECT name, agent_definition_id FROM runs WHERE attempt_id = ${callIdOf(51)}::uuid`
    t.match(attempt.initialContext, { first_name: "Bob", city: "Rome", provider: "fake", called_number: "+14155550151" })
    t.strictSame(row, { name: runName(callIdOf(51)), agentDefinitionId: agent.currentDefinitionId })
  })

  test(t, "when it is called in production, then it does not have them", function* (t) {
    const { initialContext } = yield* begin(52, { isTest: false, phoneNumber: "+14155550152" })
    t.notOk("city" in initialContext)
  })

  test(t, "when the version is another agent's, or the id has been used, then nothing is recorded", function* (t) {
    const recorded = sql`SELECT id FROM attempts UNION ALL SELECT attempt_id FROM runs`
    const before = yield* recorded
    t.ok(Exit.isFailure(yield* Effect.exit(begin(53, { definitionId: publishedOf(yield* makeAgent()) }))))
    t.ok(Exit.isFailure(yield* Effect.exit(begin(51))))
    t.equal((yield* recorded).length, before.length)
  })
})

test(t, "given a key that a user created, when it starts a call, then the call's context has both", function* (t) {
  const { workflowUuid } = yield* makeAgent()
  const request = { agentUuid: workflowUuid, phoneNumber: "+14155550131", apiKeyId: ApiKeyId.make(5) }
  yield* Calls.use((_) => _.start(ours, { ...request, apiKeyCreatedBy: UserId.make(7) }))
  t.match(dialed.at(-1)?.initialContext, { api_key_id: 5, api_key_created_by: 7 })
  yield* Calls.use((_) => _.start(ours, request))
  t.notOk("api_key_created_by" in (dialed.at(-1)?.initialContext ?? {}))
})

t.test("given a configuration that has no number to call from, which its provider needs", async (t) => {
  const settings = { credentials: { account: "AC9", token: "t" }, isDefaultOutbound: false }
  const hosted = await run(TelephonyConfigs.use((_) => _.create(ours, { ...settings, name: "hosted", provider: "hosted" })))
  const agent = await run(makeAgent())
  const way = { phoneNumber: "+14155550141", telephonyConfigurationId: hosted.id }
  const start = Calls.use((_) => _.start(ours, { ...way, agentUuid: agent.workflowUuid }))
  const tested = Calls.use((_) => _.test(ours, { ...way, agentId: agent.id }))

  test(t, "when a call is requested through it, then the call is refused before it is dialed", function* (t) {
    const before = dialed.length
    const failures = yield* Effect.all([Effect.flip(start), Effect.flip(tested)])
    for (const failure of failures)
      t.match(failure, { _tag: "TelephonyNotReady", name: "hosted", reason: /need a number to dial from.*your Hosted account/ })
    t.equal(dialed.length, before)
  })

  test(t, "when it has one, then both are dialed", function* (t) {
    const before = dialed.length
    const normal = { type: "pstn", normalized: "+15550200777" } as const
    const number = { address: normal.normalized, normal, isActive: true, isDefaultCallerId: false, extraMetadata: {} }
    yield* PhoneNumbers.use((_) => _.create(ours, hosted.id, number))
    yield* Effect.all([start, tested])
    t.equal(dialed.length, before + 2)
  })
})

test(t, "given recordings of two organizations, when a call looks for one, then it finds its own, by either name", function* (t) {
  const insert = (organizationId: number, recordingId: string) =>
    sql<{ readonly id: number }>`
        INSERT INTO recordings (organization_id, recording_id, transcript, storage_key, metadata)
        VALUES (${organizationId}::int, ${recordingId}, 'Hello.', ${`recordings/${organizationId}/${recordingId}/a.wav`}, '{}') RETURNING id`.pipe(
      Effect.map(([row]) => RecordingId.make(row?.id ?? 0))
    )
  const { find } = yield* PlayedRecordings
  const later = yield* find(ours, { _tag: "RecordingId", recordingId: "ra" })
  const [own, foreign] = [yield* insert(ours, "ra"), yield* insert(theirs, "rb")]
  const found = {
    later,
    byName: yield* find(ours, { _tag: "RecordingId", recordingId: "ra" }),
    byId: yield* find(ours, { _tag: "Id", id: own }),
    foreign: [
      yield* find(ours, { _tag: "RecordingId", recordingId: "rb" }),
      yield* find(ours, { _tag: "Id", id: foreign }),
      yield* find(theirs, { _tag: "RecordingId", recordingId: "ra" })
    ]
  }
  t.equal(found.later, undefined)
  t.match(found.byName, { storageKey: "recordings/1/ra/a.wav", transcript: "Hello.", recordingId: "ra" }, "though it was missing before")
  t.equal(found.byId?.storageKey, "recordings/1/ra/a.wav")
  t.strictSame(found.foreign, [undefined, undefined, undefined])
})
