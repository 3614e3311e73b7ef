/** Credentials from before they had a list of hosts, in a database that is migrated: what used to be sent is still sent. */
import { Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import t from "tap"
import { clientLayer, emptyDatabase, migrate } from "#test/support/postgres.ts"
import { runLive } from "#test/support/run.ts"

const own = fileURLToPath(new URL("../../core/migrations/", import.meta.url))
/** The engine's own migrations, as they were before that list existed. */
const before = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-migrations-"))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const file of readdirSync(own)) if (file.slice(0, 4) < "0030") cpSync(join(own, file), join(folder, file))
  return folder
}

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

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
  const lists = await runLive(
    Effect.flatMap(emptyDatabase, (url: Redacted.Redacted) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate(before())
        yield* fill
        yield* migrate()
        return yield* sql<{ readonly uuid: string; readonly allowedHosts: ReadonlyArray<string> }>`
          SELECT uuid, allowed_hosts FROM credentials ORDER BY uuid`
      }).pipe(Effect.provide(Layer.fresh(clientLayer(url))))
    )
  )
  t.strictSame(
    lists.map(({ allowedHosts }) => [...allowedHosts].sort()),
    [
      ["10.0.0.5:80", "[::1]:8080", "crm.example.com", "three.example.com", "two.example.com:8443"],
      ["api.example.com", "b\u00fccher.example", "who.example.com"],
      []
    ]
  )
})
