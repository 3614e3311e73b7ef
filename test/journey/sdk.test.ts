/**
 * The SDK of the existing product, as it is published, against the whole engine: every call that it offers, in the order in which somebody
 * would build and try out an agent.
 */
import { ApiError, DograhClient, SpecMismatchError, ValidationError, Workflow } from "@dograh/sdk"
import t, { type Test } from "tap"
import { numbersOf, World, until } from "#test/support/engine.ts"

const [answers = ""] = numbersOf(1, ["01"])
const start = { name: "Greeting", prompt: "Greet {{first_name}}.", greeting_type: "text", greeting: "Good morning." }

interface Refusal {
  readonly kind: "ApiError" | "SpecMismatchError" | "ValidationError" | "another error"
  readonly status?: number
  readonly message: string
}

/** The error that a call was refused with. */
const refusal = async (call: Promise<unknown>): Promise<Refusal | undefined> => {
  try {
    await call
    return undefined
  } catch (error) {
    // The SDK prefixes the message with the status.
    if (error instanceof ApiError) return { kind: "ApiError", status: error.statusCode, message: error.message.replace(/^\[\d+\] /, "") }
    if (error instanceof SpecMismatchError) return { kind: "SpecMismatchError", message: error.message }
    if (error instanceof ValidationError) return { kind: "ValidationError", message: error.message }
    return { kind: "another error", message: String(error) }
  }
}

