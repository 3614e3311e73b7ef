/**
 * The existing product's web interface, version 1.45: what its pages send from a browser, in their order, with the preflight requests of the
 * browser, and what they need in the answers. From signing up to the report of a campaign.
 */
import { randomUUID } from "node:crypto"
import t from "tap"
import { numbersOf, until, World } from "#test/support/engine.ts"

t.setTimeout(1_800_000)

const origin = "https://app.dograh.test"
type Body = Readonly<Record<string, unknown>>

/** Sends requests like a browser for a page of another origin: it first asks whether it may, and obeys the answer. */
class Browser {
  token = ""
  readonly #url: string
  constructor(url: string) {
    this.#url = url
  }

  async #permitted(method: string, address: string, headers: ReadonlyArray<string>): Promise<void> {
    const asked = { origin, "access-control-request-method": method, "access-control-request-headers": headers.join(",") }
    const answer = await fetch(address, { method: "OPTIONS", headers: asked })
    const methods = answer.headers.get("access-control-allow-methods") ?? ""
    const allowed = (answer.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(/ *, */)
    const isAllowed = answer.ok && methods.includes(method) && headers.every((name) => allowed.includes(name) || allowed.includes("*"))
    if (!isAllowed) throw new Error(`${method} ${address} is not permitted: ${answer.status} ${methods} ${allowed.join(",")}`)
  }

  async send(
    method: string,
    path: string,
    body?: object
  ): Promise<{ readonly status: number; readonly body: Body; readonly text: string }> {
    const address = `${this.#url}/api/v1${path}`
    const headers: Record<string, string> = {}
    if (this.token !== "") headers["authorization"] = `Bearer ${this.token}`
    if (body !== undefined) headers["content-type"] = "application/json"
    if (Object.keys(headers).length > 0 || !["GET", "POST"].includes(method))
      await this.#permitted(method, address, Object.keys(headers).sort())
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(address, { method, headers: { ...headers, origin, connection: "close" }, ...content })
    const opened = answer.headers.get("access-control-allow-origin")
    if (opened !== "*" && opened !== origin) throw new Error(`${method} ${path} is kept from the page`)
    const text = await answer.text()
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true
    // The cast holds because these are our own answers, of which each step knows what it needs.
    return { status: answer.status, body: (isJson ? JSON.parse(text) : {}) as Body, text }
  }

  /** Sends a request without whose success a page does not work. */
  async must(method: string, path: string, body?: object): Promise<Body> {
    const answer = await this.send(method, path, body)
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }

  async upload(address: string, content: string, type: string): Promise<void> {
    await this.#permitted("PUT", address, ["content-type"])
    const { status } = await fetch(address, {
      method: "PUT",
      body: content,
      headers: { "content-type": type, origin, connection: "close" }
    })
    if (status >= 300) throw new Error(`upload: ${status}`)
  }
}

/** What every page requests when it is opened. */
const opened = async (browser: Browser) => {
  for (const path of ["/organizations/context", "/user/configurations/user", "/organizations/preferences", "/user/auth/user"]) {
    await browser.must("GET", path)
  }
  await browser.must("GET", "/user/onboarding-state")
  await browser.must("GET", "/organizations/telephony-config-warnings")
}

