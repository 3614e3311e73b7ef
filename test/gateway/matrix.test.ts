/**
 * Every endpoint, misused in every way that can be derived from its declaration: without a credential, with an invalid one, with too low a
 * role, with another organization's ids, with a malformed id, with a body that is too large, of the wrong type, full of nulls, or with unknown
 * keys. The expected answer follows from the route; none is a 500, and none contains a byte of another organization.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import t from "tap"
import Type from "typebox"
import ari from "#adapters/ari/ari.ts"
import { includes, roles } from "#core/organization/Role.ts"
import { apiRoutes } from "#gateway/api.ts"
import type { Route } from "#gateway/request/Route.ts"
import { openApi, bodyOf as recordIn } from "./apiTest.ts"
import { type Answer, raw, type Sent } from "./gatewayTest.ts"
import { nullsFor, sampleOf, violationsOf } from "./samples.ts"

const api = await openApi(t)
const routes = apiRoutes([ari])
/** Occurs in every text of our organization. */
const mark = "Zq7canary"
/** Owners are not operators. */
const keyOf = { viewer: "dgr_viewer_00000000", member: "dgr_member_00000000", admin: "dgr_admin_000000000", owner: "dgr_owner_000000000" }
const unknownId = 2_147_483_000
/** How many of our things the other organization requests on each route. */
const places = 20

const isOpen = ({ access }: Route<unknown>) => access === "none"
const jsonRoutes = routes.filter(({ body }) => body._tag === "Json")

/** Ids above this belong to things that are created during this test, and so to nothing that the other organization has. */
const firstId = 5000

const wordFor = (route: Route<unknown>, name: string, given: { readonly id: string; readonly text: string }): string => {
  const schema = route.params.properties[name]
  return schema !== undefined && (Type.IsInteger(schema) || Type.IsNumber(schema)) ? given.id : encodeURIComponent(given.text)
}
const nobodys = { id: String(unknownId), text: "00000000-0000-4000-8000-00000000dead" }
const pathOf = (route: Route<unknown>, given = nobodys) =>
  route.path.replaceAll(/:([a-z_]+)/g, (_, name: string) => wordFor(route, name, given))
const queryOf = (route: Route<unknown>): string => {
  const sample = sampleOf(route.query)
  return sample instanceof Object && Object.keys(sample).length > 0
    ? `?${new URLSearchParams(Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, String(value)])))}`
    : ""
}
const bodyOf = (route: Route<unknown>): unknown => (route.body._tag === "Json" ? sampleOf(route.body.schema, mark) : undefined)

const ask = (
  route: Route<unknown>,
  sent: Sent = {},
  {
    json = bodyOf(route),
    path = pathOf(route),
    query = queryOf(route)
  }: { readonly json?: unknown; readonly path?: string; readonly query?: string } = {}
) => api.ask(route.method.toUpperCase(), `${path}${query}`, json, sent)
const named = (route: Route<unknown>) => `${route.method} ${route.path}`
const shown = (route: Route<unknown>, answer: Answer) => `${named(route)}: ${answer.status} ${answer.text.slice(0, 200)}`

t.before(() =>
  api.database.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Our key is allowed everything.
      yield* sql`UPDATE api_keys SET role = 'owner', is_operator = true WHERE organization_id = ${api.organizationId}`
      for (const [role, key] of Object.entries(keyOf)) {
        yield* sql`INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role)
          VALUES (${api.organizationId}, ${role}, 'dgr_', ${createHash("sha256").update(key).digest("hex")}, ${role})`
      }
      yield* sql`SELECT setval(pg_get_serial_sequence(quote_ident(table_name), column_name), ${firstId}::int)
        FROM information_schema.columns WHERE table_schema = 'public' AND is_identity = 'YES'`
    })
  )
)

t.test("given every route, when there is no credential, then the answer says that it is missing", async (t) => {
  for (const route of routes.filter((one) => !isOpen(one))) {
    const answer = await ask(route, { key: null })
    t.equal(answer.status, route.access === "api-key" ? 401 : 422, shown(route, answer))
  }
})

