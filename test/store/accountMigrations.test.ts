/** What existed before accounts had invitations, sessions and addresses, in a database with years of rows that is migrated. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import * as events from "#core/event/EventStore.ts"
import { OrganizationId } from "#core/Id.ts"
import * as keys from "#core/organization/ApiKeyStore.ts"
import * as users from "#core/organization/UserStore.ts"
import { migratedFrom } from "./olderDatabase.ts"

const organizations = 3
/** The number of rows of each kind in each organization. */
const rows = 200

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const each = sql`FROM generate_series(1, ${organizations}::int) o, generate_series(1, ${rows}::int) n`
  const ago = sql`now() - make_interval(days => (1100 - n)::int)`
  yield* sql`INSERT INTO organizations (name, concurrency_limit) SELECT 'O' || o, 10 FROM generate_series(1, ${organizations}::int) o`
  yield* sql`INSERT INTO users (email, name, password_hash, selected_organization_id, created_at)
    SELECT 'u' || o || '.' || n || '@example.org', 'U', 'scrypt', o, ${ago} ${each} ORDER BY o, n`
  yield* sql`INSERT INTO memberships (organization_id, user_id, role)
    SELECT selected_organization_id, id, CASE WHEN id % 7 = 0 THEN 'owner' WHEN id % 3 = 0 THEN 'admin' ELSE 'member' END FROM users`
  // Some belong to a user, some are archived, and one belongs to somebody who is no longer a member.
  yield* sql`INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role, user_id, archived_at)
    SELECT o, 'k', 'p', 'hash-' || o || '-' || n, CASE WHEN n % 2 = 0 THEN 'admin' ELSE 'viewer' END,
      CASE WHEN n % 4 = 0 THEN (o - 1) * ${rows}::int + n END, CASE WHEN n % 10 = 9 THEN now() END ${each}`
  yield* sql`DELETE FROM memberships WHERE organization_id = 2 AND user_id = (SELECT user_id FROM api_keys WHERE key_hash = 'hash-2-8')`
  yield* sql`INSERT INTO agents (organization_id, name, status) SELECT o, 'A', CASE WHEN n % 5 = 0 THEN 'archived' ELSE 'active' END ${each}`
  yield* sql`INSERT INTO agent_definitions (organization_id, agent_id, version_number, version_status, definition)
    SELECT organization_id, id, v, (ARRAY['archived', 'published', 'draft'])[v], '{"nodes": [], "edges": []}' FROM agents, generate_series(1, 3) v`
  yield* sql`UPDATE agents SET current_definition_id = d.id FROM agent_definitions d WHERE d.agent_id = agents.id AND d.version_number = 2`
  yield* sql`INSERT INTO telephony_configurations (organization_id, name, provider, credentials) SELECT o, 't' || n, 'ari', '{"app_password": "x"}' ${each}`
  yield* sql`INSERT INTO credentials (organization_id, name, credential_type, credential_data) SELECT o, 'c' || n, 'bearer_token', '{"token": "x"}' ${each}`
  yield* sql`INSERT INTO tools (organization_id, name, category, definition, created_by)
    SELECT o, 'T', 'end_call', '{"schema_version": 1, "type": "end_call"}', n ${each}`
  yield* sql`INSERT INTO recordings (organization_id, recording_id, transcript, storage_key, metadata, created_by)
    SELECT o, 'r' || n, '', 'recordings/' || o || '/' || n, '{}', n ${each}`
  yield* sql`INSERT INTO documents (organization_id, document_uuid, file_name, size_bytes, file_hash, media_type, storage_key, custom_metadata)
    SELECT o, gen_random_uuid(), 'd', 1, 'h', 'text/plain', 'documents/' || o || '/' || n, '{}' ${each}`
  yield* sql`INSERT INTO uploads (key, organization_id, file_name, token_hash, expires_at, received_at)
    SELECT 'campaigns/' || o || '/' || n, o, 'l.csv', 'h', ${ago}, CASE WHEN n % 2 = 0 THEN now() END ${each}`
  yield* sql`INSERT INTO webhook_endpoints (organization_id, url, description, event_types, enabled, secret)
    SELECT o, 'https://example.org/', '', '{}', n % 2 = 0, 's' ${each}`
  yield* sql`INSERT INTO audit_log (organization_id, at, user_id, action, resource_kind) SELECT o, ${ago}, n, 'create', 'campaign' ${each}`
  yield* sql`INSERT INTO events (organization_id, type, subject, data, created_at) SELECT o, 'campaign.created', 'campaigns/1', '{}', now() ${each} ORDER BY o, n`
  // Events that were older than a week are gone: all of the first organization's, and half of the second's.
  yield* sql`DELETE FROM events WHERE id <= ${rows + rows / 2}::int`
})

