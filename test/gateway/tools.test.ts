import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, askAsOther } = api

const http = { type: "http_api", config: { method: "POST", url: "https://crm.example/lookup" } }
const create = async (name: string, definition: object = http, more: object = {}) =>
  bodyOf(await ask("POST", "/tools/", { name, definition, ...more }))
const names = async (query: string) => bodyOf(await ask("GET", `/tools/${query}`)) as unknown as ReadonlyArray<{ readonly name: string }>
const namesOf = async (query = "") => (await names(query)).map(({ name }) => name)
const credential = async (asking = ask) =>
  bodyOf(await asking("POST", "/credentials/", { name: `c${Math.random()}`, credential_type: "none", credential_data: {} }))["uuid"]

t.test("given tools of each type", async (t) => {
  const lookup = await create("lookup", http, { description: "Looks the caller up", icon: null })
  const uuid = String(lookup["tool_uuid"])

  t.test("when one is created, then omitted fields are filled in", async (t) => {
    t.match(lookup, {
      name: "lookup",
      description: "Looks the caller up",
      category: "http_api",
      icon: null,
      icon_color: "#3B82F6",
      status: "active",
      updated_at: null,
      created_by: null,
      definition: {
        schema_version: 1,
        type: "http_api",
        config: { method: "POST", timeout_ms: 5000, headers: null, credential_uuid: null }
      }
    })
    t.strictSame((await ask("GET", `/tools/${uuid}`)).json, lookup)
    const definitionOf = async (name: string, definition: object) => (await create(name, definition))["definition"]
    t.match(await definitionOf("calc", { type: "calculator" }), { schema_version: 1, type: "calculator" })
    t.match(await definitionOf("bye", { type: "end_call", config: {} }), { config: { messageType: "none", endCallReason: false } })
    t.match(await definitionOf("pass", { type: "transfer_call", config: { destination: "+15550100009" } }), {
      config: { destination_source: "static", destination: "+15550100009", timeout: 30 }
    })
    t.match(await definitionOf("mcp", { type: "mcp", config: { url: "https://mcp.example" } }), {
      config: { transport: "streamable_http", timeout_secs: 30, sse_read_timeout_secs: 300, tools_filter: [], discovered_tools: [] }
    })
  })

  t.test("when they are listed, then by name, and filtered as requested", async (t) => {
    t.strictSame(await namesOf(), ["bye", "calc", "lookup", "mcp", "pass"])
    t.strictSame(await namesOf("?category=end_call"), ["bye"])
    t.strictSame(await namesOf("?category=native"), [])
    t.strictSame(await namesOf("?status=archived"), [])
    t.match(await ask("GET", "/tools/?status=active,old"), {
      status: 400,
      json: { detail: "Invalid status 'old'. Must be one of: active, archived, draft" }
    })
    t.match(await ask("GET", "/tools/?category=magic"), {
      status: 400,
      json: {
        detail: "Invalid category 'magic'. Must be one of: http_api, end_call, transfer_call, calculator, native, integration, mcp"
      }
    })
    t.strictSame((await askAsOther("GET", "/tools/")).json, [])
  })

  t.test("when one is changed, then omitted fields stay and its category follows its definition", async (t) => {
    t.match((await ask("PUT", `/tools/${uuid}`, { name: "find" })).json, { name: "find", icon_color: "#3B82F6", updated_at: String })
    const changed = await ask("PUT", `/tools/${uuid}`, { definition: { type: "calculator" }, status: "draft", icon: "plus" })
    t.match(changed.json, { name: "find", category: "calculator", status: "draft", icon: "plus", definition: { type: "calculator" } })
    t.ok((await namesOf()).includes("find"), "then a draft is listed")
  })

  t.test("when one is archived, then it is hidden unless it is requested, until it is active again", async (t) => {
    for (const _ of [1, 2]) t.strictSame((await ask("DELETE", `/tools/${uuid}`)).json, { status: "archived", tool_uuid: uuid })
    t.notOk((await namesOf()).includes("find"))
    t.strictSame(await namesOf("?status=archived"), ["find"])
    t.ok((await namesOf("?status=archived,active")).includes("calc"))
    t.match((await ask("GET", `/tools/${uuid}`)).json, { status: "archived" })
    t.match((await ask("POST", `/tools/${uuid}/unarchive`)).json, { status: "active" })
    t.ok((await namesOf()).includes("find"))
  })

  t.test("when one does not exist, then 404", async (t) => {
    for (const path of ["/tools/no-uuid", "/tools/00000000-0000-4000-8000-000000000000"])
      t.match(await ask("GET", path), { status: 404, json: { detail: "Tool not found" } })
  })
})