t.test("given every route, when the credential is invalid, then access is denied", async (t) => {
  for (const route of routes.filter((one) => !isOpen(one))) {
    const answer = await ask(route, { key: "tlk_nobody_has_this_key" })
    t.equal(answer.status, 401, shown(route, answer))
  }
})

t.test("given every route, when the role is too low, then it is forbidden", async (t) => {
  for (const role of roles) {
    const closed = routes.filter(({ access, needs }) => access !== "none" && (needs === "operator" || !includes(role, needs)))
    t.ok(closed.length > 5, role)
    for (const route of closed) {
      const answer = await ask(route, { key: keyOf[role] })
      t.equal(answer.status, 403, `${role}: ${shown(route, answer)}`)
    }
  }
})

t.test("given every route, when a viewer is allowed, then it is not forbidden", async (t) => {
  for (const route of routes.filter((one) => one.access === "api-key" && one.needs === "viewer")) {
    const answer = await ask(route, { key: keyOf.viewer })
    t.notMatch(answer.text, "Your role does not allow this", shown(route, answer))
    t.ok(answer.status < 500, shown(route, answer))
  }
})

t.test("given every route with an id, when the id is malformed, then 422 names it", async (t) => {
  for (const route of routes) {
    for (const [name, schema] of Object.entries(route.params.properties)) {
      if (!Type.IsInteger(schema)) continue
      const path = route.path.replace(`:${name}`, "x1").replaceAll(/:([a-z_]+)/g, (_, other: string) => wordFor(route, other, nobodys))
      const answer = await ask(route, {}, { path })
      t.match([answer.status, answer.json], [422, { detail: [{ type: "int_parsing", loc: ["path", name] }] }], shown(route, answer))
    }
  }
})

t.test("given every route with a query, when a number in it is malformed, then 422 names it", async (t) => {
  for (const route of routes.filter((one) => !isOpen(one))) {
    for (const [name, schema] of Object.entries(route.query.properties)) {
      if (!violationsOf(schema, "x1").some(({ type }) => type === "int_parsing")) continue
      const answer = await ask(route, {}, { query: `${queryOf(route) || "?"}&${name}=x1` })
      t.match([answer.status, answer.json], [422, { detail: [{ type: "int_parsing", loc: ["query", name] }] }], shown(route, answer))
    }
  }
})

t.test("given every route with a body, when it is too large, then 413 without reading it", async (t) => {
  for (const route of routes.filter(({ body }) => body._tag !== "None")) {
    const limit = route.body._tag === "None" ? 0 : route.body.maxBytes
    const lines = [
      `${route.method.toUpperCase()} ${pathOf(route)}${queryOf(route)} HTTP/1.1`,
      "Host: a",
      `Content-Length: ${limit + 1}`,
      "",
      ""
    ]
    t.match(await raw({ port: api.port }, lines.join("\r\n"), 10), /^HTTP\/1.1 413 /, named(route))
  }
})

t.test("given every route with a JSON body, when the body is broken or of the wrong type, then 422 says where", async (t) => {
  for (const route of jsonRoutes) {
    const broken = await api.ask(route.method.toUpperCase(), `${pathOf(route)}${queryOf(route)}`, undefined, {
      body: '{"a": ',
      headers: { "content-type": "application/json" }
    })
    t.match([broken.status, broken.json], [422, { detail: [{ type: "json_invalid", loc: ["body", 6] }] }], shown(route, broken))
    if (route.body._tag !== "Json") continue
    for (const wrong of [[], "x", 1, true]) {
      const expected = violationsOf(route.body.schema, wrong)
      if (expected.length === 0) continue
      const answer = await ask(route, {}, { json: wrong })
      t.match([answer.status, answer.json], [422, { detail: [{ type: expected[0]?.type, loc: ["body"] }] }], shown(route, answer))
    }
  }
})