const tables = [
  ...["organizations", "users", "memberships", "api_keys", "agents", "agent_definitions", "telephony_configurations", "credentials"],
  ...["tools", "recordings", "documents", "uploads", "webhook_endpoints", "audit_log", "events"]
]
const counts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.forEach(tables, (table) =>
    Effect.map(
      sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM ${sql.literal(table)}`,
      ([row]) => `${table} ${row?.count}`
    )
  )
})

const claimedAt = SqlClient.SqlClient.use(
  (sql) => sql<{ readonly claimed: boolean; readonly isOldest: boolean | null }>`
    SELECT claimed_at IS NOT NULL AS claimed, claimed_at = (SELECT min(created_at) FROM users) AS is_oldest FROM first_account`
)

t.test("given a database from before 0040 with rows of every kind, when it is migrated", async (t) => {
  const look = Effect.fnUntraced(function* (before: ReadonlyArray<string>) {
    const sql = yield* SqlClient.SqlClient
    const found = yield* Effect.forEach(["hash-1-2", "hash-1-9", "hash-2-4", "hash-2-8", "hash-3-1"], (hash) => keys.use(sql, hash))
    const [limits] = yield* sql<{ readonly limited: number }>`
      SELECT count(*)::int AS limited FROM api_keys WHERE expires_at IS NOT NULL OR scopes IS NOT NULL`
    const [addressed] = yield* sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM audit_log WHERE address IS NOT NULL`
    const open = yield* sql<{ readonly name: string }>`
      SELECT relname AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace AND n.nspname = current_schema()
      WHERE relkind = 'r' AND NOT relrowsecurity AND relname IN ('login_addresses', 'first_account', 'invitations', 'invitation_tokens',
        'sessions', 'event_horizons')`
    const kept = yield* Effect.forEach([1, 2, 3], (id) => events.kept(sql, OrganizationId.make(id)))
    const user = yield* users.findByEmail(sql, "u2.5@example.org")
    return { before, after: yield* counts, claimed: yield* claimedAt, found, limits, addressed, open, kept, user }
  })
  const seen = await migratedFrom(t, "0039", Effect.andThen(fill, counts), look)

  t.test("then no row is lost", async (t) => t.strictSame(seen.after, seen.before))

  t.test("then the first account counts as created, and nobody else can create it", async (t) => {
    t.strictSame(seen.claimed, [{ claimed: true, isOldest: true }])
  })

  t.test("then keys keep their permissions and their expiry, and invalid ones stay invalid", async (t) => {
    t.match(seen.found, [
      { organizationId: 1, role: "admin", scopes: null },
      undefined,
      { organizationId: 2, role: "admin", scopes: null },
      undefined,
      { organizationId: 3, role: "viewer", scopes: null }
    ])
    t.strictSame(seen.limits, { limited: 0 })
  })

  t.test("then users log in with their passwords, and entries of the audit log have no address", async (t) => {
    t.match(seen.user, { email: "u2.5@example.org", passwordHash: "scrypt", organizationId: 2 })
    t.strictSame(seen.addressed, { count: 0 })
  })

  t.test("then each new table has its row-level security, and each organization its own event horizon", async (t) => {
    t.strictSame(seen.open, [])
    const horizons = seen.kept.map(({ goneUntil, newest }) => [Number(goneUntil), Number(newest)])
    t.strictSame(horizons, [
      [0, 0],
      [rows + rows / 2, 2 * rows],
      [2 * rows, 3 * rows]
    ])
  })
})

t.test("given a database from before 0040 without a user, when it is migrated, then the first account can be created", async (t) => {
  const found = SqlClient.SqlClient.use((sql) => sql`INSERT INTO organizations (name, concurrency_limit) VALUES ('One', 5)`)
  t.match(await migratedFrom(t, "0039", found, () => claimedAt), [{ claimed: false }])
})
