/** The whole API on real core services, a real database and real files. Only what dials is missing. */
import { Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { createHash, randomUUID } from "node:crypto"
import type { Test } from "tap"
import ariAdapter from "#adapters/ari/ari.ts"
import { HeavyLanes, makeHeavyLanes } from "#core/load/HeavyWork.ts"
import { Agents } from "#core/agent/Agents.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { BrowserRuns } from "#core/call/BrowserRuns.ts"
import { Calls } from "#core/call/Calls.ts"
import { TextChats } from "#core/chat/TextChats.ts"
import { CallNotPlaced, ConcurrencyExhausted, Dialer, type SingleCall } from "#core/call/Dialer.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { OptOuts } from "#core/contact/OptOuts.ts"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { Uploads } from "#core/file/Uploads.ts"
import { Folders } from "#core/folder/Folders.ts"
import { CallId, type OrganizationId, RunId, type TelephonyConfigId } from "#core/Id.ts"
import { Idempotency } from "#core/Idempotency.ts"
import * as accounts from "#core/services/accounts.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { LinkMakers } from "#core/organization/LinkMakers.ts"
import { Tokens } from "#core/organization/Tokens.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import { Engines } from "#core/node/Engines.ts"
import { NodeLinks } from "#core/node/NodeLinks.ts"
import { CarrierMedia } from "#core/provider/CarrierMedia.ts"
import { Registry } from "#core/provider/Registry.ts"
import * as resources from "#core/services/resources.ts"
import { Reports } from "#core/report/Reports.ts"
import { Retentions } from "#core/file/Retentions.ts"
import { Runs } from "#core/run/Runs.ts"
import { Signals, StopUnconfirmed } from "#core/Signals.ts"
import { CarrierNumbers, CarrierNumbersFailed, CarrierNumbersUnsupported } from "#core/telephony/CarrierNumbers.ts"
import { NumberImports } from "#core/telephony/NumberImports.ts"
import { PhoneNumbers } from "#core/telephony/PhoneNumbers.ts"
import { TelephonyConfigNotFound } from "#core/telephony/TelephonyConfig.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { TelephonyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import { TelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { TrunkSignals } from "#core/telephony/TrunkSignals.ts"
import type { GatewayOptions } from "#gateway/api.ts"
import * as Api from "#gateway/api.ts"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"
import { Readiness } from "#gateway/ports/Readiness.ts"
import { RunOwners } from "#gateway/ports/RunOwners.ts"
import * as AgentTester from "#runtime/conversation/AgentTester.ts"
import { HttpTools } from "#runtime/conversation/HttpTools.ts"
import { WebhookSender } from "#runtime/webhook/WebhookSender.ts"
import * as passwords from "#runtime/identity/passwords.ts"
import * as chatTalk from "#runtime/conversation/chatTalk.ts"
import * as events from "#runtime/events.ts"
import { tokensOf } from "#runtime/identity/tokens.ts"
import * as CsvSource from "#runtime/storage/CsvSource.ts"
import * as NationalNumbers from "#runtime/telephony/NationalNumbers.ts"
import { Files } from "#runtime/storage/Files.ts"
import { filesIn, temporaryFolder } from "#test/support/dataFolder.ts"
import { egress } from "#test/support/egress.ts"
import * as given from "#test/support/given.ts"
import { clientLayer, openDatabase, type TestDatabase } from "#test/support/postgres.ts"
import { deafServices, servicesLayer } from "#test/support/services.ts"
import { type Judge, judgeOf } from "./documented.ts"
import { browserCalls, type FakeBrowsers } from "./fakeBrowsers.ts"
import { type Answer, send, type Sent, site, started } from "./gatewayTest.ts"
import "#test/support/documentedFetch.ts"

export interface TestApi extends Builders {
  readonly port: number
  /** The folder of its files. */
  readonly folder: string
  readonly judge: Judge
  readonly stop: () => Promise<void>
  readonly database: TestDatabase
  readonly organizationId: OrganizationId
  readonly otherId: OrganizationId
  /**
   * The numbers that the provider has for an account, by configuration. `undefined`: the provider fails. Other configurations cannot be
   * queried.
   */
  readonly carrierNumbers: Map<number, ReadonlyArray<string> | undefined>
  /** The requests for single calls. */
  readonly dialed: Array<SingleCall>
  /** The calls from browsers that have begun, and why the next ones are refused. */
  readonly browsers: FakeBrowsers
  /** Whether the database answers, as readiness sees it, and whether stops of campaigns are confirmed. */
  readonly health: { isUp: boolean; isStopHeard: boolean }
  /** Sends a request with the first organization's key. */
  readonly ask: (method: string, path: string, json?: unknown, sent?: Sent) => Promise<Answer>
  /** Sends a request with another organization's key. */
  readonly askAsOther: (method: string, path: string, json?: unknown) => Promise<Answer>
  readonly writeFile: (key: string, text: string) => Promise<void>
  /** Runs a statement beyond any organization, and returns its rows. */
  readonly sql: <Row extends object>(text: TemplateStringsArray, ...values: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
  /** Ends a campaign: all contacts have failed. Their last calls had these outcomes, by row, and the last of these in all later rows. */
  readonly completed: (campaign: number, ...outcomes: readonly [string, ...ReadonlyArray<string>]) => Promise<void>
  /** Inserts a run of an agent, with these columns beside the required ones, and returns its id. */
  readonly makeRun: (agent: number, columns?: Readonly<Record<string, unknown>>) => Promise<number>
  /** Inserts a key with these columns, by default an owner's of the first organization, and returns what a client sends. */
  readonly makeKey: (columns?: Readonly<Record<string, unknown>>) => Promise<string>
  /** What is in the file store, drafts included. */
  readonly filesThere: () => ReadonlyArray<string>
  /** The same for the other organization. */
  readonly others: Builders
}

interface Builders {
  /** Uploads a list, and returns its key. */
  readonly upload: (csv: string) => Promise<string>
  readonly makeAgent: (workflow_definition?: object, more?: object) => Promise<Json>
  /** Creates a campaign of two contacts. */
  readonly makeCampaign: (more?: object) => Promise<Json>
}

/** An answer of ours whose shape the test knows. */
export type Json = Readonly<Record<string, never>> & { readonly id: number }
export const bodyOf = (answer: { readonly json: unknown }): Json => answer.json as Json // See above.

export const nextIn = ({ headers }: Answer): string | undefined => /^<(\/api\/v1\/[^>]+)>; rel="next"$/.exec(String(headers["link"]))?.[1]
/** The answers to requests for a list, for as long as each leads to a next one. */
export const pagesOf = async (ask: TestApi["ask"], path: string): Promise<ReadonlyArray<Answer>> => {
  const pages: Array<Answer> = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer: Answer = await ask("GET", next)
    const isLinked = answer.headers["link"] === undefined || nextIn(answer) !== undefined
    if (answer.status !== 200 || !isLinked || pages.length > 50) throw new Error(`${next}: ${answer.status} ${answer.headers["link"]}`)
    pages.push(answer)
    next = nextIn(answer)
  }
  return pages
}

export const graph = {
  nodes: [
    { id: "1", type: "startCall", position: { x: 0, y: 0 }, data: { name: "Start", prompt: "Greet.", greeting: "Hello {{first_name}}" } }
  ],
  edges: [],
  viewport: { zoom: 1 }
}
export const ari = { provider: "ari", ari_endpoint: "http://127.0.0.1:8088", app_name: "trunkline", app_password: "password1" }
export const csv = "phone_number,first_name\n+15550100001,Ada\n+15550100002,Bob\n"

const builders = (ask: TestApi["ask"]): Builders => {
  const upload = async (text: string) => {
    const ticket = bodyOf(await ask("POST", "/s3/presigned-upload-url", { file_name: "my list.csv", file_size: text.length }))
    await fetch(String(ticket["upload_url"]), { method: "PUT", body: text, headers: { "content-type": "text/csv" } })
    return String(ticket["file_key"])
  }
  const makeAgent = async (workflow_definition: object = graph, more: object = {}) =>
    bodyOf(await ask("POST", "/workflow/create/definition", { name: "Reminder", workflow_definition, ...more }))
  const makeCampaign = async (more: object = {}) => {
    const { id } = await makeAgent()
    const source_id = await upload(csv)
    return bodyOf(await ask("POST", "/campaign/create", { name: "Spring", workflow_id: id, source_type: "csv", source_id, ...more }))
  }
  return { upload, makeAgent, makeCampaign }
}

const rowsOf = ({ run }: TestDatabase, organizationId: OrganizationId): Pick<TestApi, "sql" | "makeRun" | "makeKey" | "completed"> => {
  const sql: TestApi["sql"] = (text, ...values) => run(SqlClient.SqlClient.use((sql) => sql(text, ...values)))
  const insert = async (table: string, row: object) => {
    const [made] = await run(
      SqlClient.SqlClient.use((sql) => sql<{ readonly id: number }>`INSERT INTO ${sql(table)} ${sql.insert({ ...row })} RETURNING id`)
    )
    return made?.id ?? 0
  }
  const makeRun: TestApi["makeRun"] = async (agent, columns) => {
    const [own] = await sql<{ readonly organizationId: number; readonly definition: number }>`
      SELECT organization_id, current_definition_id AS definition FROM agents WHERE id = ${agent}`
    const ids = { organization_id: own?.organizationId, agent_id: agent, agent_definition_id: own?.definition, attempt_id: randomUUID() }
    return insert("runs", { ...ids, name: "WR", mode: "ari", initial_context: "{}", ...columns })
  }
  let made = 0
  const makeKey: TestApi["makeKey"] = async (columns) => {
    const key = `tlk_key_of_tests_${++made}_0123456789`
    const key_hash = createHash("sha256").update(key).digest("hex")
    const names = { organization_id: organizationId, name: "of a test", key_prefix: "tlk_key_", key_hash }
    await insert("api_keys", { ...names, role: "owner", ...columns })
    return key
  }
  const completed: TestApi["completed"] = async (campaign, ...outcomes) => {
    await sql`UPDATE contacts SET state = 'failed', last_outcome = (${outcomes}::text[])[least(row_no - 1, ${outcomes.length}::int)]
      WHERE campaign_id = ${campaign}`
    await sql`UPDATE campaigns SET state = 'completed', failed_rows = total_rows WHERE id = ${campaign}`
  }
  return { sql, makeRun, makeKey, completed }
}

const keys = { ours: "dgr_ours_0000000000", other: "dgr_other_000000000" }

const dialer = (dialed: Array<SingleCall>) =>
  Layer.succeed(Dialer, {
    dial: (call) => {
      dialed.push(call)
      if (call.phoneNumber.endsWith("02")) return Effect.fail(new CallNotPlaced({ reason: "number refused" }))
      if (call.phoneNumber.endsWith("03")) return Effect.fail(new ConcurrencyExhausted())
      return Effect.succeed({ runId: RunId.make(11), runName: "WR-API-0011", callId: CallId.make("00000000-0000-4000-8000-000000000001") })
    }
  })

const wellTested = { at: 0, checks: [{ message: "It answers.", name: "connection", result: "passed" as const }], passed: true }

const ownConfiguration = (sql: SqlClient.SqlClient, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql`SELECT 1 FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(
    Effect.orDie,
    Effect.flatMap((rows) => (rows.length === 0 ? Effect.fail(new TelephonyConfigNotFound({ id })) : Effect.void))
  )

/** Password checks cost next to nothing here. */
const accountsLayer = accounts.layer.pipe(
  Layer.provide(passwords.layer({ cost: 16, blockSize: 8, parallelization: 1 })),
  Layer.provide(Layer.succeed(Tokens, tokensOf(Redacted.make("the secret of the tokens in these tests"))))
)

const runOwners = Layer.effect(
  RunOwners,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    owns: (organizationId, id) =>
      sql`SELECT 1 FROM runs WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.orDie
      )
  }))
)