t.test("given a definition that refers to a credential", async (t) => {
  const withCredential = (uuid: unknown) => ({ ...http, config: { ...http.config, credential_uuid: uuid } })
  const resolved = (uuid: unknown) => ({
    type: "transfer_call",
    config: { destination_source: "dynamic", resolver: { url: "https://crm.example", credential_uuid: uuid } }
  })

  t.test("when it is the organization's, then it is stored", async (t) => {
    const uuid = await credential()
    t.match(await create("own", withCredential(uuid)), { definition: { config: { credential_uuid: uuid } } })
    t.match(await create("own resolver", resolved(uuid)), { definition: { config: { resolver: { credential_uuid: uuid } } } })
  })

  t.test("when it is another organization's, or does not exist, then 404", async (t) => {
    const { tool_uuid } = await create("to change")
    for (const uuid of [await credential(askAsOther), "nothing"]) {
      for (const definition of [withCredential(uuid), resolved(uuid)]) {
        const expected = { status: 404, json: { detail: "Credential not found" } }
        t.match(await ask("POST", "/tools/", { name: "x", definition }), expected)
        t.match(await ask("PUT", `/tools/${tool_uuid}`, { definition }), expected)
      }
    }
  })
})

t.test("given a key that a user created, when a tool is created with it, then the user is its creator", async (t) => {
  const [user] = await api.sql<{ readonly id: number }>`
    INSERT INTO users (email, provider_id, password_hash) VALUES ('ada@example.com', 'provider-ada', '-') RETURNING id`
  await api.sql`INSERT INTO memberships (organization_id, user_id, role) VALUES (${api.organizationId}, ${user?.id}, 'member')`
  const made = await ask("POST", "/tools/", { name: "hers", definition: http }, { key: await api.makeKey({ user_id: user?.id }) })
  t.match(made.json, { created_by: { id: user?.id, provider_id: "provider-ada" } })
})

t.test("given a body that fits no tool", async (t) => {
  const detail = async (json: object) => {
    const answer = await ask("POST", "/tools/", json)
    t.equal(answer.status, 422)
    return bodyOf(answer)["detail"]
  }

  t.test("when category and type differ, then the rule is named", async (t) => {
    t.match(await detail({ name: "x", category: "mcp", definition: http }), [
      { type: "value_error", loc: ["body"], msg: "Value error, category 'mcp' must match definition.type 'http_api'" }
    ])
  })

  t.test("when something is missing or out of bounds, then its place is named", async (t) => {
    t.match(await detail({ name: "x", definition: {} }), [{ type: "union_tag_not_found", loc: ["body", "definition"] }])
    t.match(await detail({ name: "x", definition: { type: "native" } }), [{ type: "union_tag_invalid" }])
    t.match(await detail({ name: "x", definition: { type: "http_api", config: { method: "GET" } } }), [
      { type: "missing", loc: ["body", "definition", "http_api", "config", "url"] }
    ])
    t.match(await detail({ name: "x", definition: { type: "transfer_call", config: { timeout: 200, destination: "+1" } } }), [
      { type: "less_than_equal", loc: ["body", "definition", "transfer_call", "config", "timeout"] }
    ])
    t.match(await detail({ name: "x", definition: { type: "transfer_call", config: {} } }), [
      { type: "value_error", msg: "Value error, destination is required when destination_source is 'static'" }
    ])
    t.match(await detail({ name: "x".repeat(256), definition: { type: "mcp", config: { url: "ftp://x" } } }), [
      { type: "string_too_long" },
      { type: "string_pattern_mismatch" }
    ])
  })
})

t.test("given a tool without a URL yet", async (t) => {
  const tool = await create("empty", { type: "http_api", config: { method: "GET", url: "" } })
  t.match(tool, { is_ready: false, status: "active" }, "then it is created, and not ready")
  const filled = await ask("PUT", `/tools/${tool["tool_uuid"]}`, { definition: http })
  t.match(filled, { status: 200, json: { is_ready: true } }, "then it is ready once it has one")
})
