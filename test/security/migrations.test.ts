/** Rows from before credentials had lists of hosts, and organizations quotas, in a database that is migrated: nobody loses or gains anything. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { migratedFrom } from "#test/store/olderDatabase.ts"

type Statements<A> = (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>
/** What is in a database that was filled when this migration was the newest, and has been migrated since. */
const migrated = <A>(last: string, fill: Statements<unknown>, read: Statements<A>): Promise<A> =>
  migratedFrom(t, last, SqlClient.SqlClient.use(fill), () => SqlClient.SqlClient.use(read))

const uuids = ["a", "b", "c"].map((letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`)
const [first = "", second = "", others = ""] = uuids
const webhook = (endpoint_url: unknown, credential_uuid: unknown = first) => ({ type: "webhook", data: { endpoint_url, credential_uuid } })
const fetch = (pre_call_fetch_url: string, pre_call_fetch_credential_uuid: string) => ({
  type: "startCall",
  data: { pre_call_fetch_url, pre_call_fetch_credential_uuid }
})
const tool = (config: object) => ({ schema_version: 1, type: "http_api", config })

const published = [
  webhook("https://crm.example.com/calls?a=1"),
  webhook("http://10.0.0.5/x", first.toUpperCase()),
  webhook(" HTTPS://Two.Example.com:8443 "),
  webhook("https://three.example.com:443#x"),
  webhook("http://[::1]:8080/"),
  webhook("https://crm.example.com/again"),
  webhook("ftp://four.example.com/"),
  webhook("https://user:pass@five.example.com/"),
  webhook("no address"),
  webhook(7),
  webhook("https://six.example.com", "no uuid"),
  webhook("https://theirs.example.com", others),
  fetch("https://b\u00fccher.example/ctx", second),
  { type: "startCall" },
  "odd"
]

const credentials = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`INSERT INTO organizations (name, concurrency_limit) VALUES ('One', 5), ('Two', 5)`
  for (const uuid of uuids) {
    yield* sql`INSERT INTO credentials (organization_id, uuid, name, credential_type, credential_data)
      VALUES (${uuid === others ? 2 : 1}, ${uuid}::uuid, ${uuid}, 'none', '{}')`
  }
  yield* sql`INSERT INTO agents (organization_id, name) VALUES (1, 'Old')`
  const version = (status: string, number: number, nodes: ReadonlyArray<unknown>) => sql<{ readonly id: number }>`
    INSERT INTO agent_definitions (organization_id, agent_id, version_number, version_status, definition)
    VALUES (1, 1, ${number}, ${status}, ${JSON.stringify({ nodes, edges: [] })}::text::jsonb) RETURNING id`
  yield* version("archived", 1, [webhook("https://former.example.com")])
  const [current] = yield* version("published", 2, published)
  yield* version("draft", 3, [webhook("https://draft.example.com")])
  yield* sql`UPDATE agents SET current_definition_id = ${current?.id ?? 0}::int`
  const tools = [
    tool({ url: "https://api.example.com/{{x}}", credential_uuid: second }),
    tool({ destination_source: "dynamic", resolver: { url: "https://who.example.com", credential_uuid: second } }),
    { schema_version: 1, type: "calculator" }
  ]
  for (const definition of tools) {
    yield* sql`INSERT INTO tools (organization_id, name, category, definition) VALUES (1, 't', 'http_api', ${JSON.stringify(definition)}::text::jsonb)`
  }
})

t.test("given credentials from before 0030, when the database is migrated, then each lists the hosts that it is sent to", async (t) => {
  const lists = await migrated(
    "0029",
    credentials,
    (sql) => sql<{ readonly allowedHosts: ReadonlyArray<string> }>`SELECT allowed_hosts FROM credentials ORDER BY uuid`
  )
  const hosts = lists.map(({ allowedHosts }) => [...allowedHosts].sort())
  t.strictSame(hosts, [
    ["10.0.0.5:80", "[::1]:8080", "crm.example.com", "three.example.com", "two.example.com:8443"],
    ["api.example.com", "b\u00fccher.example", "who.example.com"],
    []
  ])
})

const organizations = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`INSERT INTO organizations (name, concurrency_limit) VALUES ('One', 10), ('Two', 100000)`
  yield* sql`INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role, is_bootstrap, archived_at, scopes) VALUES
    (1, 'first', 'a', 'a', 'owner', true, NULL, NULL), (1, 'owner', 'b', 'b', 'owner', false, NULL, NULL),
    (1, 'scoped', 'c', 'c', 'owner', false, NULL, ARRAY['admin']), (2, 'theirs', 'd', 'd', 'owner', false, NULL, NULL),
    (2, 'gone', 'e', 'e', 'owner', false, now(), NULL)`
  yield* sql`INSERT INTO agents (organization_id, name) SELECT 2, 'Old' FROM generate_series(1, 3)`
  yield* sql`INSERT INTO campaigns (organization_id, name, agent_id, source_type, source_id, source_hash, source_sync, rate_limit, retry_config, total_rows)
    SELECT 2, 'Old', 1, 'csv', 'x', '', '{}', 1, '{}', 700 FROM generate_series(1, 2)`
  yield* sql`INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at, size_bytes, received_at) VALUES
    ('campaigns/2/a.csv', 2, 'a.csv', '', now(), 5000, now()), ('campaigns/2/b.csv', 2, 'b.csv', '', now(), NULL, NULL)`
})

t.test("given two organizations from before 0060, when the database is migrated", async (t) => {
  const found = await migrated("0059", organizations, (sql) =>
    Effect.all({
      operators: sql`SELECT name FROM api_keys WHERE is_operator`,
      quotas: sql`SELECT name, allowed, used FROM quotas WHERE organization_id = 2 ORDER BY name`,
      calls: sql`SELECT allowed FROM quotas WHERE name = 'calls' ORDER BY organization_id`
    })
  )

  t.strictSame(found.operators, [{ name: "first" }], "the first key of the first organization is the operator's, and no other")
  t.strictSame(found.calls, [{ allowed: 10 }, { allowed: 100_000 }], "as many calls as were in force are allowed")
  t.strictSame(found.quotas, [
    { name: "agents", allowed: null, used: 3 },
    { name: "calls", allowed: 100_000, used: 0 },
    { name: "keys", allowed: null, used: 1 },
    { name: "rows", allowed: null, used: 1400 },
    { name: "storage_bytes", allowed: null, used: 5000 }
  ])
})
