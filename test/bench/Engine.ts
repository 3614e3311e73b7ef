/** The engine as in production: its own process, on the benchmark's database, used through its API. */
import { Effect, type Scope } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { Agent, request } from "node:http"
import { variables } from "#runtime/config/config.ts"
import { type Child, startChild } from "./Child.ts"
import type { Database } from "./Database.ts"
import type { EmulatorAddress } from "./emulatorMain.ts"
import { freePort } from "#test/support/freePort.ts"
import { parse } from "#test/support/prometheus.ts"

const READY_TIMEOUT = "2 minutes"
const answerMillis = 60_000
/** Shorter than the time for which the engine keeps an idle connection. */
const idleMillis = 4000

export interface Engine {
  readonly child: Child
  readonly address: { readonly port: number; readonly key: string }
  readonly get: (path: string) => Effect.Effect<unknown>
  readonly post: (path: string, body?: object) => Effect.Effect<unknown>
  readonly put: (path: string, body: object) => Effect.Effect<unknown>
  /** Returns the key of the uploaded file. */
  readonly upload: (csv: string) => Effect.Effect<string>
  /** The same engine, used with another key. */
  readonly as: (key: string) => Engine
}

interface EngineSettings {
  readonly environment?: Readonly<Record<string, string>>
  /** Replaces `runtime/start.js`; relative to this folder. */
  readonly file?: string
  readonly nodeOptions?: ReadonlyArray<string>
  /** The folder that npm packages of its adapters and services are installed in. */
  readonly cwd?: string | undefined
}

const defaults = {
  ADAPTERS: "ari",
  CALL_RATE: "1000",
  DRAIN: "0",
  HEARING: "off",
  HOST: "127.0.0.1",
  LOG_FORMAT: "json",
  NODE_NAME: "bench",
  ORG_CONCURRENCY: "100",
  PORT: "0",
  RECORDINGS: "off",
  TRUNK_RATE: "1000"
}

/** Leaves out the settings in the shell's environment, which are meant for another engine. */
export const environmentOf = (settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv => {
  const names = new Set(variables.map(({ name }) => name))
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.has(name))), ...settings }
}

/** The environment of an engine on the database, with its files in the folder. */
export const engineEnvironment = ({ folder, url }: Pick<Database, "folder" | "url">, settings: Readonly<Record<string, string>>) =>
  environmentOf({ ...defaults, ...settings, DATABASE_URL: url, DATA_DIR: folder })

export const startEngine = (
  database: Pick<Database, "folder" | "url">,
  { cwd, environment, file = "../../runtime/start.js", nodeOptions = [] }: EngineSettings = {}
): Effect.Effect<Engine, never, Scope.Scope> =>
  Effect.gen(function* () {
    const key = randomBytes(16).toString("hex")
    const child = yield* startChild({
      cwd,
      file,
      environment: engineEnvironment(database, { ...environment, API_KEY: key }),
      nodeOptions
    })
    const [, site = ""] = yield* child.line(/^Trunkline is ready at (\S+)/).pipe(Effect.timeout(READY_TIMEOUT), Effect.orDie)
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true, timeout: idleMillis })),
      (opened) => Effect.sync(() => opened.destroy())
    )
    return engineOf(child, site, agent, key)
  })

const engineOf = (child: Child, site: string, agent: Agent, key: string): Engine => {
  const json = { "content-type": "application/json", "x-api-key": key }
  const ask = (method: string, path: string, body?: object) =>
    exchange({ agent, method, url: `${site}/api/v1${path}`, headers: json, body: body === undefined ? undefined : JSON.stringify(body) })
  return {
    child,
    address: { port: Number(new URL(site).port), key },
    as: (other) => engineOf(child, site, agent, other),
    get: (path) => ask("GET", path),
    post: (path, body) => ask("POST", path, body),
    put: (path, body) => ask("PUT", path, body),
    upload: Effect.fnUntraced(function* (csv) {
      const address = yield* ask("POST", "/s3/presigned-upload-url", {
        file_name: "list.csv",
        file_size: Buffer.byteLength(csv),
        content_type: "text/csv"
      })
      yield* exchange({ agent, method: "PUT", url: textAt(address, "upload_url"), headers: { "content-type": "text/csv" }, body: csv })
      return textAt(address, "file_key")
    })
  }
}

