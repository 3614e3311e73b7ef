/** The second line of separation between organizations: what the database itself enforces. */
import { Effect, Exit, Layer, Redacted, Stream } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import t from "tap"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import type { OrganizationId } from "#core/Id.ts"
import { clientLayer } from "#runtime/postgres/postgres.ts"
import * as given from "#test/support/given.ts"
import { openDatabase, witness } from "#test/support/postgres.ts"
import { runLive } from "#test/support/run.ts"

const database = await openDatabase(t)
const { ours, theirs } = await database.run(function* () {
  const one = yield* given.campaign({ contacts: 3 })
  const other = yield* given.campaign({ contacts: 5 })
  const sql = yield* SqlClient.SqlClient
  for (const { campaignId } of [one, other]) yield* sql`INSERT INTO campaign_dials VALUES (${campaignId}, 0, 0)`
  return { ours: one, theirs: other }
})

/** The error code of Postgres for a violated policy or a missing privilege. */
const refused = "42501"
const codeOf = (error: SqlError.SqlError): string => String(error.reason.cause instanceof Object && Reflect.get(error.reason.cause, "code"))
/** The code of the error that a statement ends with. */
const fault = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>, tenant: OrganizationId) =>
  database.run(
    Effect.flatMap(SqlClient.SqlClient, statement).pipe(Effect.flip, Effect.map(codeOf), Effect.provideService(CurrentTenant, tenant))
  )

/** How many rows are returned. */
const seen = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<unknown>, unknown>, tenant?: OrganizationId) =>
  database.run(
    Effect.flatMap(SqlClient.SqlClient, statement).pipe(
      Effect.map((rows) => rows.length),
      Effect.provideService(CurrentTenant, tenant)
    )
  )

t.test("given a request of an organization", async (t) => {
  t.test("when a query forgets to name the organization, then it sees that organization's rows alone", async (t) => {
    t.equal(await seen((sql) => sql`SELECT * FROM contacts`), 8)
    t.equal(await seen((sql) => sql`SELECT * FROM contacts`, ours.organizationId), 3)
    t.equal(await seen((sql) => sql`SELECT * FROM contacts`, theirs.organizationId), 5)
    t.equal(await seen((sql) => sql`SELECT * FROM campaigns WHERE id = ${theirs.campaignId}`, ours.organizationId), 0)
    t.equal(await seen((sql) => sql`SELECT * FROM campaign_dials`, ours.organizationId), 1)
    t.equal(await seen((sql) => sql`SELECT * FROM organizations`, ours.organizationId), 1)
    t.equal(await seen((sql) => Stream.runCollect(sql`SELECT * FROM contacts`.stream), ours.organizationId), 3)
  })

  t.test("when a statement changes what is another's, then nothing is changed", async (t) => {
    t.equal(await seen((sql) => sql`UPDATE campaigns SET name = 'stolen' RETURNING id`, ours.organizationId), 1)
    t.equal(await seen((sql) => sql`DELETE FROM contacts WHERE campaign_id = ${theirs.campaignId} RETURNING 1`, ours.organizationId), 0)
    const planted = (sql: SqlClient.SqlClient) =>
      sql`INSERT INTO agents (organization_id, name) VALUES (${theirs.organizationId}, 'planted')`
    t.equal(await fault(planted, ours.organizationId), refused)
  })

  t.test("when it works in a transaction, then the same is true there, and after it was rolled back", async (t) => {
    const changed = await database.run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const work = Effect.gen(function* () {
          yield* sql`UPDATE contacts SET last_outcome = 'x'`
          return yield* Effect.flip(sql.withTransaction(sql`SELECT * FROM contacts WHERE last_outcome = 'x'`))
        })
        return yield* Effect.flip(sql.withTransaction(work))
      }).pipe(Effect.provideService(CurrentTenant, ours.organizationId))
    )
    t.equal(Array.isArray(changed) ? changed.length : changed, 3)
    t.equal(await seen((sql) => sql`SELECT * FROM contacts`, ours.organizationId), 3)
  })

  t.test("when many organizations send requests at the same time, then each sees its own", async (t) => {
    const asked = Array.from({ length: 200 }, (_, at) => (at % 3 === 0 ? theirs : ours))
    const counts = await Promise.all(asked.map(({ organizationId }) => seen((sql) => sql`SELECT * FROM contacts`, organizationId)))
    t.strictSame(
      counts,
      asked.map(({ numbers }) => numbers.length)
    )
  })

  t.test("when it looks for secrets of the installation, then it has no access", async (t) => {
    t.equal(await fault((sql) => sql`SELECT * FROM installation_secrets`, ours.organizationId), refused)
  })
})

t.test("given a database that briefly cannot confirm row-level security, when a request arrives", async (t) => {
  const asked = await runLive(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const request = Effect.provideService(Effect.exit(sql`SELECT * FROM contacts`), CurrentTenant, ours.organizationId)
      yield* sql`ALTER TABLE campaigns RENAME TO away`
      const meanwhile = yield* request
      yield* sql`ALTER TABLE away RENAME TO campaigns`
      const rows = yield* Effect.orDie(Effect.flatten(request))
      return { meanwhile: Exit.isFailure(meanwhile), rows: rows.length }
    }).pipe(Effect.provide(Layer.fresh(clientLayer(Redacted.make(database.url)))), Effect.orDie)
  )
  t.strictSame(asked, { meanwhile: true, rows: 3 }, "then it is refused, and the next one sees its own rows alone")
})

/** Tables that belong to the whole installation. */
const common = ["engine_lock", "installation", "installation_secrets", "leaving_engines", "schema_migrations", "secrets_keys"]

t.test("given all tables, when one holds rows of organizations, then it has a policy", async (t) => {
  const sql = witness(database.url)
  t.teardown(() => sql.end())
  const bare = await sql`
    SELECT c.relname AS name FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
      AND NOT (c.relrowsecurity AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid))
    ORDER BY 1`
  const names = bare.map(({ name }) => String(name))
  t.strictSame(names, common)
})
