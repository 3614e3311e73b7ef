/** The tools of an organization in a conversation, judged by the log of the service that they send requests to. */
import { Effect, Layer, Logger, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { ServerResponse } from "node:http"
import t from "tap"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { loadTools } from "#core/agent/conversation/GraphTools.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import { toolUuidsIn } from "#core/agent/ToolNames.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { Credentials } from "#core/credential/Credentials.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { LanguageModel, ModelRequest } from "#core/model/LanguageModel.ts"
import * as resources from "#core/services/resources.ts"
import { Tools } from "#core/tool/Tools.ts"
import { makeConversation } from "#runtime/conversation/ConversationActor.ts"
import { HttpTools } from "#runtime/conversation/HttpTools.ts"
import { writtenLines } from "#runtime/conversation/writtenLines.ts"
import { WebhookSender } from "#runtime/webhook/WebhookSender.ts"
import { answeringServer, endless } from "#test/support/answeringServer.ts"
import { egress } from "#test/support/egress.ts"
import * as given from "#test/support/given.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { call, finished, text } from "#test/support/talk.ts"
import { definition } from "#test/support/talkScript.ts"

const database = await openDatabase(t)
const ours = await database.run(given.organization())
const theirs = await database.run(given.organization({ name: "Other" }))

interface Told {
  /** The tool's result as the model got it. */
  readonly result: JsonObject | undefined
  readonly names: ReadonlyArray<string>
  readonly logged: string
}

const makeTool = (organizationId: OrganizationId, config: JsonObject) =>
  Tools.use((_) => _.create(organizationId, { name: "Find order", definition: { schema_version: 1, type: "http_api", config } }))

/** Lets the model call the tool once in a conversation of `organizationId`, and say what it got. */
const talk = Effect.fnUntraced(function* (organizationId: OrganizationId, uuid: string, given: JsonObject) {
  const tools = yield* HttpTools
  const graph = compile(definition({ greeting: "", tool_uuids: [uuid.toUpperCase()] }))
  if (graph === undefined) return yield* Effect.die("The graph has no start")
  const requests: Array<ModelRequest> = []
  const model: LanguageModel = {
    provider: "scripted",
    model: "one",
    answer: (request) => {
      requests.push(request)
      const parts = requests.length === 1 ? [call("find_order", given)] : [text("I see.")]
      return Stream.fromIterable([...parts, finished])
    }
  }
  const plan = {
    graph,
    ...(yield* loadTools(yield* SqlClient.SqlClient, organizationId, toolUuidsIn(graph.definition))),
    settings: settingsOf({}),
    timeZone: "UTC",
    canHear: true
  }
  const actor = yield* makeConversation(plan, {
    model,
    speaker: writtenLines(
      () => {},
      (line) => actor.tell({ _tag: "LineSpoken", line })
    ),
    runTool: (request) => tools.run(organizationId, request),
    sendDigits: () => Effect.die("none"),
    transfer: () => Effect.die("none"),
    write: () => Effect.void,
    hangUp: () => {}
  })
  actor.tell({ _tag: "Started", context: { first_name: "Ada" } })
  yield* actor.calleesTurn
  const last = requests.at(-1)?.messages.at(-1)
  return { result: last?._tag === "ToolResult" ? last.result : undefined, names: requests[0]?.tools.map(({ name }) => name) ?? [] }
})

/** Makes its seal impossible to open, as if it had been sealed with another key: a seal opens only in its own row. */
const spoilt = Effect.fnUntraced(function* (uuid: string) {
  const sql = yield* SqlClient.SqlClient
  const other = yield* Credentials.use((_) =>
    _.create(ours, { name: crypto.randomUUID(), credentialType: "bearer_token", data: { token: "canary-6f" } })
  )
  yield* sql`
    UPDATE credentials SET credential_data = (SELECT credential_data FROM credentials WHERE uuid = ${other.uuid}::uuid)
    WHERE uuid = ${uuid}::uuid`
})

const services = (privateWebhooks: boolean) =>
  HttpTools.layer.pipe(
    Layer.provide([CredentialSecrets.layer, WebhookSender.layer.pipe(Layer.provide(egress({ privateWebhooks })))]),
    Layer.provideMerge(resources.layer.pipe(Layer.provide(egress({ privateWebhooks }))))
  )

const told = async (
  config: JsonObject,
  {
    args = {},
    asOther = false,
    credential,
    privateWebhooks = true
  }: {
    readonly args?: JsonObject
    readonly asOther?: boolean
    readonly credential?: { readonly allowedHosts?: ReadonlyArray<string>; readonly isRemoved?: boolean; readonly isUnreadable?: boolean }
    readonly privateWebhooks?: boolean
  } = {}
): Promise<Told> => {
  const lines: Array<string> = []
  const log = Logger.layer([Logger.make((entry) => void lines.push(JSON.stringify(entry.message)))])
  const story = Effect.gen(function* () {
    const made =
      credential === undefined
        ? undefined
        : yield* Credentials.use((_) =>
            _.create(ours, { name: crypto.randomUUID(), credentialType: "bearer_token", data: { token: "canary-5e" } })
          )
    const { toolUuid } = yield* makeTool(ours, made === undefined ? config : { ...config, credential_uuid: made.uuid })
    if (made !== undefined && credential?.allowedHosts !== undefined)
      yield* Credentials.use((_) => _.update(ours, made.uuid, { allowedHosts: credential.allowedHosts }))
    if (made !== undefined && credential?.isRemoved === true) yield* Credentials.use((_) => _.remove(ours, made.uuid))
    if (made !== undefined && credential?.isUnreadable === true) yield* spoilt(made.uuid)
    return yield* talk(asOther ? theirs : ours, toolUuid, args)
  })
  const { names, result } = await database.run(Effect.provide(story, Layer.merge(services(privateWebhooks), log)))
  return { result, names, logged: lines.join("\n") }
}

const usual = { method: "POST", parameters: [{ name: "number", type: "string", description: "" }] }
const args = { number: "canary-7" }

t.test("given a service, when its tool is called, then it gets one request, with the credential, and the model its answer", async (t) => {
  const { asked, url } = await answeringServer(t, (response) => response.end('{"state":"sent"}'))
  const { logged, result } = await told({ ...usual, url: `${url}/orders`, headers: { "X-Shop": "7" } }, { args, credential: {} })
  t.strictSame(result, { status: "success", status_code: 200, data: { state: "sent" } })
  t.match(asked, [{ line: "POST /orders", body: '{"number":"canary-7"}' }])
  t.equal(asked.length, 1)
  t.match(asked[0]?.headers, { authorization: "Bearer canary-5e", "x-shop": "7", "content-type": "application/json" })
  t.notMatch(logged, /canary/)
})

t.test("given a service that refuses, then the model gets its status and its message", async (t) => {
  const { asked, url } = await answeringServer(t, (response) => response.writeHead(404).end('{"error":"none"}'))
  const { result } = await told({ ...usual, method: "GET", url: `${url}/orders/{{number}}` }, { args: { number: "a/../b" } })
  t.strictSame(result, { status: "success", status_code: 404, data: { error: "none" } })
  const lines = asked.map(({ line }) => line)
  t.strictSame(lines, ["GET /orders/a%2F..%2Fb?number=a%2F..%2Fb"])
})

t.test("given a hostile answer, then the model is told so, and the conversation continues", async (t) => {
  const answered = async (answers: (response: ServerResponse) => void, more: JsonObject = {}) => {
    const { asked, url } = await answeringServer(t, answers)
    const { logged, result } = await told({ ...usual, url, ...more }, { args, credential: {} })
    t.equal(asked.length, 1, "it is asked once")
    t.notMatch(logged, /canary/)
    t.notMatch(JSON.stringify(result), /canary-5e/)
    return result
  }
  const says = (body: string | Buffer) => answered((response) => response.end(body))
  const note = "The answer is no JSON."
  t.strictSame(await says("<html>"), { status: "success", status_code: 200, data: "<html>", note })
  t.match(await says('{"a":'), { note })
  t.match(await answered((response) => response.writeHead(204).end()), { status_code: 204, note: "The answer is empty." })
  t.match(await says(Buffer.from([0xff, 0xfe, 0x00])), { note })
  t.match(await says(`["${"x".repeat(20_000)}"]`), { note: /its beginning/, data: /^\["x{7998}$/ })
  t.match(await says("[".repeat(100_000)), { note: /its beginning/ })
  t.strictSame(await answered(endless), { status: "error", error: "The answer of the service is too large." })
  const drip = (response: ServerResponse) => {
    const timer = setInterval(() => response.write("x"), 20)
    response.on("close", () => clearInterval(timer))
  }
  for (const late of [drip, () => {}])
    t.strictSame(await answered(late, { timeout_ms: 300 }), { status: "error", error: "The service did not answer in time." })
  t.strictSame(await answered((response) => response.destroy()), { status: "error", error: "The service cannot be reached." })
  const elsewhere = "The service redirects to another address, which is not followed."
  const redirects = (response: ServerResponse) => void response.writeHead(307, { location: "/other" }).end()
  t.strictSame(await answered(redirects), { status: "error", error: elsewhere })
})

t.test("given a request that must not be sent, then it is not", async (t) => {
  const { asked, url } = await answeringServer(t, (response) => response.end("{}"))
  const refused = async (config: JsonObject, more: Parameters<typeof told>[1], error: string) =>
    t.strictSame((await told({ ...usual, ...config }, { args, ...more })).result, { status: "error", error })
  await refused({ url }, { privateWebhooks: false }, "The service's address may not be connected to.")
  await refused({ url: "http://localhost:1/" }, { privateWebhooks: false }, "The service's address may not be connected to.")
  await refused({ url: "https://user:pass@shop.example/" }, {}, "The tool's URL cannot be used.")
  await refused({ url }, { credential: { isRemoved: true } }, "The tool's credential does not exist.")
  await refused({ url }, { credential: { allowedHosts: ["shop.example"] } }, "The tool's credential may not be sent to this host.")
  await refused({ url }, { credential: { isUnreadable: true } }, "The tool's credential cannot be read.")
  await refused({ url: "http://127.0.0.1:1/" }, {}, "The service cannot be reached.")
  t.equal(asked.length, 0)
})

t.test("given a tool of another organization, then this organization's agents do not have it", async (t) => {
  const { asked, url } = await answeringServer(t, (response) => response.end("{}"))
  t.ok((await told({ ...usual, url }, { args })).names.includes("find_order"))
  const { names, result } = await told({ ...usual, url }, { args, asOther: true })
  t.notOk(names.includes("find_order"))
  t.match(result, { status: "error", error: "There is no tool find_order here." })
  t.equal(asked.length, 1)
})
