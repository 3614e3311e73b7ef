/**
 * The whole engine as a separate process on its own database, with an emulated Asterisk as the far end: the setting of a story. Stories are
 * judged by the callees' log, with which the database is then compared.
 */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Static } from "typebox"
import type { Test } from "tap"
import type { AgentWire } from "#gateway/wire/Agent.ts"
import type { CampaignProgressWire, CampaignWire } from "#gateway/wire/Campaign.ts"
import type { UploadAddress } from "#gateway/wire/File.ts"
import type { RunPageWire, RunWire } from "#gateway/wire/Run.ts"
import type { TelephonyConfigWire } from "#gateway/wire/Telephony.ts"
import type { RetryConfig } from "#core/campaign/RetryPolicy.ts"
import { type AriEmulator, type AriEmulatorOptions, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { noteContactMoves, strayMoves } from "./contactMoves.ts"
import { removeData } from "./dataFolder.ts"
import "./documentedFetch.ts"
import { type Engine, type EngineProcess, type Environment, spawnEngine, startEngine } from "./EngineProcess.ts"
import { openDatabase, witness } from "./postgres.ts"
import "./priority.ts"
import { unlessUnread } from "./unlessUnread.ts"
import { seldom, until, untilTrue } from "./until.ts"

export type Campaign = Static<typeof CampaignWire>
export type Run = Static<typeof RunWire>
export type Witness = ReturnType<typeof witness>

/** Answers take far less, except on a machine that is busy with other work. */
const answerMillis = 300_000

export { nowMillis, until, untilTrue } from "./until.ts"

export interface Answer {
  readonly status: number
  readonly body: unknown
}
type CampaignSettings = Readonly<Record<string, unknown>>

/** The part of the API that stories use. */
export class Api {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.#url = `${url}/api/v1`
    this.#key = key
  }

  async ask(method: string, path: string, body?: object): Promise<Answer> {
    // A new connection for each request, because the engine closes idle ones while a busy machine delays the test.
    const headers = { "x-api-key": this.#key, "content-type": "application/json", connection: "close" }
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(this.#url + path, { method, headers, ...content, signal: AbortSignal.timeout(answerMillis) })
    return { status: response.status, body: await response.json() }
  }

  /**
   * Repeats the request while the engine sheds load on a busy machine, or closes a connection before it has read from it: then the request has had
   * no effect. Fails unless the answer is a 200. The cast holds because the service builds its answers from the same types.
   */
  async #must<Body>(method: string, path: string, body?: object): Promise<Body> {
    const answer = await until(
      `answer to ${method} ${path} other than a refusal for load`,
      async () => {
        const answer = await this.ask(method, path, body).catch(unlessUnread)
        if (answer === undefined) return undefined
        return answer.status === 503 && JSON.stringify(answer.body).includes("overloaded") ? undefined : answer
      },
      undefined,
      seldom
    )
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body as Body
  }

  createConfig(config: Readonly<Record<string, unknown>>, name = "far end") {
    const body = { name, config: { provider: "ari", ...config }, is_default_outbound: true }
    return this.#must<Static<typeof TelephonyConfigWire>>("POST", "/organizations/telephony-configs", body)
  }

  async createAgent(greeting: string, configurations: object = {}) {
    const start = {
      id: "1",
      type: "startCall",
      position: { x: 0, y: 0 },
      data: { name: "Start", prompt: "Greet.", greeting_type: "text", greeting }
    }
    const definition = { name: "Reminder", workflow_definition: { nodes: [start], edges: [] } }
    const { id } = await this.#must<Static<typeof AgentWire>>("POST", "/workflow/create/definition", definition)
    return await this.#must<Static<typeof AgentWire>>("PUT", `/workflow/${id}`, { workflow_configurations: configurations })
  }

  async upload(csv: string): Promise<string> {
    const file = { file_name: "list.csv", file_size: Buffer.byteLength(csv), content_type: "text/csv" }
    const { file_key, upload_url } = await this.#must<Static<typeof UploadAddress>>("POST", "/s3/presigned-upload-url", file)
    const { status } = await fetch(upload_url, { method: "PUT", headers: { "content-type": "text/csv" }, body: csv })
    if (status !== 200) throw new Error(`upload: ${status}`)
    return file_key
  }

  /** Creates a draft with one contact per number. */
  async createCampaign(agentId: number, numbers: ReadonlyArray<string>, settings: CampaignSettings = {}): Promise<Campaign> {
    const source_id = await this.upload(["phone_number,first_name", ...numbers.map((number) => `${number},Ada`), ""].join("\n"))
    return await this.#must<Campaign>("POST", "/campaign/create", {
      name: "Reminder",
      workflow_id: agentId,
      source_type: "csv",
      source_id,
      ...settings
    })
  }

  /** Resolves when the answer has arrived. */
  start = (id: number) => this.#must<Campaign>("POST", `/campaign/${id}/start`)
  pause = (id: number) => this.#must<Campaign>("POST", `/campaign/${id}/pause`)
  resume = (id: number) => this.#must<Campaign>("POST", `/campaign/${id}/resume`)
  campaign = (id: number) => this.#must<Campaign>("GET", `/campaign/${id}`)
  progress = (id: number) => this.#must<Static<typeof CampaignProgressWire>>("GET", `/campaign/${id}/progress`)

  async runs(id: number): Promise<ReadonlyArray<Run>> {
    const runs: Array<Run> = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const found = await this.#must<Static<typeof RunPageWire>>("GET", `/campaign/${id}/runs?limit=100&sort_order=asc&page=${page}`)
      runs.push(...found.runs)
      pages = found.total_pages
    }
    return runs
  }

  call = (agentUuid: string, phoneNumber: string) => this.ask("POST", `/public/agent/workflow/${agentUuid}`, { phone_number: phoneNumber })

  untilState = (id: number, state: Campaign["state"]): Promise<Campaign> =>
    until(
      `campaign that is ${state}`,
      async () => {
        const campaign = await this.campaign(id)
        return campaign.state === state ? campaign : undefined
      },
      undefined,
      seldom
    )
}