t.test("given an engine that serves the existing product's web interface", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 50, talkMillis: 400 },
    environment: { COMPATIBILITY: "dograh", SIGNUP: "on", RECORDINGS: "off", EGRESS_ALLOW: "127.0.0.0/8" }
  })
  const browser = new Browser(world.engine.url)
  const today = new Date().toISOString().slice(0, 10)

  await t.test("when somebody signs up, then the first screens open", async (t) => {
    t.match(await browser.must("GET", "/health"), { auth_provider: "local", deployment_mode: "oss", signup_enabled: true })
    const email = `${randomUUID()}@example.com`
    const account = await browser.must("POST", "/auth/signup", { email, password: "a long password" })
    t.match(account, { token: String, user: { email } })
    browser.token = String(account["token"])
    await opened(browser)
    t.match(await browser.must("GET", "/workflow/count"), { total: 0 }, "then it continues with the creation of an agent")
  })

  const agent = await browser.must("POST", "/workflow/create/template", {
    call_type: "outbound",
    use_case: "Dentist",
    activity_description: "Remind patients of their appointment tomorrow."
  })
  await t.test("when the agent of the first screen is opened, changed and published, then the change is there", async (t) => {
    t.match(agent, { id: Number, name: /^Dentist/, version_status: "published" })
    await browser.must("PUT", "/user/onboarding-state", { completed_actions: ["web_call_started"] })
    const shown = await browser.must("GET", `/workflow/fetch/${agent["id"]}`)
    await browser.must("GET", "/user/configurations/defaults")
    await browser.must("GET", `/workflow/${agent["id"]}/versions?limit=20&offset=0`)
    t.ok(Array.isArray((await browser.must("GET", "/node-types"))["node_types"]))
    for (const list of ["/knowledge-base/documents", "/tools/", "/workflow-recordings/"]) await browser.must("GET", list)
    t.equal((await browser.send("GET", `/workflow/${agent["id"]}/embed-token`)).status, 200)
    const definition = shown["workflow_definition"] as { readonly nodes: ReadonlyArray<object> }
    const nodes = definition.nodes.map((node) => ({ ...node, selected: false, dragging: false }))
    const saved = await browser.must("PUT", `/workflow/${agent["id"]}`, { name: "Dentist", workflow_definition: { ...definition, nodes } })
    t.match(saved, { name: "Dentist", version_number: 2 })
    t.match(await browser.must("POST", `/workflow/${agent["id"]}/validate`), { is_valid: true, errors: [] })
    const broken = { ...definition, nodes: nodes.slice(0, 1), edges: [] }
    t.match(await browser.must("PUT", `/workflow/${agent["id"]}`, { name: "Dentist", workflow_definition: broken }), {
      version_status: "draft",
      current_definition_id: saved["current_definition_id"]
    })
    const refused = await browser.send("POST", `/workflow/${agent["id"]}/publish`)
    t.match(refused, { status: 422, body: { detail: { is_valid: false, errors: [{ kind: String, message: String }] } } })
    t.match(await browser.must("PUT", `/workflow/${agent["id"]}`, { name: "Dentist", workflow_definition: { ...definition, nodes } }), {
      version_status: "published"
    })
  })

  const telephony = await t
    .test("when telephony is set up, then it is the default", async (t) => {
      t.strictSame(await browser.must("GET", "/organizations/telephony-configs"), { configurations: [] })
      const metadata = await browser.must("GET", "/organizations/telephony-providers/metadata")
      t.match(metadata, { providers: [{ provider: "ari", fields: Array }] })
      const { password, url, user } = world.emulator
      const made = await browser.must("POST", "/organizations/telephony-configs", {
        name: "Office",
        is_default_outbound: true,
        config: { provider: "ari", ari_endpoint: url, app_name: user, app_password: password, ws_client_name: "" }
      })
      t.match(await browser.must("GET", `/organizations/telephony-configs/${made["id"]}`), { name: "Office", is_default_outbound: true })
      const numbers = `/organizations/telephony-configs/${made["id"]}/phone-numbers`
      const number = { address: "+15550199000", is_active: true, is_default_caller_id: true }
      t.match(await browser.must("POST", numbers, number), number)
      t.match(await browser.must("GET", numbers), { phone_numbers: [number] })
    })
    .then(async () => (await browser.must("GET", "/organizations/telephony-configs"))["configurations"] as ReadonlyArray<{ id: number }>)

  const numbers = numbersOf(8, ["01"], "+1777")
  let id = 0
  await t.test("when a list is uploaded and a campaign created from it, then it can be started", async (t) => {
    t.strictSame(await browser.must("GET", "/campaign/"), { campaigns: [] })
    t.match(await browser.must("GET", "/workflow/summary?status=active"), [{ id: agent["id"], name: "Dentist" }])
    t.match(await browser.must("GET", "/organizations/campaign-defaults"), { concurrent_call_limit: Number, from_numbers_count: 1 })
    const csv = `phone_number\n${numbers.join("\n")}\n`
    const file = { file_name: "patients.csv", file_size: csv.length, content_type: "text/csv" }
    const ticket = await browser.must("POST", "/s3/presigned-upload-url", file)
    await browser.upload(String(ticket["upload_url"]), csv, "text/csv")
    const made = await browser.must("POST", "/campaign/create", {
      name: "Tomorrow",
      workflow_id: agent["id"],
      source_type: "csv",
      source_id: ticket["file_key"],
      telephony_configuration_id: telephony[0]?.id,
      retry_config: {
        enabled: true,
        max_retries: 1,
        retry_delay_seconds: 120,
        retry_on_busy: true,
        retry_on_no_answer: true,
        retry_on_voicemail: false
      },
      max_concurrency: 1,
      circuit_breaker: { enabled: false, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 5 }
    })
    id = Number(made["id"])
    t.match(
      await browser.must("GET", `/campaign/${id}`),
      { state: "created", total_rows: numbers.length },
      "then its page shows Start and Edit"
    )
  })

  await t.test("when it is started, edited as it runs, paused and resumed, then it completes", async (t) => {
    t.match(await browser.must("POST", `/campaign/${id}/start`), { state: "running" })
    await world.seen("originate", 2)
    const settings = { name: "Tomorrow again", max_concurrency: 2, circuit_breaker: { enabled: true, failure_threshold: 0.9 } }
    t.match(await browser.must("PATCH", `/campaign/${id}`, settings), { ...settings, state: "running" })
    t.match(await browser.must("POST", `/campaign/${id}/pause`), { state: "paused" })
    t.match(await browser.must("PATCH", `/campaign/${id}`, { name: "Tomorrow" }), { name: "Tomorrow", state: "paused" })
    t.match(await browser.must("POST", `/campaign/${id}/resume`), { state: "running" })
    await until("end of the campaign", async () => {
      await browser.must("GET", `/campaign/${id}/runs?page=1&limit=50`)
      return (await browser.must("GET", `/campaign/${id}`))["state"] === "completed" || undefined
    })
    const dialed = world.emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
    t.strictSame(dialed.toSorted(), [...numbers], "then nobody is skipped, and nobody called twice")
    t.ok(world.emulator.log.mostLive() <= 2, "then the cap holds")
  })

  await t.test("when runs, usage and reports are requested, then they are there", async (t) => {
    const filters = encodeURIComponent(JSON.stringify([{ attribute: "status", type: "radio", value: { status: "completed" } }]))
    const page = await browser.must("GET", `/campaign/${id}/runs?page=1&limit=50&filters=${filters}&sort_by=duration&sort_order=desc`)
    t.match(page, { total_count: numbers.length, total_pages: 1 })
    const [run] = page["runs"] as ReadonlyArray<{ readonly id: number }>
    t.match(await browser.must("GET", `/workflow/${agent["id"]}/runs/${run?.id}`), {
      id: run?.id,
      is_completed: true,
      initial_context: { campaign_id: id }
    })
    t.match(await browser.must("GET", `/workflow/${agent["id"]}/runs?page=1&limit=50`), { total_count: numbers.length })
    const report = await browser.send("GET", `/campaign/${id}/report`)
    t.equal(report.text.trim().split("\n").length, numbers.length + 1, "then the report has a line for each call")
    t.match(await browser.must("GET", `/campaign/${id}/source-download-url`), { download_url: String, expires_in: 3600 })
    t.match(await browser.must("GET", "/organizations/usage/runs?page=1&limit=50"), { total_count: numbers.length })
    await browser.must("GET", "/organizations/usage/daily-breakdown?days=7")
    t.match(await browser.must("GET", "/organizations/reports/workflows"), [{ id: agent["id"] }])
    t.match(await browser.must("GET", `/organizations/reports/daily?date=${today}&timezone=UTC`), {
      metrics: { total_runs: numbers.length }
    })
    t.equal((await browser.must("GET", `/organizations/reports/daily/runs?date=${today}&timezone=UTC`))["length"], numbers.length)
    t.match(await browser.must("GET", "/organizations/billing/credits?page=1&limit=20"), { ledger_entries: [] })
  })

  await t.test("when a key is created, archived and reactivated, then the list shows it", async (t) => {
    t.strictSame(await browser.must("GET", "/user/service-keys?include_archived=false"), [])
    const key = await browser.must("POST", "/user/api-keys", { name: "Integration" })
    t.match(key, { id: Number, api_key: String, key_prefix: String })
    t.match(await browser.must("DELETE", `/user/api-keys/${key["id"]}`), { success: true })
    const archived = await browser.must("GET", "/user/api-keys?include_archived=true")
    t.match(
      Array.from(archived as unknown as ReadonlyArray<{ id: number }>).find(({ id }) => id === key["id"]),
      { is_active: false }
    )
    t.match(await browser.must("PUT", `/user/api-keys/${key["id"]}/reactivate`), { success: true })
  })

  await t.test("when models are set as its page sets them, then that is saved", async (t) => {
    const { byok } = await browser.must("GET", "/organizations/model-configurations/v2/defaults")
    const { pipeline } = byok as {
      pipeline: Readonly<Record<"llm" | "tts" | "stt", object>> & { default_providers: Record<string, string> }
    }
    await browser.must("GET", "/organizations/model-configurations/v2")
    await browser.must("GET", "/organizations/model-configurations/v2/pricing")
    const service = (kind: "llm" | "tts" | "stt") => ({ provider: pipeline.default_providers[kind] ?? Object.keys(pipeline[kind])[0] })
    const chosen = { llm: service("llm"), tts: service("tts"), stt: service("stt") }
    t.match(
      chosen,
      { llm: { provider: String }, tts: { provider: String }, stt: { provider: String } },
      "then there is one of each to choose"
    )
    const configuration = { version: 2, mode: "byok", byok: { mode: "pipeline", pipeline: chosen } }
    t.match(await browser.must("PUT", "/organizations/model-configurations/v2", configuration), { configuration })
    t.match(await browser.must("GET", "/user/configurations/user/validate"), { status: [{ model: "all", message: "ok" }] })
  })
})
