/** Lists that are longer than one answer: each can be read to its end, which it indicates. */
import { SqlClient } from "effect/sql"
import t from "tap"
import { nextIn, openApi, pagesOf } from "./apiTest.ts"

const api = await openApi(t)
const count = 1200

await api.database.run(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const id of [api.organizationId, api.otherId]) {
    const name = sql`'Name ' || lpad(n::text, 4, '0')`
    const rows = sql`FROM generate_series(1, ${count}::int) n`
    // Every third one is archived, and the two organizations' ids alternate.
    yield* sql`INSERT INTO agents (organization_id, name, status)
      SELECT ${id}::int, ${name}, CASE WHEN n % 3 = 0 THEN 'archived' ELSE 'active' END ${rows}`
    yield* sql`INSERT INTO folders (organization_id, name) SELECT ${id}::int, ${name} ${rows}`
    yield* sql`INSERT INTO credentials (organization_id, name, credential_type, credential_data) SELECT ${id}::int, ${name}, 'none', '{}' ${rows}`
    yield* sql`INSERT INTO tools (organization_id, name, category, definition)
      SELECT ${id}::int, ${name}, 'end_call', '{"schema_version": 1, "type": "end_call", "config": {}}' ${rows}`
    yield* sql`INSERT INTO recordings (organization_id, recording_id, transcript, storage_key, metadata)
      SELECT ${id}::int, ${name}, '', 'recordings/1/a/' || n, '{}' ${rows}`
    yield* sql`INSERT INTO campaigns (organization_id, name, agent_id, source_type, source_id, source_hash, source_sync, rate_limit, retry_config, total_rows)
      SELECT ${id}::int, ${name}, (SELECT min(id) FROM agents WHERE organization_id = ${id}), 'csv', 'x', '',
        '{"status": "completed", "lastSyncedAt": null, "error": null, "rowsInFile": 1, "accepted": 1, "skipped": 0, "warnings": []}', 1,
        '{"enabled": true, "maxRetries": 1, "retryDelaySeconds": 60, "retryOnBusy": true, "retryOnNoAnswer": true, "retryOnVoicemail": true}', 1
      ${rows}`
  }
})

interface Named {
  readonly name?: string
  readonly recording_id?: string
}
/** The names in an answer that is a list or contains one. */
const namesIn = (json: unknown): ReadonlyArray<string> => {
  const list = Array.isArray(json) ? json : Object.values(json ?? {}).find(Array.isArray)
  return (list ?? []).map(({ name, recording_id }: Named) => name ?? recording_id ?? "")
}
/** The contents of the answers, for as long as there is a next one. */
const read = async (path: string) => (await pagesOf(api.ask, path)).map(({ json }) => namesIn(json))

const names = Array.from({ length: count }, (_, at) => `Name ${String(at + 1).padStart(4, "0")}`)
const backwards = names.toReversed()
const active = names.filter((_, at) => (at + 1) % 3 !== 0)

const lists: ReadonlyArray<readonly [path: string, inOrder: ReadonlyArray<string>]> = [
  ["/workflow/fetch", names],
  ["/workflow/summary", names],
  ["/organizations/reports/workflows", names],
  ["/folder/", names],
  ["/credentials/", names],
  ["/tools/", names],
  ["/workflow-recordings/", backwards],
  ["/campaign/", backwards]
]

for (const [path, inOrder] of lists) {
  t.test(`given 1,200 items that ${path} lists`, async (t) => {
    t.test("when no page is requested, then a thousand come, with a link to the others", async (t) => {
      const pages = await read(path)
      const lengths = pages.map(({ length }) => length)
      t.strictSame(lengths, [1000, 200])
      t.strictSame(pages.flat(), inOrder)
    })
    t.test("when pages just fit, then the last one says that it is the last", async (t) => {
      const pages = await read(`${path}?limit=600`)
      const lengths = pages.map(({ length }) => length)
      t.strictSame(lengths, [600, 600])
      t.strictSame(pages.flat(), inOrder)
    })
    t.test("when some are skipped, then the others come", async (t) => {
      t.strictSame((await read(`${path}?limit=500&offset=1100`)).flat(), inOrder.slice(1100))
      t.strictSame((await read(`${path}?limit=500&offset=1200`)).flat(), [])
      t.strictSame((await read(`${path}?limit=60&offset=1000`)).flat(), inOrder.slice(1000))
    })
    t.test("when the page is invalid, then 422", async (t) => {
      for (const query of ["limit=0", "limit=1001", "offset=-1", "limit=x"]) {
        t.equal((await api.ask("GET", `${path}?${query}`)).status, 422, query)
      }
    })
  })
}

t.test("given a filter, when the list continues, then the filter still applies", async (t) => {
  for (const path of ["/workflow/fetch", "/workflow/summary"]) {
    const pages = await read(`${path}?status=active&limit=500`)
    const lengths = pages.map(({ length }) => length)
    t.strictSame(lengths, [500, 300])
    t.strictSame(pages.flat(), active)
  }
})

t.test("given an agent that is deleted while the list is read, when the next page comes, then no other is missing", async (t) => {
  const first = await api.ask("GET", "/workflow/fetch?status=active&limit=500")
  await api.sql`UPDATE agents SET status = 'archived' WHERE name = 'Name 0001'`
  const { json } = await api.ask("GET", nextIn(first) ?? "")
  t.strictSame(namesIn(json), active.slice(500))
})