/** Everything that the SDK offers, against an engine with these settings. */
const journey = (settings: Readonly<Record<string, string>>) => async (t: Test) => {
  const environment = { RECORDINGS: "off", ...settings }
  const world = await World.open(t, { emulator: { media: false, ringMillis: 50, talkMillis: 300 }, environment })
  await world.sql`DELETE FROM telephony_configurations`
  const client = new DograhClient({ baseUrl: `${world.engine.url}/`, apiKey: world.apiKey })

  await t.test("when it requests node types, then it gets those that agents are made of", async (t) => {
    const { node_types, spec_version } = await client.listNodeTypes()
    t.equal(client.specVersion, spec_version)
    t.ok(["startCall", "agentNode", "endCall"].every((name) => node_types.some((type) => type.name === name)))
    const fresh = new DograhClient({ baseUrl: world.engine.url, apiKey: world.apiKey })
    t.strictSame(
      await fresh.getNodeType("startCall"),
      node_types.find(({ name }) => name === "startCall")
    )
    t.match(await refusal(fresh.getNodeType("nope")), { kind: "SpecMismatchError" })
  })

  const workflow = new Workflow({ client, name: "Parcel" })
  await t.test("when it builds an agent, then the node types served are what it checks against", async (t) => {
    const first = await workflow.add({ type: "startCall", ...start })
    const last = await workflow.add({ type: "endCall", name: "Goodbye", prompt: "Say goodbye.", position: [0, 200] })
    workflow.edge(first, last, { label: "done", condition: "All is said.", transitionSpeech: "One moment.", transitionSpeechType: "text" })
    t.match(await refusal(workflow.add({ type: "startCall", ...start, no_such_key: 1 })), { kind: "ValidationError" })
    t.match(await refusal(workflow.add({ type: "endCall", name: " " })), { kind: "ValidationError" })
  })

  const definition = () => ({ ...workflow.toJson() })
  const made = await client.createWorkflow({ body: { name: "Parcel", workflow_definition: definition() } })
  await t.test("when it creates the agent, then reading it back returns what was built", async (t) => {
    t.match(made, { name: "Parcel", status: "active", version_number: 1, total_runs: 0 })
    t.strictSame(made.workflow_definition, definition())
    t.strictSame(await client.getWorkflow(made.id), made)
    const loaded = await client.loadWorkflow(made.id)
    t.equal(loaded.name, "Parcel")
    t.strictSame(loaded.toJson(), workflow.toJson())
  })

  await t.test("when it edits and saves the agent, then the change is there", async (t) => {
    const loaded = await client.loadWorkflow(made.id)
    const middle = await loaded.add({ type: "agentNode", name: "Ask", prompt: "Ask when to deliver." })
    const first = loaded.findNode("1")
    const last = loaded.findNode("2")
    if (first === null || last === null) throw new Error("the nodes are gone")
    t.equal(middle.id, "3", "then new nodes are numbered on")
    loaded.edge(first, middle, { label: "ask", condition: "There is a question." })
    loaded.edge(middle, last, { label: "done", condition: "It is answered." })
    t.match(await client.saveWorkflow(made.id, loaded), { id: made.id })
    t.strictSame((await client.loadWorkflow(made.id)).toJson(), loaded.toJson())
  })

  await t.test("when it lists and renames agents, then the changes are there", async (t) => {
    const ids = (await client.listWorkflows({ status: "active" })).map(({ id }) => id)
    t.ok(ids.includes(made.id))
    const archived = (await client.listWorkflows({ status: "archived" })).filter(({ id }) => id === made.id)
    t.strictSame(archived, [])
    t.ok((await client.listWorkflows()).some(({ id }) => id === made.id))
    const before = await client.getWorkflow(made.id)
    const renamed = await client.updateWorkflow(made.id, { body: { name: "Parcel 2" } })
    t.match(renamed, { name: "Parcel 2", version_number: before.version_number, workflow_definition: before.workflow_definition })
    t.strictSame(await refusal(client.getWorkflow(999_999)), {
      kind: "ApiError",
      status: 404,
      message: "Workflow with id 999999 not found"
    })
  })

  await t.test("when it tries out the agent, then only telephony is missing", async (t) => {
    const body = { workflow_id: made.id, phone_number: answers }
    t.strictSame(await refusal(client.testPhoneCall({ body })), { kind: "ApiError", status: 400, message: "telephony_not_configured" })

    await world.api.createConfig({
      ari_endpoint: world.emulator.url,
      app_name: world.emulator.user,
      app_password: world.emulator.password
    })
    // If a machine that is busy with other tests is too slow to send the call, it is not sent.
    const call = () => client.testPhoneCall({ body }).catch((error: Error) => ({ message: error.message }))
    const initiated = await until("call that was sent", async () => {
      // The cast holds because the test knows the shape, which the SDK does not declare.
      const { message } = (await call()) as { readonly message: string }
      return message.includes("so busy") ? undefined : message
    })
    t.match(initiated, /^Call initiated successfully with run name /)
    await world.seen("ended", 1)
    const dialed = world.emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
    t.strictSame(dialed, [answers])
    t.strictSame(await refusal(client.testPhoneCall({ body: { ...body, telephony_configuration_id: 999_999 } })), {
      kind: "ApiError",
      status: 400,
      message: "telephony_configuration_not_found"
    })
  })

  await t.test("when it lists what an agent can refer to, then it gets empty lists, and then what it creates", async (t) => {
    t.strictSame(await client.listTools(), [])
    t.strictSame(await client.listCredentials(), [])
    t.strictSame(await client.listDocuments({ status: "completed", limit: 10, offset: 0 }), {
      documents: [],
      total: 0,
      limit: 10,
      offset: 0
    })
    t.strictSame(await client.listRecordings({ workflowId: made.id, ttsProvider: "openai" }), { recordings: [], total: 0 })
    const tool = await client.createTool({
      body: {
        name: "Look up",
        description: null,
        category: "http_api",
        icon: "globe",
        icon_color: "#3B82F6",
        definition: {
          schema_version: 1,
          type: "http_api",
          config: { method: "GET", url: "https://crm.example/{{phone_number}}", timeout_ms: 3000 }
        }
      }
    })
    t.match(tool, { name: "Look up", category: "http_api", status: "active", definition: { config: { timeout_ms: 3000 } } })
    t.strictSame(await client.listTools({ status: "active", category: "http_api" }), [tool])
    t.match(await refusal(client.listTools({ status: "old" })), { status: 400, message: /^Invalid status 'old'/ })
  })

  await t.test("when its key is wrong, then it is told so", async (t) => {
    const stranger = new DograhClient({ baseUrl: world.engine.url, apiKey: "dgr_wrong" })
    t.strictSame(await refusal(stranger.listWorkflows()), { kind: "ApiError", status: 401, message: "Invalid or expired API key" })
  })
}

t.test("given an engine without telephony, and the SDK with one of its keys", journey({}))
t.test("given the same in compatibility mode", journey({ COMPATIBILITY: "dograh" }))