t.test("given every route with a JSON body, when everything in it is null, then members that must not be null are named", async (t) => {
  for (const route of jsonRoutes) {
    if (route.body._tag !== "Json" || !Type.IsObject(route.body.schema)) continue
    const nulls = nullsFor(route.body.schema)
    const expected = violationsOf(route.body.schema, nulls)
    const answer = await ask(route, {}, { json: nulls })
    if (expected.length === 0) t.ok(answer.status < 500, shown(route, answer))
    else t.match([answer.status, answer.json], [422, { detail: expected.map(({ loc, type }) => ({ loc, type })) }], shown(route, answer))
  }
})

t.test("given every route with a JSON body, when there are unknown keys, then they change nothing", async (t) => {
  for (const route of jsonRoutes) {
    const sample = bodyOf(route)
    if (!(sample instanceof Object)) continue
    const without = await ask(route)
    const answer = await ask(route, {}, { json: { ...sample, unknown_key_: { a: [1] }, constructor: 1, "": null } })
    // The second of two requests that create the same may find the first.
    const statuses = without.status === 200 ? [200, 409] : [without.status]
    t.ok(statuses.includes(answer.status), `${shown(route, without)} and ${shown(route, answer)}`)
  }
})

/** Everything in an answer that identifies something of ours. */
const namesIn = (value: unknown, name = ""): ReadonlyArray<string | number> => {
  if (Array.isArray(value)) return value.flatMap((one) => namesIn(one, name))
  if (typeof value === "object" && value !== null) return Object.entries(value).flatMap(([key, one]) => namesIn(one, key))
  if (typeof value === "number" && /(^|_)id$/.test(name)) return [value]
  return typeof value === "string" && /(^|_)(id|uuid|key|token|path)$/.test(name) && value.length > 7 ? [value] : []
}

/** Two kinds of things have ids of this name. */
const isOfNode = ({ path }: Route<unknown>, name: string): boolean => name === "delivery_id" && path.includes("/runs/")

