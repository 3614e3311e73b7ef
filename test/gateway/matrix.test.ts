/**
 * Every endpoint, misused in every way that can be derived from its declaration: without a credential, with an invalid one, with too low a
 * role, with another organization's ids, with a malformed id, with a body that is too large, of the wrong type, full of nulls, or with unknown
 * keys. The expected answer follows from the route; none is a 500, and none contains a byte of another organization.
 */
import { Layer } from "effect"
import t from "tap"
import Type from "typebox"
import ari from "#adapters/ari/ari.ts"
import { includes, roles } from "#core/organization/Role.ts"
import { apiRoutes } from "#gateway/api.ts"
import type { Route } from "#gateway/request/Route.ts"
import { openApi, bodyOf as recordIn } from "./apiTest.ts"
import { type Answer, behindProxy, raw, type Sent } from "./gatewayTest.ts"
import { nullsFor, sampleOf, violationsOf } from "./samples.ts"
import { thingsOf } from "./things.ts"

const api = await openApi(t, Layer.empty, behindProxy)
const routes = apiRoutes([ari])
/** Occurs in every text of our organization. */
const mark = "Zq7canary"
/** Owners are not operators. */
const keyOf = Object.fromEntries(await Promise.all(roles.map(async (role) => [role, await api.makeKey({ role })] as const)))
const unknownId = 2_147_483_000

const isOpen = ({ access }: Route<unknown>) => access === "none"
const jsonRoutes = routes.filter(({ body }) => body._tag === "Json")

/** Ids above this belong to things that are created during this test, and so to nothing that the other organization has. */
const firstId = 500_000

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
const sendText = (route: Route<unknown>, body: string, { headers, ...sent }: Sent = {}) =>
  api.ask(route.method.toUpperCase(), `${pathOf(route)}${queryOf(route)}`, undefined, {
    body,
    headers: { "content-type": "application/json", ...headers },
    ...sent
  })
const named = (route: Route<unknown>) => `${route.method} ${route.path}`
const shown = (route: Route<unknown>, answer: Answer) => `${named(route)}: ${answer.status} ${answer.text.slice(0, 200)}`

// Our key is allowed everything.
await api.sql`UPDATE api_keys SET role = 'owner', is_operator = true WHERE organization_id = ${api.organizationId} AND name = 'test'`
await api.sql`SELECT setval(pg_get_serial_sequence(quote_ident(table_name), column_name), ${firstId}::int)
  FROM information_schema.columns WHERE table_schema = 'public' AND is_identity = 'YES'`

/** Routes for which a role must be high enough to harm or to pay. */
const onlyForAdmins = [
  ...["createTelephonyConfig", "updateTelephonyConfig", "setDefaultOutbound", "prepareTelephonyConfig", "testTelephonyConfig"],
  ...["deleteTelephonyConfig", "createPhoneNumber", "updatePhoneNumber", "setDefaultCallerId", "deletePhoneNumber", "listCarrierNumbers"],
  ...["importCarrierNumbers", "createCredential", "updateCredential", "deleteCredential", "createApiKey", "archiveApiKey"],
  ...["reactivateApiKey", "changeMember", "removeMember", "listInvitations", "createInvitation", "revokeInvitation", "listAuditLog"],
  ...[
    "setOrganizationPreferences",
    "setOrganizationSettings",
    "setQuotas",
    "setServicePrices",
    "setUserConfiguration",
    "setModelConfiguration"
  ],
  ...["createWebhookEndpoint", "updateWebhookEndpoint", "deleteWebhookEndpoint", "rotateWebhookSecret", "testWebhookEndpoint"],
  ...["replayWebhookDelivery", "replayDeadWebhookDeliveries", "deleteRunArtifacts", "removeOptOut"]
]
/** They change what belongs to the user alone. */
const ofOneself = [
  "changePassword",
  "endSession",
  "keepInBrowser",
  "logOut",
  "logOutEverywhere",
  "redeemInvitation",
  "selectOrganization",
  "setOnboardingState"
]

t.test("given every route, then what members may not do needs an admin, and only members change anything", async (t) => {
  t.strictSame(
    routes
      .filter(({ needs }) => needs === "admin")
      .map(({ name }) => name)
      .toSorted(),
    onlyForAdmins.toSorted()
  )
  for (const { access, method, name, needs } of routes) {
    const isAnybodys = access === "none" || method === "get" || ofOneself.includes(name)
    t.ok(isAnybodys || needs !== "viewer", name)
  }
})