interface Exchange {
  readonly agent: Agent
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Any answer except success ends the benchmark. */
const exchange = ({ agent, body, headers, method, url }: Exchange): Effect.Effect<unknown> =>
  Effect.callback((resume) => {
    const failed = (why: unknown) => resume(Effect.die(new Error(`${method} ${new URL(url).pathname}: ${why}`)))
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
    const outgoing = request(url, { agent, method, headers: { ...headers, ...length }, timeout: answerMillis }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("end", () => {
        const text = Buffer.concat(parts).toString()
        if (response.statusCode === 200) resume(Effect.succeed(JSON.parse(text)))
        else failed(`${response.statusCode} ${text}`)
      })
    })
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")))
    outgoing.on("error", failed)
    outgoing.end(body)
  })

const at = (answer: unknown, name: string): unknown => (answer instanceof Object ? Reflect.get(answer, name) : undefined)
const textAt = (answer: unknown, name: string): string => String(at(answer, name))
export const numberAt = (answer: unknown, name: string): number => Number(at(answer, name))

/** Needs `METRICS` to be on. */
export const metricsOf = ({ address }: Engine) =>
  Effect.map(
    Effect.promise(async () => await (await fetch(`http://127.0.0.1:${address.port}/metrics`)).text()),
    parse
  )

/** Creates a telephony configuration for the emulator, and an agent, whose id is returned. */
export const prepare = Effect.fnUntraced(function* (engine: Engine, emulator: EmulatorAddress, greeting = "") {
  yield* dialsThrough(engine, emulator)
  return yield* createAgent(engine, greeting)
})

/** Calls go through this emulated Asterisk. */
export const dialsThrough = (engine: Engine, { password, url, user }: EmulatorAddress) =>
  createTelephonyConfig(engine, {
    provider: "ari",
    ari_endpoint: url,
    app_name: user,
    app_password: password,
    dial_string: "PJSIP/{number}@trunk"
  })

const createTelephonyConfig = (engine: Engine, config: object) =>
  Effect.map(engine.post("/organizations/telephony-configs", { name: "emulator", config, is_default_outbound: true }), (created) =>
    numberAt(created, "id")
  )

/** The environment of an engine whose calls go through this emulated Twilio, and what sets them up, from the number that they show. */
export const throughTwilio = Effect.fnUntraced(function* ({ password, url, user }: EmulatorAddress, from: string) {
  const port = yield* Effect.promise(freePort)
  const environment = {
    ADAPTERS: "twilio",
    PORT: String(port),
    PROVIDER_URLS: `twilio=${url}`,
    PUBLIC_URL: `http://127.0.0.1:${port}`
  }
  const setUp = Effect.fnUntraced(function* (engine: Engine) {
    const id = yield* createTelephonyConfig(engine, { provider: "twilio", account_sid: user, auth_token: password })
    yield* engine.post(`/organizations/telephony-configs/${id}/phone-numbers`, { address: from })
  })
  return { environment, setUp }
})

/** Creates an agent that greets, unless it is another; returns its id. */
export const createAgent = (engine: Engine, greeting = "", graph: object = greets(greeting)) =>
  Effect.map(engine.post("/workflow/create/definition", { name: "Reminder", workflow_definition: graph }), (created) =>
    numberAt(created, "id")
  )
const greets = (greeting: string) => ({
  nodes: [
    {
      id: "1",
      type: "startCall",
      position: { x: 0, y: 0 },
      data: { name: "Start", prompt: "Greet.", greeting_type: "text", greeting }
    }
  ],
  edges: []
})

/** Creates another organization, and returns the engine as it sees it. */
export const neighbourOf = ({ sql }: Database, engine: Engine) =>
  Effect.promise(async () => {
    const key = randomBytes(16).toString("hex")
    const [row] = await sql<Array<{ id: number }>>`
      INSERT INTO organizations (name, concurrency_limit) VALUES ('Neighbour', 10) RETURNING id`
    await sql`
      INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role)
      VALUES (${row?.id ?? 0}, 'bench', ${key.slice(0, 8)}, ${createHash("sha256").update(key).digest("hex")}, 'owner')`
    return engine.as(key)
  })

/** Creates a campaign from an uploaded list, with these settings; returns its id. */
export const createCampaign = Effect.fnUntraced(function* (engine: Engine, agentId: number, csv: string, settings: object = {}) {
  const source_id = yield* engine.upload(csv)
  const campaign = yield* engine.post("/campaign/create", {
    name: "Bench",
    workflow_id: agentId,
    source_type: "csv",
    source_id,
    ...settings
  })
  return numberAt(campaign, "id")
})