/** Our things that are part of others, by the names of their ids in paths. */
const nested = async (): Promise<Readonly<Record<string, string>>> => {
  const made = async (path: string, json: unknown) => recordIn(await api.ask("POST", path, json))
  const agent = await api.makeAgent()
  const config = await made("/organizations/telephony-configs", {
    name: "nested",
    config: { provider: "ari", ari_endpoint: "http://127.0.0.1", app_name: "a", app_password: "password1" }
  })
  const number = await made(`/organizations/telephony-configs/${config.id}/phone-numbers`, { address: "+15550107777" })
  const endpoint = await made("/organizations/webhook-endpoints", { url: "https://example.org/nested" })
  const [rows] = await api.database.run(
    SqlClient.SqlClient.use(
      (sql) => sql<{ readonly run: number; readonly delivery: string; readonly sent: string }>`
        WITH run AS (
          INSERT INTO runs (organization_id, agent_id, agent_definition_id, attempt_id, name, mode, initial_context)
          SELECT organization_id, id, current_definition_id, gen_random_uuid(), 'WR', 'ari', '{}' FROM agents WHERE id = ${agent.id}
          RETURNING id, organization_id
        ), node AS (
          INSERT INTO node_webhook_deliveries (organization_id, run_id, node_id, state) SELECT organization_id, id, 'n', 'dead_letter' FROM run
          RETURNING id
        ), event AS (
          INSERT INTO events (organization_id, type, subject, data, created_at)
          SELECT organization_id, 'webhook.test', 'nested', '{}', now() FROM run RETURNING id, organization_id
        ), sent AS (
          INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, state)
          SELECT organization_id, ${endpoint.id}::int, id, 'dead' FROM event RETURNING id
        )
        SELECT run.id AS run, node.id AS delivery, sent.id::text AS sent FROM run, node, sent`
    )
  )
  return {
    workflow_id: String(agent.id),
    run_id: String(rows?.run),
    config_id: String(config.id),
    number_id: String(number.id),
    endpoint_id: String(endpoint.id),
    delivery_id: String(rows?.sent),
    node_delivery_id: String(rows?.delivery)
  }
}
t.test("given another organization", async (t) => {
  const names = new Set<string | number>([(await api.makeCampaign({ name: mark })).id])
  const makers = routes.filter((one) => !isOpen(one) && !one.path.includes(":"))
  // First all routes that create things, then all routes that list what was created.
  for (const route of [...makers.filter(({ method }) => method === "post"), ...makers.filter(({ method }) => method === "get")]) {
    const answer = await ask(route)
    t.ok(answer.status < 500, shown(route, answer))
    for (const name of namesIn(answer.json)) if (typeof name === "string" || name > firstId) names.add(name)
  }
  const ids = [...names].filter((name) => typeof name === "number").map(String)
  const texts = [...names].filter((name) => typeof name === "string")
  t.ok(ids.length > 5 && texts.length > 5)
  const given = Array.from({ length: Math.min(places, Math.max(ids.length, texts.length)) }, (_, at) => ({
    id: ids[at % ids.length] ?? "",
    text: texts[at % texts.length] ?? ""
  }))

  t.test("when it requests what is ours, then the answer is the same as for an unknown id", async (t) => {
    for (const route of routes.filter((one) => !isOpen(one) && one.path.includes(":"))) {
      const method = route.method.toUpperCase()
      const unknown = await api.askAsOther(method, `${pathOf(route)}${queryOf(route)}`, bodyOf(route))
      for (const one of given) {
        const answer = await api.askAsOther(method, `${pathOf(route, one)}${queryOf(route)}`, bodyOf(route))
        const normal = (text: string, { id, text: word }: typeof one) =>
          text.replaceAll(new RegExp(`\\b${id}\\b`, "g"), "#").replaceAll(word, "#")
        t.equal(
          `${answer.status} ${normal(answer.text, one)}`,
          `${unknown.status} ${normal(unknown.text, nobodys)}`,
          `${named(route)} of ${JSON.stringify(one)}`
        )
      }
    }
  })

  t.test("when it requests a part of something of ours, by the ids of both, then the answer is the same as for unknown ids", async (t) => {
    const within = await nested()
    const paths = routes.filter((one) => !isOpen(one) && (one.path.match(/:/g)?.length ?? 0) > 1)
    t.ok(paths.length > 5)
    const pathTo = (route: Route<unknown>) =>
      route.path.replaceAll(/:([a-z_]+)/g, (_, name: string) => within[isOfNode(route, name) ? `node_${name}` : name] ?? "")
    for (const route of paths) {
      const method = route.method.toUpperCase()
      const ask = (path: string) => api.askAsOther(method, `${path}${queryOf(route)}`, bodyOf(route))
      const [answer, unknown] = [await ask(pathTo(route)), await ask(pathOf(route))]
      t.notMatch(pathTo(route), /\/\/|\/$/, named(route))
      t.strictSame([answer.status, answer.json], [unknown.status, unknown.json], named(route))
    }
    for (const route of paths.filter(({ method }) => method === "get")) {
      const { status } = await api.ask("GET", `${pathTo(route)}${queryOf(route)}`)
      // The run belongs to a call without files.
      const isWithout = ["recording", "transcript"].some((file) => named(route).endsWith(file)) || named(route).includes("text-chat")
      t.ok(status === 200 || isWithout, `${named(route)} is ours: ${status}`)
    }
  })

  t.test("when it lists its own, then nothing of ours is there", async (t) => {
    for (const route of routes.filter((one) => one.method === "get" && !one.path.includes(":"))) {
      const answer = await api.askAsOther("GET", `${route.path}${queryOf(route)}`)
      t.notMatch(answer.text, mark, shown(route, answer))
      t.ok(answer.status < 500, shown(route, answer))
    }
  })
})