/** How often each event occurs in a campaign's log. */
export const eventsOf = (campaign: Campaign): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { event } of campaign.logs) counts[event] = (counts[event] ?? 0) + 1
  return counts
}

/** A greeting, for stories about calls with audio whose callees are silent. */
export const aloud = "Good morning."

export interface WorldOptions {
  readonly emulator?: AriEmulatorOptions
  readonly environment?: Environment
  /** Where the packages of its adapters and services are installed. */
  readonly folder?: string | undefined
  /** An account at another Asterisk, instead of the emulator's. */
  readonly account?: Readonly<Record<string, unknown>>
  /** What callees hear first. By default nothing if the callees are silent too (`media: false`), because audio is half the cost of a call. */
  readonly greeting?: string
  readonly configurations?: object
  /** Proxies between the engine and others: each takes a URL and returns the one that the engine is given instead. */
  readonly ways?: {
    readonly asterisk?: (url: string) => Promise<string>
    readonly database?: (url: string) => Promise<string>
  }
}

/** An engine with a telephony configuration and an agent, until the test ends. */
export class World {
  static async open(t: Test, options: WorldOptions = {}): Promise<World> {
    const dataDir = await mkdtemp(join(tmpdir(), "trunkline-journey-"))
    t.teardown(() => removeData(dataDir))
    const { url } = await openDatabase(t)
    const sql = witness(url)
    t.teardown(() => sql.end())
    const emulator = await startAriEmulator(options.emulator)
    t.teardown(() => emulator.stop())
    const { asterisk, database } = options.ways ?? {}
    const databaseUrl = (await database?.(url)) ?? url
    const environment = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ...options.environment }
    const world = new World(emulator, sql, dataDir, environment, options.folder)
    // The engine may not have started.
    t.teardown(() => world.#engine && world.end())
    await world.launch()
    await noteContactMoves(sql)
    const address = (await asterisk?.(emulator.url)) ?? emulator.url
    const account = options.account ?? { ari_endpoint: address, app_name: emulator.user, app_password: emulator.password }
    await world.api.createConfig(account)
    const greeting = options.emulator?.media === false ? "" : aloud
    const agent = await world.api.createAgent(options.greeting ?? greeting, options.configurations)
    world.agentId = agent.id
    world.agentUuid = agent.workflow_uuid
    return world
  }

