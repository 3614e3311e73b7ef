/** Organizations and keys, uploads, agents and telephony configurations. */
import { Effect, Redacted } from "effect"
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { check, greetingOf, maxCallDurationSeconds, requiredVariablesOf, variablesUsedBy } from "#core/agent/AgentGraph.ts"
import { Agents } from "#core/agent/Agents.ts"
import { Uploads } from "#core/file/Uploads.ts"
import { AgentId, TelephonyConfigId } from "#core/Id.ts"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import { Organizations } from "#core/organization/Organizations.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { column, definition, install, tag, makeAgent, makeConfig, ours, theirs } from "./services.ts"

const { run, sql, test } = await install(t)
const [keys, uploads, agents, configs] = await run(Effect.all([ApiKeys, Uploads, Agents, TelephonyConfigs]))
const bootstrap = (key?: string) => Organizations.use((_) => _.bootstrap(key === undefined ? undefined : Redacted.make(key), 12))
const authenticated = (key: string) => ApiKeys.use((_) => tag(_.authenticate(key)))

const fresh = await install(t)
fresh.test(
  t,
  "given an empty database, many nodes that start at once create one organization, and one of them gets the key",
  function* (t) {
    yield* fresh.sql`DELETE FROM organizations`
    const made = yield* Effect.all(
      Array.from({ length: 6 }, () => bootstrap()),
      { concurrency: 6 }
    )
    const keys = made.flatMap(({ created, key }) => (created && key !== undefined ? [Redacted.value(key)] : []))
    t.equal(keys.length, 1)
    t.match(keys[0], /^tlk_[A-Za-z0-9_-]{43}$/)
    t.strictSame(yield* Effect.forEach(keys, authenticated), ["none"])
    const counts = fresh.sql`SELECT (SELECT count(*)::int FROM organizations) AS organizations,
    (SELECT max(concurrency_limit) FROM organizations) AS limit, (SELECT count(*)::int FROM api_keys) AS keys`
    t.strictSame(yield* counts, [{ organizations: 1, limit: 12, keys: 1 }])
  }
)

test(t, "a configured key belongs to the first organization; a later one replaces it", function* (t) {
  const all = [yield* bootstrap("given-one"), yield* bootstrap("given-one"), yield* bootstrap("given-two")] as const
  const [first, again, second, firstKey, secondKey, stored] = [
    ...all,
    yield* authenticated("given-one"),
    yield* authenticated("given-two"),
    yield* sql`SELECT organization_id, name, key_prefix FROM api_keys`
  ]
  t.match(first, { organizationId: ours, created: false, key: undefined })
  t.match(again, { organizationId: ours, created: false, key: undefined })
  t.match(second, { organizationId: ours, created: false, key: undefined })
  t.strictSame([firstKey, secondKey], ["InvalidApiKey", "none"])
  t.strictSame(stored, [{ organizationId: 1, name: "bootstrap", keyPrefix: "gi" }])
})

test(t, "a key identifies the caller; an unknown, archived, empty or oversized one does not", function* (t) {
  yield* bootstrap("given-three")
  const caller = yield* keys.authenticate("given-three")
  yield* sql`INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, archived_at)
      VALUES (1, 'old', 'old', encode(sha256('archived'), 'hex'), now())`
  const [used] = yield* sql<{
    used: boolean
  }>`SELECT last_used_at > now() - interval '1 minute' AS used FROM api_keys WHERE id = ${caller.apiKeyId}`
  const refused = yield* Effect.forEach(["nobody's", "archived", "", "x".repeat(300), "\0"], authenticated)
  t.equal(caller.organizationId, ours)
  t.strictSame(used, { used: true })
  t.strictSame(new Set(refused), new Set(["InvalidApiKey"]))
})

test(t, "an upload is received with its own token, until it expires, and found by its owner once it is complete", function* (t) {
  const ticket = yield* uploads.request(ours, { fileName: "Été list (1).csv", fileSize: 10, contentType: "text/csv" })
  const early = yield* tag(uploads.find(ours, ticket.key))
  const open = yield* uploads.receive(ticket.key, ticket.token)
  const wrong = yield* Effect.forEach(
    [
      [ticket.key, "guess"],
      ["campaigns/1/none.csv", ticket.token],
      ["nul\0", "x"]
    ] as const,
    ([key, token]) => tag(uploads.receive(key, token))
  )
  yield* uploads.complete(ticket.key, { sizeBytes: 10, fileHash: "" }, Effect.void)
  const other = yield* tag(uploads.find(theirs, ticket.key))
  yield* sql`UPDATE uploads SET expires_at = now() - interval '1 second' WHERE key = ${ticket.key}`
  t.match(ticket.key, /^campaigns\/1\/[0-9a-f-]{36}__t__list__1_\.csv$/)
  t.match(ticket.token, /^[A-Za-z0-9_-]{43}$/)
  t.equal(ticket.expiresInSeconds, 900)
  t.strictSame(open, { key: ticket.key, maxBytes: 10_485_760 })
  t.strictSame([early, other, yield* tag(uploads.receive(ticket.key, ticket.token))], ["SourceNotFound", "SourceNotFound", "UploadRefused"])
  t.strictSame(new Set(wrong), new Set(["UploadRefused"]))
})

test(t, "each of several simultaneous updates creates a version of its own", function* (t) {
  const { id } = yield* makeAgent()
  yield* Effect.all(
    Array.from({ length: 8 }, (_, i) => agents.update(ours, id, { definition: definition(`${i}`) })),
    { concurrency: 8 }
  )
  t.equal((yield* agents.get(ours, id)).versionNumber, 9)
})

