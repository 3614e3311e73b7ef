/** The services of the API on a real database, with two organizations, a provider called `fake`, and ports that record what they are told. */
import { Effect, Layer, Redacted, Result, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { writeFile } from "node:fs/promises"
import type { Test } from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import type { Agent } from "#core/agent/Agent.ts"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { BrowserRuns } from "#core/call/BrowserRuns.ts"
import { Calls } from "#core/call/Calls.ts"
import { Dialer, type SingleCall } from "#core/call/Dialer.ts"
import { LateCallStore } from "#core/call/LateCallStore.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import type { NewCampaign } from "#core/campaign/Creation.ts"
import { Credentials } from "#core/credential/Credentials.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { Uploads } from "#core/file/Uploads.ts"
import { Folders } from "#core/folder/Folders.ts"
import { type AgentId, CallId, type CampaignId, OrganizationId, RunId, type TelephonyConfigId } from "#core/Id.ts"
import type { ApiKeyId, Caller } from "#core/organization/Caller.ts"
import type { Role } from "#core/organization/Role.ts"
import * as accounts from "#core/services/accounts.ts"
import { Organizations } from "#core/organization/Organizations.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { Tokens } from "#core/organization/Tokens.ts"
import { Registry } from "#core/provider/Registry.ts"
import { PlayedRecordings } from "#core/recording/PlayedRecordings.ts"
import { Reports } from "#core/report/Reports.ts"
import { Runs } from "#core/run/Runs.ts"
import { Signals } from "#core/Signals.ts"
import { PhoneNumbers } from "#core/telephony/PhoneNumbers.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { TrunkSignals } from "#core/telephony/TrunkSignals.ts"
import { layer as csvSourceLayer } from "#runtime/storage/CsvSource.ts"
import * as NationalNumbers from "#runtime/telephony/NationalNumbers.ts"
import * as passwords from "#runtime/identity/passwords.ts"
import { Files } from "#runtime/storage/Files.ts"
import { tokensOf } from "#runtime/identity/tokens.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { publishedOf } from "#test/support/given.ts"
import { openDatabase, type TestDatabase } from "#test/support/postgres.ts"
import { effectOf, type Work } from "#test/support/run.ts"
import { servicesLayer } from "#test/support/services.ts"

export const ours = OrganizationId.make(1)
export const theirs = OrganizationId.make(2)
const callId = CallId.make("00000000-0000-4000-8000-000000000001")
export const journal = "00000000-0000-4000-8000-00000000000a"

const fake = defineAdapter({
  manifest: { contract: 2, provider: "fake", displayName: "Fake", docsUrl: "", callsPerSecond: 1, originatesInFlight: 1 },
  fields: { account: Credential.text({ label: "Account" }), token: Credential.secret({ label: "Token" }) },
  connect: () => Effect.die("not connected in tests of the store")
})

/** Like `fake`, for a provider that calls only from numbers of the account. */
const hosted = {
  ...fake,
  manifest: { ...fake.manifest, provider: "hosted", displayName: "Hosted", needsCallerId: true, accountField: "account" }
}

/** Password checks cost next to nothing here. */
export const accountsLayer = accounts.layer.pipe(
  Layer.provide(passwords.layer({ cost: 16, blockSize: 8, parallelization: 1 })),
  Layer.provide(Layer.succeed(Tokens, tokensOf(Redacted.make("the secret of the tokens in these tests"))))
)

const services = Layer.mergeAll(
  Agents.layer,
  AgentVersions.layer,
  accountsLayer,
  AttemptStore.layer,
  BrowserRuns.layer,
  Calls.layer,
  Campaigns.layer,
  Credentials.layer,
  CredentialSecrets.layer,
  Folders.layer,
  LateCallStore.layer,
  Organizations.layer,
  PlayedRecordings.layer,
  Reports.layer,
  Runs.layer,
  PhoneNumbers.layer.pipe(Layer.provide(NationalNumbers.layer)),
  TelephonyConfigs.layer,
  TrunkOutages.layer,
  TrunkSettings.layer
).pipe(Layer.provideMerge(csvSourceLayer.pipe(Layer.provideMerge(Uploads.layer))))

type Services = Layer.Success<typeof services> | Layer.Services<typeof services> | Scope.Scope

interface Installation {
  readonly database: TestDatabase
  readonly run: <A>(work: Work<A, Services>) => Promise<A>
  /** A test whose body runs as one effect on this database. */
  readonly test: (
    t: Test,
    title: string,
    body: (t: Test) => Generator<Effect.Effect<unknown, unknown, Services>, void, never>
  ) => Promise<unknown>
  readonly sql: SqlClient.SqlClient
  /** What Signals and the Dialer were told. */
  readonly heard: Array<string>
  readonly dialed: Array<SingleCall>
}

export const install = async (...[t, maxConnections]: Parameters<typeof openDatabase>): Promise<Installation> => {
  const database = await openDatabase(t, maxConnections)
  const folder = temporaryFolder(t)
  const heard: Array<string> = []
  const dialed: Array<SingleCall> = []
  const write = (line: string) => Effect.sync(() => void heard.push(line))
  const ports = Layer.mergeAll(
    Registry.layerOf([fake, hosted]),
    servicesLayer,
    Layer.succeed(Signals, {
      campaignRunning: (id, occasion) => write(`running ${id} ${occasion}`),
      campaignStopped: (id) => write(`stopped ${id}`),
      campaignChanged: (id) => write(`changed ${id}`)
    }),
    Layer.succeed(TrunkSignals, {
      configurationChanged: (id) => write(`configuration ${id}`),
      numbersChanged: (id) => write(`numbers ${id}`)
    }),
    Layer.succeed(Dialer, {
      dial: (call) =>
        Effect.sync(() => {
          dialed.push(call)
          return { runId: RunId.make(1), runName: "WR-API-1", callId }
        })
    }),
    Files.layerLocal(folder)
  )
  const context = await database.run(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO organizations (name) VALUES ('ours'), ('theirs')`
    // Outlives this effect: only the audit log's writer would end with it, and readers of that log write pending entries first.
    return yield* Layer.buildWithScope(Layer.provideMerge(services, ports), yield* Effect.scope)
  })
  const run: Installation["run"] = (work) => database.run(Effect.provideContext(effectOf(work), context))
  return {
    database,
    heard,
    dialed,
    run,
    test: (t, title, body) => t.test(title, (t) => run(() => body(t))),
    sql: await run(SqlClient.SqlClient)
  }
}

export const definition = (prompt = "Be kind.") => ({
  nodes: [
    {
      id: "start",
      type: "startCall",
      position: { x: 0, y: 0 },
      data: { name: "Start", prompt, greeting: "Hello {{first_name}}", kept: true }
    },
    { id: "end", type: "endCall", position: { x: 0, y: 1 }, data: { name: "End", prompt: "Say goodbye." } }
  ],
  edges: [{ id: "e", source: "start", target: "end", data: { label: "done", condition: "when done" } }],
  viewport: { zoom: 1 }
})

/** Uploads a list and returns its key. */
export const upload = Effect.fnUntraced(function* (bytes: string | Uint8Array, organizationId = ours, saidBytes = bytes.length) {
  const uploads = yield* Uploads
  const files = yield* Files
  const { key } = yield* uploads.request(organizationId, { fileName: "list.csv", fileSize: bytes.length, contentType: "text/csv" })
  const path = yield* files.createWriter(key)
  yield* Effect.promise(() => writeFile(path, bytes))
  yield* uploads.complete(key, { sizeBytes: saidBytes, fileHash: "" }, Effect.void)
  return key
})

export const makeAgent = Effect.fnUntraced(function* (prompt?: string, organizationId = ours) {
  const agents = yield* Agents
  return yield* agents.create(organizationId, { name: "Ada", definition: definition(prompt) })
})

export const people = (count: number): string =>
  `phone_number,First_Name,city\n${Array.from({ length: count }, (_, i) => `+1415${String(5_550_000 + i)},Name ${i},Town\n`).join("")}`

export const makeCampaign = Effect.fnUntraced(function* (settings: Partial<NewCampaign> = {}, contacts = 3) {
  const campaigns = yield* Campaigns
  const agentId: AgentId = settings.agentId ?? (yield* makeAgent()).id
  const sourceId = settings.sourceId ?? (yield* upload(people(contacts)))
  return yield* campaigns.create(ours, { name: "Spring", sourceType: "csv", ...settings, agentId, sourceId })
})

/** A caller with a key of its own that the operator made. */
export const keyOf = (organizationId = ours, role: Role = "owner") =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql<{ readonly id: ApiKeyId }>`
    INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role)
    VALUES (${organizationId}, 'caller', 'tl_', gen_random_uuid()::text, ${role}) RETURNING id`.pipe(
      Effect.map(([row]): Caller => ({ organizationId, role, ...(row && { apiKeyId: row.id }) }))
    )
  )

export const makeConfig = Effect.fnUntraced(function* (name: string, isDefaultOutbound = false, organizationId = ours) {
  const configs = yield* TelephonyConfigs
  return yield* configs.create(organizationId, {
    name,
    provider: "fake",
    credentials: { account: "AC1", token: "secret-9876" },
    isDefaultOutbound
  })
})

export const eventsOf = (id: CampaignId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql<{ readonly event: string }>`
    SELECT event FROM campaign_log WHERE campaign_id = ${id} ORDER BY id`.pipe(Effect.map((rows) => rows.map(({ event }) => event)))
  )

export const contacts = (id: CampaignId) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ rowNo: number; phoneNumber: string; context: Record<string, unknown>; state: string }>`
    SELECT row_no, phone_number, context, state FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`
  )

/** Sets contacts and counters as if they had been dialed. */
export const setDialed = (
  id: CampaignId,
  states: ReadonlyArray<{ readonly row: number; readonly state: string; readonly retries?: number; readonly reason?: string }>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const { reason = null, retries = 0, row, state } of states) {
      yield* sql`UPDATE contacts SET state = ${state}, retries_used = ${retries}::int, retry_reason = ${reason}::text,
        due_at = CASE WHEN ${state} = 'retry_wait' THEN now() END WHERE campaign_id = ${id} AND row_no = ${row}`
    }
    yield* sql`INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count)
      SELECT ${id}::int, count(*) FILTER (WHERE state <> 'pending'), count(*) FILTER (WHERE state <> 'pending') + sum(retries_used)
      FROM contacts WHERE campaign_id = ${id}`
    yield* sql`UPDATE campaigns c SET retries_queued = s.retries, completed_rows = s.completed, failed_rows = s.failed
      FROM (SELECT sum(retries_used)::int AS retries,
        (count(*) FILTER (WHERE state = 'completed'))::int AS completed, (count(*) FILTER (WHERE state = 'failed'))::int AS failed
        FROM contacts WHERE campaign_id = ${id}) s WHERE c.id = ${id}`
  })

export const started = Effect.fnUntraced(function* (contactCount?: number) {
  const campaigns = yield* Campaigns
  const { id } = yield* makeCampaign({}, contactCount)
  return yield* campaigns.start(ours, id)
})

/** The end of a call that was not answered, unless `more` says so. */
export const endOf = (more: Partial<AttemptEnd> = {}): AttemptEnd => ({
  answeredAt: undefined,
  cause: "no_answer",
  endedAt: Date.UTC(2030, 0),
  outcome: "no_answer",
  record: { gatheredContext: {}, logs: {}, recordingKey: undefined, transcriptKey: undefined, usageInfo: {} },
  ...more
})

/** Records a single call, as is done before it is dialed. */
export const beginCall = (
  callId: CallId,
  agent: Pick<Agent, "id" | "currentDefinitionId">,
  telephonyConfigurationId: TelephonyConfigId,
  more: Partial<SingleCall> = {}
) => {
  const which = { agentId: agent.id, definitionId: publishedOf(agent), organizationId: ours, telephonyConfigurationId }
  const call = { ...which, callId, from: undefined, initialContext: {}, isTest: false, phoneNumber: "+15550100001", ...more }
  return AttemptStore.use((store) => store.begin(call, { callId, journal, node: "here", provider: "fake" }))
}

/** One member of each row. */
export const column = <Row, Name extends keyof Row>(rows: ReadonlyArray<Row>, name: Name) => rows.map((row) => row[name])

/** The tag of a failure, or `none` for a success. */
export const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => (Result.isFailure(result) ? result.failure._tag : "none"))

/** Checks the tag with which each of these fails, one after the other; `none` stands for a success. */
export const fails = <R>(t: Test, rows: ReadonlyArray<readonly [expected: string, Effect.Effect<unknown, { readonly _tag: string }, R>]>) =>
  Effect.forEach(rows, ([expected, effect], index) => Effect.map(tag(effect), (came) => t.equal(came, expected, `${index}`)), {
    discard: true
  })