  readonly apiKey = "journey-key-0123456789abcdef"
  readonly emulator: AriEmulator
  readonly sql: Witness
  readonly dataDir: string
  agentId = 0
  agentUuid = ""
  #environment: Environment
  /** Where the packages of its adapters and services are installed. */
  readonly folder: string | undefined
  #engine: Engine | undefined
  #ended = ""

  private constructor(emulator: AriEmulator, sql: Witness, dataDir: string, environment: Environment, folder: string | undefined) {
    this.folder = folder
    this.emulator = emulator
    this.sql = sql
    this.dataDir = dataDir
    this.#environment = {
      API_KEY: this.apiKey,
      PORT: "0",
      NODE_NAME: "journey",
      METRICS: "on",
      RING_TIMEOUT: "15",
      CALL_RATE: "50",
      TRUNK_RATE: "100",
      ...environment
    }
  }

  /** The environment for another engine on the same database. */
  get environment(): Environment {
    return this.#environment
  }
  get engine(): Engine {
    if (this.#engine === undefined) throw new Error("the engine does not run")
    return this.#engine
  }
  get api(): Api {
    return new Api(this.engine.url, this.apiKey)
  }
  /** The output of all engine processes so far. */
  output(): string {
    return this.#ended + (this.#engine?.output() ?? "")
  }

  /** Starts another process with the same database, data and name; the previous one must have exited. */
  async launch(environment: Environment = {}): Promise<void> {
    this.#ended = this.output()
    this.#engine = await startEngine({ ...this.#environment, ...environment }, this.folder)
  }
  /** Continues with another engine on the same database, which has taken over. */
  become(engine: Engine): void {
    this.#engine = engine
  }
  /** Keeps the output of a process that has ended. */
  keep({ output }: EngineProcess): void {
    this.#ended += output()
  }
  /** Starts a process that is to be killed during its start, without waiting for it. As with `launch`, the previous one must have exited. */
  spawn(environment: Environment = {}): EngineProcess {
    return spawnEngine({ ...this.#environment, ...environment }, this.folder)
  }
  async end(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): ReturnType<() => Engine["exited"]> {
    this.engine.kill(signal)
    return await this.engine.exited
  }

  /** Creates a draft; `retry` may go below what the API allows, so that a story need not wait for half a minute. */
  async campaign(
    numbers: ReadonlyArray<string>,
    settings: CampaignSettings & { readonly retry?: Partial<RetryConfig> } = {}
  ): Promise<Campaign> {
    const { retry, ...wire } = settings
    const campaign = await this.api.createCampaign(this.agentId, numbers, wire)
    const patch = this.sql.json({ maxRetries: 1, retryDelaySeconds: 1, ...retry })
    await this.sql`UPDATE campaigns SET retry_config = retry_config || ${patch} WHERE id = ${campaign.id}`
    return campaign
  }

  /** Resolves when the callees have seen this many of these events in total. */
  seen(kind: "originate" | "ringing" | "answered" | "ended", count: number, millis?: number): Promise<true> {
    return untilTrue(`${kind} number ${count}`, () => this.emulator.log.count(kind) >= count, millis)
  }
}

/** The counters as the API shows them. */
export const shownCounters = async (api: Api, id: number) => {
  const [campaign, progress] = await Promise.all([api.campaign(id), api.progress(id)])
  return {
    total: progress.total,
    processed: progress.processed,
    completed: progress.completed,
    failed: progress.failed,
    cancelled: progress.cancelled,
    pending: progress.pending,
    failedCalls: progress.failed_calls,
    executed: campaign.executed_count,
    queued: campaign.total_queued_count
  }
}
type Counters = Awaited<ReturnType<typeof shownCounters>>

/** The same counters from a full scan of contacts and attempts. */
export const recounted = async (sql: Witness, id: number): Promise<Counters> => {
  const [counters] = await sql<Array<Counters>>`
    SELECT c.*, a.*, c.total - a.processed - c.cancelled AS pending
    FROM (
      SELECT count(*)::int AS total, count(*) FILTER (WHERE state = 'completed')::int AS completed,
        count(*) FILTER (WHERE state = 'failed')::int AS failed, count(*) FILTER (WHERE state = 'cancelled')::int AS cancelled,
        (count(*) + sum(retries_used))::int AS queued
      FROM contacts WHERE campaign_id = ${id}
    ) c CROSS JOIN (
      SELECT count(DISTINCT row_no)::int AS processed, count(*)::int AS executed,
        count(*) FILTER (WHERE outcome IN ('failed', 'error', 'busy', 'no_answer', 'unknown'))::int AS "failedCalls"
      FROM attempts WHERE campaign_id = ${id} AND state <> 'void'
    ) a`
  if (counters === undefined) throw new Error("a count without a row")
  return counters
}

interface AttemptRow {
  readonly id: string
  readonly phoneNumber: string
  readonly state: string
  readonly outcome: string | null
  readonly cause: string | null
  readonly contact: string
}
export const attemptsOf = (sql: Witness, id: number) =>
  sql<Array<AttemptRow>>`
    SELECT a.id, c.phone_number AS "phoneNumber", a.state, a.outcome, a.hangup_cause AS cause, c.state AS contact
    FROM attempts a JOIN contacts c USING (campaign_id, row_no) WHERE a.campaign_id = ${id} ORDER BY a.created_at`

/** Leaves out attempts that were given back before anything was sent, of which a busy machine has more. */
export const placedBy = async (sql: Witness, id: number) => (await attemptsOf(sql, id)).filter(({ state }) => state !== "void")

/** How many contacts are in each state, as the API shows it. */
export const contactStates = async (sql: Witness, id: number): Promise<Readonly<Record<string, number>>> => {
  const rows = await sql<Array<{ state: string; count: number }>>`
    SELECT CASE WHEN c.state = 'dialing' AND a.id IS NOT NULL THEN 'in_call' ELSE c.state END AS state, count(*)::int
    FROM contacts c LEFT JOIN attempts a ON a.campaign_id = c.campaign_id AND a.row_no = c.row_no AND a.state = 'answered'
    WHERE c.campaign_id = ${id} GROUP BY 1`
  return Object.fromEntries(rows.map(({ count, state }) => [state, count]))
}

/** Numbers that take turns with these endings; the emulator's `Callee.ts` says what the endings mean. */
export const numbersOf = (count: number, endings: ReadonlyArray<string>, prefix = "+1555"): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => {
    const ending = endings[index % endings.length] ?? ""
    return `${prefix}${String(index + 1).padStart(7 - ending.length, "0")}${ending}`
  })

/** What must be true of every finished campaign, whatever happened to it: first for the callees, then for our record of it. */
export const judge = async (t: Test, world: World, id: number, cap: number): Promise<void> => {
  const {
    api,
    emulator: { log },
    sql
  } = world
  const attempts = await attemptsOf(sql, id)
  const placed = attempts.filter(({ state }) => state !== "void")
  const known = new Map(attempts.map((attempt) => [attempt.id, attempt]))
  const numbers = new Set(attempts.map(({ phoneNumber }) => phoneNumber))
  const dials = log.entries.filter(({ kind, number }) => kind === "originate" && numbers.has(number))

  t.equal(new Set(dials.map(({ channelId }) => channelId)).size, dials.length, "no attempt was dialed twice")
  const strays = dials.filter(({ channelId, number }) => known.get(channelId)?.phoneNumber !== number)
  t.strictSame(strays, [], "each dial belongs to an attempt for that number")
  const voids = dials.filter(({ channelId }) => known.get(channelId)?.state === "void")
  t.strictSame(voids, [], "no void attempt was dialed")
  t.ok(log.mostLive() <= cap, `at most ${cap} calls were up at once: ${log.mostLive()}`)
  t.equal(log.live(), 0, "no call is up any more")

  const open = placed.filter(({ state }) => state !== "ended")
  t.strictSame(open, [], "every attempt has ended")
  const undone = attempts.filter(({ contact }) => contact !== "completed" && contact !== "failed")
  t.strictSame(undone, [], "every contact is done")
  t.strictSame(await strayMoves(sql), [], "no contact made a forbidden change of state")
  t.strictSame(await shownCounters(api, id), await recounted(sql, id), "counters are what a recount gives")
  const runs = await api.runs(id)
  t.equal(runs.length, placed.length, "one run for each attempt")
  const incomplete = runs.filter((run) => !run.is_completed)
  t.strictSame(incomplete, [], "every run is complete")
}
