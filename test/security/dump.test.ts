/** What somebody with a dump of the database, but without the key, can find: no credential, however it came in and however old its row. */
import { randomBytes } from "node:crypto"
import { rename, stat } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { dump, formsOf } from "#test/support/databaseDump.ts"
import { spawnEngine, wrote } from "#test/support/EngineProcess.ts"
import { untilTrue, World, type Witness } from "#test/support/engine.ts"

const marks: Array<string> = []
/** A credential that is recognized wherever it appears. */
const secret = (kind: string): string => {
  const made = `${kind}${randomBytes(18).toString("hex")}`
  marks.push(made)
  return made
}

/** Which credentials are found, and in which tables. */
const found = async (sql: Witness): Promise<ReadonlyArray<string>> =>
  [...(await dump(sql))].flatMap(([table, text]) =>
    marks.filter((mark) => formsOf(mark).some((form) => text.includes(form))).map((mark) => `${table}: ${mark.slice(0, 12)}`)
  )

const world = await World.open(t, { environment: { SIGNUP: "on", WEBHOOK_PRIVATE_TARGETS: "on" } })
const { sql } = world
const ask = async (method: string, path: string, body?: object) => {
  const answer = await world.api.ask(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  // The shape is the one that the route documents.
  return answer.body as Readonly<Record<string, never>>
}

const appPassword = secret("app-password-")
const nodeKey = secret("node-key-")
const headerToken = secret("header-token-")
const payloadKey = secret("payload-key-")
const addressToken = secret("address-token-")
const overrideKey = secret("override-key-")
const start = {
  id: "1",
  type: "startCall",
  position: { x: 0, y: 0 },
  data: { name: "Start", prompt: "Greet.", greeting: "Hi", api_key: nodeKey }
}
const hook = {
  id: "2",
  type: "webhook",
  position: { x: 0, y: 0 },
  data: {
    name: "Tell",
    enabled: true,
    http_method: "POST",
    endpoint_url: `http://127.0.0.1:9/told?token=${addressToken}`,
    custom_headers: [{ key: "Authorization", value: `Bearer ${headerToken}` }],
    payload_template: { run: "{{workflow_run_id}}", auth: { client_secret: payloadKey } }
  }
}
const definition = { nodes: [start, hook], edges: [] }
const configurations = { model_overrides: { llm: { provider: "openai", model: "m", api_key: overrideKey } } }
const ari = { provider: "ari", ari_endpoint: world.emulator.url, app_name: world.emulator.user, app_password: appPassword }
const credentialData = {
  api_key: { header_name: "X-Key", api_key: secret("api-key-") },
  bearer_token: { token: secret("bearer-") },
  basic_auth: { username: "u", password: secret("basic-") },
  custom_header: { header_name: "X-Own", header_value: secret("custom-") }
}
const tool = {
  schema_version: 1,
  type: "http_api",
  config: {
    method: "POST",
    url: `https://api.example/x?key=${secret("tool-address-")}`,
    headers: { Authorization: secret("tool-header-") }
  }
}
const llm = { provider: "openai", model: "gpt", api_key: secret("model-key-") }
const services = { provider: "flite", voice: "slt" }
const models = {
  version: 2,
  mode: "byok",
  byok: { mode: "pipeline", pipeline: { llm, tts: services, stt: { provider: "none", api_key: secret("stt-key-") } } }
}

await ask("POST", "/organizations/telephony-configs", { name: "second", config: ari })
for (const [credential_type, credential_data] of Object.entries(credentialData)) {
  await ask("POST", "/credentials/", { name: credential_type, credential_type, credential_data })
}
await ask("PUT", `/workflow/${world.agentId}`, { workflow_definition: definition, workflow_configurations: configurations })
await ask("POST", `/workflow/${world.agentId}/create-draft`)
await ask("POST", "/tools/", { name: "look up", category: "http_api", definition: tool })
await ask("PUT", "/organizations/model-configurations/v2", models)
const endpointUrl = `https://hooks.example/in?token=${secret("endpoint-")}`
const endpoint = await ask("POST", "/organizations/webhook-endpoints", { url: endpointUrl })
marks.push(String(endpoint["secret"]).slice(6))
marks.push(String((await ask("POST", `/organizations/webhook-endpoints/${endpoint["id"]}/rotate-secret`))["secret"]).slice(6))
const key = await ask("POST", "/user/api-keys", { name: "one" })
marks.push(String(key["api_key"]).slice(8))
const password = secret("password-")
await ask("POST", "/auth/signup", { email: "ada@example.com", password })
const upload = await ask("POST", "/s3/presigned-upload-url", { file_name: "l.csv", file_size: 3, content_type: "text/csv" })
marks.push(/uploads\/([^?]+)/.exec(String(upload["upload_url"]))?.[1] ?? "")
// A call whose webhook node has rendered its request.
await world.api.call(world.agentUuid, "+15550100002")
await untilTrue("rendered request of the webhook node", async () => {
  const rows = await sql`SELECT 1 FROM node_webhook_deliveries WHERE headers IS NOT NULL`
  return rows.length > 0
})

/** Everything the API returns of it. */
const shown = async () => ({
  telephony: await ask("GET", "/organizations/telephony-configs"),
  agent: (await ask("GET", `/workflow/fetch/${world.agentId}`))["workflow_definition"],
  tools: await ask("GET", "/tools/"),
  models: await ask("GET", "/organizations/model-configurations/v2"),
  endpoints: (await ask("GET", "/organizations/webhook-endpoints"))["endpoints"]
})
const before = await shown()
const restart = async (environment: Readonly<Record<string, string>> = {}) => {
  await world.end("SIGTERM")
  await world.launch(environment)
}
const keyFile = join(world.dataDir, "secrets.key")

t.test("given a database with every kind of credential, when it is dumped, then none is in it", async (t) => {
  t.equal(marks.length, 20)
  t.strictSame(await found(sql), [])
  t.equal((await stat(keyFile)).mode & 0o777, 0o600, "the key is beside the data, for nobody else to read")
})

t.test("given rows of an earlier version, in the clear, when the engine starts, then they are sealed, and work as before", async (t) => {
  await world.end("SIGTERM")
  const sealedSecret = await sql`SELECT secret FROM webhook_endpoints`
  await sql`DELETE FROM secrets_keys`
  await sql`DELETE FROM installation_secrets`
  await sql`INSERT INTO installation_secrets (name, secret) VALUES ('jwt', ${secret("jwt-")}), ('file-links', ${secret("links-")})`
  await sql`UPDATE telephony_configurations SET credentials = ${sql.json(ari)} WHERE name = 'second'`
  for (const [type, data] of Object.entries(credentialData)) {
    await sql`UPDATE credentials SET credential_data = ${sql.json(data)} WHERE name = ${type}`
  }
  await sql`UPDATE agent_definitions SET definition = ${sql.json(definition)}, configurations = ${sql.json(configurations)}, secrets = NULL
    WHERE version_status <> 'archived'`
  await sql`UPDATE tools SET definition = ${sql.json((before.tools as unknown as readonly [{ readonly definition: Parameters<typeof sql.json>[0] }])[0].definition)}`
  await sql`UPDATE model_configurations SET configuration = ${sql.json({ ...models, dograh: null, byok: { ...models.byok, realtime: null, pipeline: { ...models.byok.pipeline, embeddings: null } } })}`
  await sql`UPDATE webhook_endpoints SET url = ${endpointUrl}`
  await sql`UPDATE webhook_endpoints SET secret = ${`whsec_${secret("whsec-")}`}, previous_secret = ${`whsec_${secret("former-")}`}`
  await sql`UPDATE node_webhook_deliveries SET headers = '[["X-Own", "1"]]', body = ${JSON.stringify({ client_secret: payloadKey })}`
  t.ok((await found(sql)).length > 15, "they are there to be found")
  await world.launch()
  t.strictSame(await found(sql), [])
  t.strictSame(await shown(), before)
  t.notSame(await sql`SELECT secret FROM webhook_endpoints`, sealedSecret)
  await world.api.call(world.agentUuid, "+15550100012")
  await world.seen("originate", 2)
})

t.test("given another key", async (t) => {
  const one = randomBytes(32).toString("base64")
  const other = randomBytes(32).toString("hex")
  const refusal = async (environment: Readonly<Record<string, string>>) => {
    await world.end("SIGTERM").catch(() => undefined)
    const engine = spawnEngine({ ...world.environment, ...environment })
    const { code } = await engine.exited
    return `${code} ${engine.output()}`
  }
  t.test("when it is given instead of the right one, or none is, then the engine names the missing key and does not start", async (t) => {
    await world.end("SIGTERM")
    await rename(keyFile, `${keyFile}.away`)
    t.match(await refusal({}), /^1 .*sealed with the key [0-9a-f]{16}, and no key was given\. Set SECRETS_KEY/s)
    t.match(await refusal({ SECRETS_KEY: one }), /^1 .*sealed with the key [0-9a-f]{16}, and the key given is another one/s)
    await t.rejects(stat(keyFile), "and makes no key of its own")
    await rename(`${keyFile}.away`, keyFile)
  })
  t.test("when it is given beside the former one, then everything is sealed with it, and the former one is no longer needed", async (t) => {
    await world.launch({ SECRETS_KEY: one })
    await wrote(world, "the former one is not needed any more")
    await rename(keyFile, `${keyFile}.away`)
    await restart({ SECRETS_KEY: one })
    t.strictSame(await shown(), before)
    await restart({ SECRETS_KEY: other, SECRETS_KEY_OLD: one })
    await restart({ SECRETS_KEY: other })
    t.strictSame(await shown(), before)
    t.strictSame(await found(sql), [])
  })
  t.test("when the engine was killed while it changed keys, then the next start continues, and needs both", async (t) => {
    await world.end("SIGTERM")
    await sql`INSERT INTO secrets_keys (id) VALUES ('0123456789abcdef')`
    t.match(await refusal({ SECRETS_KEY: other }), /the key 0123456789abcdef, and the key given is another one/)
    await sql`DELETE FROM secrets_keys WHERE id = '0123456789abcdef'`
    await sql`UPDATE secrets_keys SET is_settled = false`
    await world.launch({ SECRETS_KEY: other })
    t.strictSame(await shown(), before)
  })
})