test(t, "agents are listed by status, and are invisible to others", function* (t) {
  const { id, workflowUuid } = yield* makeAgent()
  yield* agents.setStatus(ours, id, "archived")
  const tags = yield* Effect.all([
    tag(agents.get(theirs, id)),
    tag(agents.getByUuid(theirs, workflowUuid)),
    tag(agents.getByUuid(ours, "no uuid")),
    tag(agents.update(theirs, id, { name: "Mine" })),
    tag(agents.setStatus(theirs, id, "active")),
    tag(agents.get(ours, AgentId.make(99_999)))
  ])
  t.strictSame(new Set(tags), new Set(["AgentNotFound"]))
  t.strictSame(column(yield* agents.list(ours, { statuses: ["archived"] }), "status"), ["archived"])
  t.ok((yield* agents.list(ours)).length > 1)
})

test(t, "a definition that is not a graph is refused, with the place", function* (t) {
  const wrong = (part: JsonObject) =>
    check({ ...definition(), ...part }).map(({ kind, message, path }) => `${kind} ${path.join(".")}: ${message}`)
  const node = (id: string, type = "agentNode") => ({ id, type, data: {} })
  t.strictSame([check({}), check(definition())], [[], []])
  t.strictSame(column(check({ nodes: [] }), "path"), [["edges"]])
  t.strictSame(wrong({ nodes: "none" }), ["workflow nodes: Input should be a valid list"])
  t.strictSame(wrong({ nodes: [node("a", "zzz")] }), ["node nodes.0.type: Value error, unknown node type: 'zzz'"])
  t.strictSame(wrong({ nodes: [node("a", "toString")], edges: [] }), ["node nodes.0.type: Value error, unknown node type: 'toString'"])
  t.strictSame(wrong({ nodes: [{ type: "agentNode" }], edges: [7] }), [
    "node nodes.0.id: Field required",
    "edge edges.0: Input should be a valid dictionary"
  ])
  t.strictSame(wrong({ nodes: [node("a"), node("a")], edges: [] }), ["node nodes.1.id: Value error, node ids must be unique"])
  t.strictSame(wrong({ nodes: [node("a", "startCall"), node("b", "startCall")], edges: [] }), [
    "node nodes.1: Value error, Workflow can have at most one Start Call"
  ])
  t.strictSame(wrong({ nodes: [node("start")] }), ["edge edges.0.target: Value error, edge joins a node that does not exist"])
  const refusal = yield* Agents.use((_) => Effect.flip(_.create(ours, { name: "x", definition: { nodes: [node("a", "zzz")], edges: [] } })))
  t.match(refusal, { _tag: "AgentDefinitionRefused", problems: [{ kind: "node", id: "a", path: ["nodes", 0, "type"] }] })
})

t.test("what a definition says about its calls", async (t) => {
  const withSpeech = {
    ...definition("{{b}} {{current_time}} {{x.y}} {{c | d}}"),
    edges: [{ id: "e", source: "start", target: "end", data: { transition_speech: "{{a}}" } }]
  }
  t.equal(greetingOf(definition()), "Hello {{first_name}}")
  t.equal(greetingOf({ nodes: [{ id: "s", type: "startCall", data: { greeting_type: "audio", greeting: "Hi" } }], edges: [] }), undefined)
  t.equal(greetingOf({}), undefined)
  t.strictSame(requiredVariablesOf(withSpeech), ["a", "b", "first_name"])
  t.strictSame(requiredVariablesOf({ nodes: 7 }), undefined)
  t.strictSame([...variablesUsedBy(withSpeech)].sort(), ["a", "b", "c", "current_time", "first_name", "x"])
  t.strictSame([...variablesUsedBy({ nodes: [{ data: { prompt: "{{initial_context.town | there}}" } }] })], ["town"])
  t.strictSame(
    [{}, { max_call_duration: 60 }, { max_call_duration: 9999 }, { max_call_duration: 0 }, { max_call_duration: "60" }].map(
      maxCallDurationSeconds
    ),
    [300, 60, 1200, 1, 300]
  )
})

test(
  t,
  "given telephony configurations, each made the default at the same time, then one is, and the oldest is listed first",
  function* (t) {
    const { id } = yield* makeConfig("a", true)
    yield* Effect.all(
      Array.from({ length: 5 }, (_, i) => makeConfig(`race ${i}`, true)),
      { concurrency: 5 }
    )
    const listed = yield* configs.list(ours)
    t.equal(listed.filter(({ isDefaultOutbound }) => isDefaultOutbound).length, 1)
    t.equal(listed[0]?.name, "a")
    t.equal(yield* tag(configs.get(theirs, id)), "TelephonyConfigNotFound")
  }
)

test(t, "which configuration a call goes through: the one named, else the default, else the only one", function* (t) {
  const none = yield* tag(configs.resolve(theirs, undefined))
  const first = yield* makeConfig("first", false, theirs)
  const only = (yield* configs.resolve(theirs, undefined)).id === first.id
  yield* makeConfig("second", false, theirs)
  const several = yield* tag(configs.resolve(theirs, undefined))
  const named = [(yield* configs.resolve(theirs, first.id)).name, yield* tag(configs.resolve(theirs, TelephonyConfigId.make(99_999)))]
  t.strictSame([none, several], ["TelephonyNotConfigured", "TelephonyNotConfigured"])
  t.ok(only)
  t.strictSame(named, ["first", "TelephonyConfigNotFound"])
})
