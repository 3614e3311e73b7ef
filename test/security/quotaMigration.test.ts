/** Organizations from before there were quotas, in a database that is migrated: nobody loses what is in force, and nobody gains. */
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
const before = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-migrations-"))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const file of readdirSync(own)) if (file.slice(0, 4) < "0060") cpSync(join(own, file), join(folder, file))
  return folder
}

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
  const found = await runLive(
    Effect.flatMap(emptyDatabase, (url: Redacted.Redacted) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate(before())
        yield* fill
        yield* migrate()
        const operators = yield* sql<{ readonly name: string }>`SELECT name FROM api_keys WHERE is_operator`
        const quotas = yield* sql<{ readonly name: string; readonly allowed: number | null; readonly used: number }>`
        SELECT name, allowed, used FROM quotas WHERE organization_id = 2 ORDER BY name`
        const calls = yield* sql`SELECT allowed FROM quotas WHERE name = 'calls' ORDER BY organization_id`
        return { operators, quotas, calls }
      }).pipe(Effect.provide(Layer.fresh(clientLayer(url))))
    )
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