t.test("given every route, when there is no credential, or an invalid one, then the answer says so, and no body is parsed", async (t) => {
  for (const [at, route] of routes.filter((one) => !isOpen(one)).entries()) {
    // An address may send few invalid keys at once, so each route is asked from its own.
    const headers = { "x-forwarded-for": `198.51.${at >> 8}.${at & 255}` }
    for (const key of [null, "tlk_nobody_has_this_key"]) {
      const sent = { key, headers }
      for (const answer of [await ask(route, sent), ...(route.body._tag === "Json" ? [await sendText(route, '{"a": ', sent)] : [])]) {
        t.equal(answer.status, key === null && route.access === "api-key-header" ? 422 : 401, shown(route, answer))
        t.notMatch(answer.text, "json_invalid")
      }
    }
  }
})

t.test("given every route, when the role is too low, then it is forbidden", async (t) => {
  for (const role of roles) {
    const closed = routes.filter(({ access, needs }) => access !== "none" && (needs === "operator" || !includes(role, needs)))
    t.ok(closed.length > 5, role)
    for (const route of closed) {
      const answer = await ask(route, { key: keyOf[role] ?? null })
      t.equal(answer.status, 403, `${role}: ${shown(route, answer)}`)
    }
  }
})

t.test("given every route, when a viewer is allowed, then it is not forbidden", async (t) => {
  for (const route of routes.filter((one) => one.access === "api-key" && one.needs === "viewer")) {
    const answer = await ask(route, { key: keyOf["viewer"] ?? null })
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

const mostBytes = ({ access, path }: Route<unknown>): number => {
  if (access === "none") return 16_384
  if (path.includes("model-configurations") || path.endsWith("/user/configurations/user")) return 131_072
  return /^\/api\/v1\/workflow\/.*(definition|:workflow_id)$/.test(path) ? 524_288 : 262_144
}
t.test("given every route with a JSON body, when it has too many levels or values, then 422 before it is parsed", async (t) => {
  for (const route of jsonRoutes) {
    if (route.body._tag !== "Json") continue
    const most = route.body.maxValues
    // Not JSON: a parser would report that. In a text they count nothing.
    for (const [body, type] of [
      ["[".repeat(101), "recursion_loop"],
      [",".repeat(most), "too_long"],
      [`"${"[,{".repeat(most)}\\"${",".repeat(most)}`.slice(0, 16_000), "json_invalid"]
    ] as const) {
      const answer = await sendText(route, body)
      t.match(answer.json, { detail: [{ type }] }, shown(route, answer))
      t.equal(Object(answer.json).detail.length, 1, named(route))
    }
  }
})

t.test("given every route with a body, when it is too large, then 413 without reading it", async (t) => {
  for (const route of routes.filter(({ body }) => body._tag !== "None")) {
    const limit = route.body._tag === "None" ? 0 : route.body.maxBytes
    if (route.body._tag === "Json") t.equal(limit, mostBytes(route), named(route))
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
    const broken = await sendText(route, '{"a": ')
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

/** What `:name` is in paths, if it is something that an organization has: one of ours. */
const path = `${mark}-path`
const ownIds = async (): Promise<Readonly<Record<string, string | number>>> => {
  const made = async (path: string, json: unknown) => recordIn(await api.ask("POST", path, json))
  const things = await thingsOf(api, api.ask, path)
  const { agent, document: document_uuid, documentFile: s3_key, run } = things
  await made("/knowledge-base/process-document", { document_uuid, s3_key })
  await api.sql`UPDATE runs SET transcript_key = 'transcripts/a.txt', recording_key = 'recordings/a.wav' WHERE id = ${run}`
  await Promise.all(["transcripts/a.txt", "recordings/a.wav"].map((key) => api.writeFile(key, mark)))
  api.carrierNumbers.set(things.config, ["+15550107778"])
  await made("/organizations/opt-outs", { phone_numbers: ["+15550107779"] })
  const [optOut] = await api.sql<{ readonly id: number }>`SELECT id FROM opt_outs`
  const endpoint = await made("/organizations/webhook-endpoints", { url: "https://example.org/nested", enabled: false })
  const { user } = await made("/auth/signup", { email: "theirs@example.org", password: "correct horse" })
  const userId = Number(Object(user)["id"])
  await api.sql`INSERT INTO memberships (organization_id, user_id, role) VALUES (${api.organizationId}, ${userId}, 'member')`
  const [rows] = await api.sql<{ readonly node: string; readonly sent: string; readonly session: string }>`
    WITH node AS (
      INSERT INTO node_webhook_deliveries (organization_id, run_id, node_id, state) VALUES (${api.organizationId}, ${run}, 'n', 'dead_letter')
      RETURNING id
    ), event AS (
      INSERT INTO events (organization_id, type, subject, data, created_at)
      VALUES (${api.organizationId}, 'webhook.test', 'nested', '{}', now()) RETURNING id, organization_id
    ), sent AS (
      INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, state)
      SELECT organization_id, ${endpoint.id}::int, id, 'dead' FROM event RETURNING id
    )
    SELECT node.id AS node, sent.id::text AS sent, sessions.id::text AS session FROM node, sent, sessions`
  return {
    workflow_id: agent,
    workflow_uuid: things.agentUuid,
    trigger_path: path,
    run_id: run,
    "text-chat run_id": Number((await made(`/workflow/${agent}/text-chat/sessions`, {}))["workflow_run_id"]),
    campaign_id: (await api.makeCampaign({ name: mark })).id,
    config_id: things.config,
    number_id: things.number,
    endpoint_id: endpoint.id,
    delivery_id: rows?.sent ?? "",
    "runs delivery_id": rows?.node ?? "",
    tool_uuid: things.tool,
    credential_uuid: things.credential,
    document_uuid,
    recording_id: things.played,
    folder_id: things.folder,
    opt_out_id: optOut?.id ?? 0,
    user_id: userId,
    session_id: rows?.session ?? "",
    invitation_id: (await made("/organizations/invitations", { email: "a@example.org", role: "viewer" })).id,
    api_key_id: (await made("/user/api-keys", { name: mark })).id,
    organization_id: api.organizationId
  }
}
/** In paths, but nothing that an organization has. */
const common = { name: "webhook", provider: "flite", row_number: 2 }

t.test("given another organization", async (t) => {
  const own: Readonly<Record<string, string | number>> = { ...common, ...(await ownIds()) }
  const within = routes.filter((one) => !isOpen(one) && one.path.includes(":"))
  const idOf = ({ path }: Route<unknown>, name: string) => {
    const [kind] = Object.keys(own).filter((one) => one.endsWith(` ${name}`) && path.includes(`/${one.split(" ")[0]}`))
    return encodeURIComponent(own[kind ?? name] ?? "")
  }
  const pathTo = (route: Route<unknown>) => route.path.replaceAll(/:([a-z_]+)/g, (_, name: string) => idOf(route, name))
  /** What we can read of ours, without what differs each time. */
  const ownAnswers = async () => {
    const answers: Array<readonly [name: string, status: number, text: string]> = []
    for (const route of within.filter(({ method }) => method === "get")) {
      const { status, text } = await ask(route, {}, { path: pathTo(route) })
      answers.push([named(route), status, text.replaceAll(/(expires|signature)=[^&"]*|"used":\w+|"since":"[^"]*"/g, "")])
    }
    return answers
  }

  t.test("when it requests what is ours by its ids, then the answer is that for unknown ids, and nothing changes", async (t) => {
    const before = await ownAnswers()
    const sockets = new Set(routes.filter(({ errors }) => errors.includes("UpgradeRequired")).map(named))
    for (const [name, status] of before) t.equal(status, sockets.has(name) ? 426 : 200, `${name} is ours`)
    for (const route of within) {
      const told = async (path: string, ids: ReadonlyArray<string>) => {
        const { status, text } = await api.askAsOther(route.method.toUpperCase(), `${path}${queryOf(route)}`, bodyOf(route))
        return ids.reduce((told, id) => told.replaceAll(new RegExp(`\\b${id}\\b`, "g"), "#"), `${status} ${text}`)
      }
      const ids = [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name = ""]) => idOf(route, name))
      t.notMatch(pathTo(route), /\/\/|\/$/, `this test knows what ${named(route)} refers to`)
      if (/:(name|provider)$/.test(route.path)) continue
      t.equal(await told(pathTo(route), ids), await told(pathOf(route), Object.values(nobodys)), named(route))
    }
    t.strictSame(await ownAnswers(), before)
  })

  t.test("when it lists its own, then nothing of ours is there", async (t) => {
    const makers = routes.filter((one) => !isOpen(one) && !one.path.includes(":"))
    for (const route of makers.filter(({ method }) => method === "post")) {
      const answer = await ask(route)
      t.ok(answer.status < 500, shown(route, answer))
    }
    for (const route of routes.filter((one) => one.method === "get" && !one.path.includes(":"))) {
      const answer = await api.askAsOther("GET", `${route.path}${queryOf(route)}`)
      t.notMatch(answer.text, mark, shown(route, answer))
      t.ok(answer.status < 500, shown(route, answer))
    }
  })
})
