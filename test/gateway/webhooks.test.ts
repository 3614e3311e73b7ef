import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, organizationId, sql } = await openApi(t)
const all = "/organizations/webhook-endpoints"
const make = async (more: object = {}) => bodyOf(await ask("POST", all, { url: "https://example.com/hook", ...more }))
/** Deliveries in these states, with the tries that lead to them, oldest first. */
const makeDeliveries = async (endpointId: number, states: ReadonlyArray<string>) => {
  for (const state of states) {
    await sql`
      WITH event AS (
        INSERT INTO events (organization_id, type, subject, data, created_at)
        VALUES (${organizationId}, 'run.completed', 'runs/1', '{}', now()) RETURNING id
      )
      INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, state, attempts, due_at)
      SELECT ${organizationId}, ${endpointId}, id, ${state}, 10, now() + interval '1 day' FROM event`
  }
}

t.test("given an organization", async (t) => {
  t.test("when it adds an endpoint, then the secret is shown once, and the rest whenever it is requested", async (t) => {
    const { secret, ...endpoint } = await make({ description: "CRM", event_types: ["run.completed"] })
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    t.match(endpoint, {
      url: "https://example.com/hook",
      description: "CRM",
      event_types: ["run.completed"],
      enabled: true,
      disabled_reason: null
    })
    t.strictSame((await ask("GET", `${all}/${endpoint["id"]}`)).json, endpoint)
    t.strictSame((await ask("GET", all)).json, { endpoints: [endpoint] })
    const rotated = bodyOf(await ask("POST", `${all}/${endpoint["id"]}/rotate-secret`))
    t.match(rotated["secret"], /^whsec_/)
    t.not(rotated["secret"], secret)
  })

  t.test("when it changes one, then only the named fields change", async (t) => {
    const { id } = await make({ description: "before" })
    t.match((await ask("PATCH", `${all}/${id}`, { enabled: false, event_types: ["campaign.started"] })).json, {
      url: "https://example.com/hook",
      description: "before",
      event_types: ["campaign.started"],
      enabled: false
    })
    t.match((await ask("PATCH", `${all}/${id}`, { url: "https://example.org/", event_types: [] })).json, {
      url: "https://example.org/",
      event_types: [],
      enabled: false
    })
    t.match(await ask("POST", `${all}/${id}/test`), { status: 409, json: { detail: "The webhook endpoint is disabled" } })
  })

  t.test("when it deletes one, then it and its deliveries are gone", async (t) => {
    const { id } = await make()
    await makeDeliveries(id, ["dead"])
    t.strictSame((await ask("DELETE", `${all}/${id}`)).json, { message: "Webhook endpoint deleted" })
    t.match(await ask("GET", `${all}/${id}`), { status: 404, json: { detail: "Webhook endpoint not found" } })
    t.strictSame(await sql`SELECT 1 FROM webhook_deliveries WHERE endpoint_id = ${id}`, [])
  })

  t.test("when the address is invalid, or leads inside, then 422 at its place", async (t) => {
    const inside = ["http://localhost/", "http://169.254.169.254/", "http://[::1]/"]
    for (const url of [...inside, "nowhere", "ftp://example.com", "http://me:pw@example.com/"]) {
      const answer = await ask("POST", all, { url })
      t.match([answer.status, answer.json], [422, { detail: [{ type: "value_error", loc: ["body", "url"] }] }], url)
    }
    const { id } = await make()
    t.equal((await ask("PATCH", `${all}/${id}`, { url: "http://10.0.0.1/" })).status, 422)
    t.equal((await ask("POST", all, { url: "https://example.com", event_types: ["webhook.test"] })).status, 422)
  })

  t.test("when it has fifty, then it can have no more", async (t) => {
    await sql`INSERT INTO webhook_endpoints (organization_id, url, description, event_types, enabled, secret)
      SELECT ${organizationId}, 'https://example.com', '', '{}', false, 'whsec_' FROM generate_series(1, 50)`
    t.match(await ask("POST", all, { url: "https://example.com" }), { status: 409 })
    await sql`DELETE FROM webhook_endpoints WHERE secret = 'whsec_'`
  })
})

t.test("given deliveries with different results", async (t) => {
  const { id } = await make({ enabled: true })
  await makeDeliveries(id, ["delivered", "dead", "pending", "dead", "dead"])
  // The cast holds because the answer was checked against its schema.
  const listOf = (json: unknown) =>
    (json as { readonly deliveries: ReadonlyArray<{ readonly id: number; readonly state: string }> }).deliveries
  const list = async (more = "") => listOf((await ask("GET", `${all}/${id}/deliveries${more}`)).json)

  t.test("when they are listed, then newest first, by state and in pages", async (t) => {
    const found = await list()
    const states = found.map(({ state }) => state)
    t.strictSame(states, ["dead", "dead", "pending", "dead", "delivered"])
    t.match(found[0], {
      endpoint_id: id,
      event_type: "run.completed",
      subject: "runs/1",
      attempts: 10,
      next_attempt_at: null,
      last_status: null
    })
    t.match(found[2], { next_attempt_at: /Z$/ })
    t.strictSame((await list("?state=dead")).length, 3)
    t.strictSame(await list(`?state=dead&limit=1&before_id=${found[1]?.id}`), [found[3]])
    t.equal((await ask("GET", `${all}/${id}/deliveries?state=lost`)).status, 422)
  })

  t.test("when they are replayed, then only those that are dead", async (t) => {
    const [newest, , pending] = await list()
    await sql`UPDATE webhook_endpoints SET enabled = false WHERE id = ${id}`
    t.strictSame((await ask("POST", `${all}/${id}/deliveries/${newest?.id}/replay`)).json, { queued: 1 })
    const refused = await ask("POST", `${all}/${id}/deliveries/${pending?.id}/replay`)
    t.match(refused, { status: 409, json: { detail: "Only dead-lettered deliveries can be replayed (current state: pending)" } })
    t.match(await ask("POST", `${all}/${id}/deliveries/999999/replay`), { status: 404, json: { detail: "Webhook delivery not found" } })
    t.strictSame((await ask("POST", `${all}/${id}/replay`)).json, { queued: 2 })
    t.strictSame((await ask("POST", `${all}/${id}/replay`)).json, { queued: 0 })
    t.strictSame(await list("?state=dead"), [])
    t.match(await list("?state=pending&limit=1"), [{ id: newest?.id, attempts: 0 }])
  })
})
