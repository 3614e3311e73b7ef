/**
 * Lists whose items are as large as a body may be: one read of a hundred of them used to be answered with tens of megabytes, built on the only
 * thread, and held in memory for as long as the client took to read them.
 */
import { SqlClient } from "effect/sql"
import t from "tap"
import { openApi, pagesOf } from "#test/gateway/apiTest.ts"

const api = await openApi(t)
const { id: agent } = await api.makeAgent()
const count = 40
const largestAnswer = 3_000_000

await api.database.run(function* () {
  const sql = yield* SqlClient.SqlClient
  const { organizationId } = api
  const rows = sql`FROM generate_series(1, ${count}::int) n`
  const text = sql`repeat('p', 200000)`
  yield* sql`
    INSERT INTO agent_definitions (organization_id, agent_id, version_number, version_status, definition, configurations, secrets)
    SELECT ${organizationId}::int, ${Number(agent)}::int, 100 + n, 'archived', jsonb_build_object('note', ${text}), '{}', '' ${rows}`
  yield* sql`INSERT INTO tools (organization_id, name, category, definition)
    SELECT ${organizationId}::int, 'T', 'end_call', jsonb_build_object('schema_version', 1, 'type', 'end_call', 'config',
      jsonb_build_object('note', ${text})) ${rows}`
  yield* sql`INSERT INTO recordings (organization_id, recording_id, transcript, storage_key, metadata)
    SELECT ${organizationId}::int, 'r' || n, ${text}, 'recordings/1/a/' || n, '{}' ${rows}`
  yield* sql`INSERT INTO documents (organization_id, document_uuid, file_name, size_bytes, file_hash, media_type, storage_key, custom_metadata)
    SELECT ${organizationId}::int, gen_random_uuid(), 'd', 1, 'h', 'text/plain', 'documents/1/a/' || n, jsonb_build_object('note', ${text})
    ${rows}`
})

const itemsIn = (json: unknown): ReadonlyArray<unknown> =>
  Array.isArray(json) ? json : (Object.values(Object(json)).find(Array.isArray) ?? [])
t.test("given large items, as many as a list can show", async (t) => {
  for (const [path, extra] of [
    [`/workflow/${agent}/versions`, 1],
    ["/tools/", 0],
    ["/workflow-recordings/", 0],
    ["/knowledge-base/documents", 0]
  ] as const) {
    t.test(`when ${path.replace(/\d+/, "{id}")} is read, then no answer is large, and its links lead to all items`, async (t) => {
      const answers = await pagesOf(api.ask, path)
      for (const { text } of answers) t.ok(text.length < largestAnswer, `${text.length}`)
      t.equal(answers.flatMap(({ json }) => itemsIn(json)).length, count + extra)
    })
  }
})