/** The services of agents that speak with this model. */
const speakingWith = (model: OpenLanguageModel) =>
  Layer.succeed(AgentServices, { chosenFor: () => Effect.succeed({ ...deafServices, model }) })

interface ApiOptions extends Partial<GatewayOptions> {
  readonly adapters?: ReadonlyArray<Adapter>
  /** The model of every agent, instead of the built-in one. */
  readonly model?: OpenLanguageModel
}

/** On a busy machine, work may have to wait longer than a client would. */
const patienceMillis = 300_000

/** Checks every answer against the OpenAPI document. `references` replace what the gateway would otherwise use. */
export const openApi = async (
  t: Test,
  references: Layer.Layer<never> = Layer.empty,
  { adapters = [ariAdapter], model, ...options }: ApiOptions = {}
): Promise<TestApi> => {
  const routes = Api.apiRoutes(adapters)
  const judge = judgeOf(routes)
  // Routes such as `/docs`.
  const outside = routes.map(({ path }) => path).filter((path) => !path.startsWith("/api/"))
  const folder = temporaryFolder(t)
  const database = await openDatabase(t)
  const [organizationId, otherId] = await database.run(function* () {
    const [ours, others] = [yield* given.organization({ name: "Ours" }), yield* given.organization({ name: "Other" })] as const
    yield* given.apiKey(ours, keys.ours)
    yield* given.apiKey(others, keys.other)
    return [ours, others] as const
  })
  const dialed: Array<SingleCall> = []
  const browsers: FakeBrowsers = { begun: [], expected: [], refusal: undefined }
  const health = { isStopHeard: true, isUp: true }
  const files = Files.layerLocal(folder)
  const fileStore = Layer.unwrap(Effect.map(Files, FileStore.layerOf)).pipe(Layer.provide(files))
  const readiness = Layer.succeed(Readiness, {
    databaseTrouble: Effect.sync(() => (health.isUp ? undefined : "The database does not answer")),
    obstacle: Effect.undefined,
    redis: Effect.succeed("not_used" as const),
    trunks: Effect.succeed([])
  })
  const signals = Layer.succeed(Signals, {
    campaignRunning: () => Effect.void,
    campaignStopped: () => (health.isStopHeard ? Effect.void : Effect.fail(new StopUnconfirmed({ retryAfterSeconds: 2 }))),
    campaignChanged: () => Effect.void
  })
  const trunkSignals = Layer.succeed(TrunkSignals, { configurationChanged: () => Effect.void, numbersChanged: () => Effect.void })
  const noMedia = Layer.succeed(CarrierMedia, { admit: () => ({ _tag: "Refused", status: 403 }) })
  const noLinks = Layer.succeed(NodeLinks, { open: () => ({ closed: () => {}, message: () => {} }) })
  const noCallbacks = Layer.succeed(CarrierCallbacks, { take: () => Effect.succeed({ body: "", mediaType: undefined, status: 403 }) })
  const tests = Layer.effect(
    TelephonyTests,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      last: () => Effect.succeed(new Map()),
      run: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.as(ownConfiguration(sql, organizationId, id), wellTested),
      runSoon: () => Effect.void
    }))
  )
  const preparations = Layer.effect(
    TelephonyPreparations,
    Effect.map(TelephonyTests, (tests) => ({
      run: (organizationId: OrganizationId, id: TelephonyConfigId) =>
        Effect.catchTag(Effect.asVoid(tests.run(organizationId, id)), "TooManyTelephonyTests", Effect.die),
      runSoon: () => Effect.void
    }))
  ).pipe(Layer.provide(tests))
  const carrierNumbers: TestApi["carrierNumbers"] = new Map()
  const numbersThere = Layer.effect(
    CarrierNumbers,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      list: Effect.fnUntraced(function* (organizationId: OrganizationId, id: TelephonyConfigId) {
        yield* ownConfiguration(sql, organizationId, id)
        if (!carrierNumbers.has(id)) return yield* new CarrierNumbersUnsupported({ provider: "Asterisk ARI" })
        return carrierNumbers.get(id) ?? (yield* new CarrierNumbersFailed({ provider: "Asterisk ARI", reason: "HTTP 500" }))
      })
    }))
  )
  const tools = HttpTools.layer.pipe(Layer.provide([CredentialSecrets.layer, WebhookSender.layer]))
  const agentTests = AgentTester.layer.pipe(Layer.provide(AgentServices.layer))
  const textChats = TextChats.layer.pipe(
    Layer.provide([model === undefined ? AgentServices.layer : speakingWith(model), chatTalk.layer.pipe(Layer.provide(tools))])
  )
  const services = Layer.mergeAll(Campaigns.layer, BrowserRuns.layer, Calls.layer, Idempotency.layer, agentTests, textChats).pipe(
    Layer.provide(CsvSource.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        Agents.layer,
        Folders.layer,
        Reports.layer,
        Retentions.layer.pipe(Layer.provide(CallKeeping.layer)),
        Runs.layer,
        Uploads.layer,
        accountsLayer,
        Layer.merge(PhoneNumbers.layer, NumberImports.layer).pipe(Layer.provide(NationalNumbers.layer)),
        TelephonyConfigs.layer,
        FileLinks.layer,
        LinkMakers.layer,
        Engines.layer,
        OptOuts.layer.pipe(Layer.provide(RecentOptOuts.layer)),
        runOwners,
        resources.layer,
        LiveFeedback.layer,
        events.followed
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        fileStore,
        readiness,
        tests,
        preparations,
        numbersThere,
        site,
        noCallbacks,
        noMedia,
        noLinks,
        Registry.layerOf(adapters),
        servicesLayer
      )
    ),
    Layer.provide(egress({ first: organizationId })),
    Layer.provideMerge(browserCalls(browsers)),
    Layer.provide(
      Layer.mergeAll(dialer(dialed), signals, trunkSignals, files, clientLayer(Redacted.make(database.url), { applicationName: "test" }))
    )
  )
  const gateway = await started(
    t,
    Layer.orDie(
      Api.layer({ host: "127.0.0.1", port: 0, checksAnswers: true, shedsLoad: false, ...options }).pipe(
        Layer.provide(services),
        Layer.provide(references),
        Layer.provide(Layer.sync(HeavyLanes, () => makeHeavyLanes(patienceMillis)))
      )
    )
  )
  const asking =
    (key: string) =>
    async (method: string, path: string, json?: unknown, sent: Sent = {}) => {
      const whole = path.startsWith("/api/") || outside.includes(path) ? path : `/api/v1${path}`
      return send({ ...gateway, judge }, method, whole, { key, ...(json === undefined ? {} : { json }), ...sent })
    }
  return {
    ...builders(asking(keys.ours)),
    others: builders(asking(keys.other)),
    ...rowsOf(database, organizationId),
    port: gateway.port,
    folder,
    judge,
    stop: gateway.stop,
    database,
    filesThere: () => filesIn(folder),
    organizationId,
    otherId,
    browsers,
    dialed,
    carrierNumbers,
    health,
    ask: asking(keys.ours),
    askAsOther: asking(keys.other),
    writeFile: (key, text) =>
      Effect.runPromise(
        FileStore.use((store) => store.write(key, Stream.make(Buffer.from(text)))).pipe(Effect.asVoid, Effect.provide(fileStore))
      )
  }
}
