/** The database role that requests run as, on the sessions that they use: what it cannot become, read or write. */
import { Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import t from "tap"
import type { OrganizationId } from "#core/Id.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import * as postgres from "#runtime/postgres/postgres.ts"
import { roleNameOf } from "#runtime/postgres/TenantRole.ts"
import { TenantWall } from "#runtime/postgres/TenantWall.ts"
import * as given from "#test/support/given.ts"
import { migrate, openDatabase, witness } from "#test/support/postgres.ts"

const database = await openDatabase(t)
const superuser = witness(database.url)
t.teardown(() => superuser.end())
const { ours, theirs } = await database.run(function* () {
  const sql = yield* SqlClient.SqlClient
  const made = { ours: yield* given.organization({ name: "ours" }), theirs: yield* given.organization({ name: "theirs-mark" }) }
  for (const [name, id] of Object.entries(made)) {
    yield* given.apiKey(id, `${name}-mark-0123456789abcdef`)
    yield* given.telephonyConfiguration(id, { credentials: { app_password: `${name}-mark` } })
    yield* sql`
      WITH u AS (INSERT INTO users (email, name, password_hash) VALUES (${`${name}-mark@example.com`}, 'x', 'hash-mark') RETURNING id)
      INSERT INTO memberships (organization_id, user_id, role) SELECT ${id}::int, id, 'owner' FROM u`
  }
  yield* sql`INSERT INTO installation_secrets (name, secret) VALUES ('jwt', 'installation-mark')`
  return made
})

const codeOf = (error: SqlError.SqlError): string => String(error.reason.cause instanceof Object && Reflect.get(error.reason.cause, "code"))
type Statement = (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>
/** Runs a statement as a request would; returns the result, or the code of the error. */
const asked = (statement: Statement, tenant: OrganizationId = ours) =>
  database.run(
    Effect.flatMap(SqlClient.SqlClient, statement).pipe(
      Effect.catch((error) => Effect.succeed(codeOf(error))),
      Effect.provideService(CurrentTenant, tenant)
    )
  )
const refused = "42501"

t.test("given a session of requests", async (t) => {
  t.test("when it asks who it is, then it is a role with its own login, for this database and schema alone", async (t) => {
    const role = roleNameOf(new URL(database.url).pathname.slice(1), "public")
    const who = (sql: SqlClient.SqlClient) => sql`SELECT session_user::text AS session, current_user::text AS current`
    t.strictSame(await asked(who), [{ session: role, current: role }])
    t.not(roleNameOf("a", "bc"), roleNameOf("ab", "c"))
  })

  t.test("when it tries to become another role, then it stays who it is", async (t) => {
    const owner = String((await superuser`SELECT current_user AS name`)[0]?.["name"])
    const then = (sql: SqlClient.SqlClient, become: string) =>
      sql.withTransaction(Effect.andThen(sql.unsafe(become), sql`SELECT count(*)::int AS count FROM organizations`))
    for (const become of ["RESET ROLE", "SET ROLE NONE", "RESET SESSION AUTHORIZATION"]) {
      t.strictSame(await asked((sql) => then(sql, become)), [{ count: 1 }], become)
    }
    for (const become of [`SET ROLE ${owner}`, `SET SESSION AUTHORIZATION ${owner}`, `SET LOCAL ROLE ${owner}`]) {
      t.equal(await asked((sql) => then(sql, become)), refused, become)
    }
  })

  t.test("when it looks for hashes and secrets of the installation, then it can neither read nor write them", async (t) => {
    const statements = [
      "SELECT password_hash FROM users",
      "SELECT * FROM users",
      "SELECT u FROM users u",
      "SELECT 1 FROM users WHERE password_hash LIKE 'h%'",
      "UPDATE users SET password_hash = 'mine'",
      "SELECT key_hash FROM api_keys",
      "UPDATE api_keys SET key_hash = 'mine'",
      "SELECT token_hash FROM uploads",
      "SELECT * FROM installation_secrets",
      "SELECT * FROM secrets_keys",
      "SELECT * FROM engine_lock",
      "SELECT * FROM schema_migrations",
      "SELECT * FROM installation",
      "SELECT rolpassword FROM pg_authid",
      `SELECT add_event(${theirs}, 'run.completed', 'runs/1', '{}')`
    ]
    for (const statement of statements) t.equal(await asked((sql) => sql.unsafe(statement)), refused, statement)
  })

  t.test("when it reads everything it may, then nothing is another organization's, and nothing is a hash", async (t) => {
    const all = await asked((sql) =>
      Effect.gen(function* () {
        const columns = yield* sql<{ readonly name: string; readonly list: string }>`
          SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ') AS list
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND has_column_privilege(c.oid, a.attnum, 'SELECT')
          GROUP BY c.relname`
        const rows = yield* Effect.forEach(columns, ({ list, name }) => sql.unsafe(`SELECT row(${list})::text AS row FROM ${name}`))
        return JSON.stringify(rows)
      })
    )
    t.match(all, /ours-mark@example\.com/)
    t.notMatch(all, /theirs|hash-mark|installation-mark|[0-9a-f]{64}/)
  })

  t.test("when no organization is set, then it sees nothing", async (t) => {
    const told = (sql: SqlClient.SqlClient) =>
      sql.withTransaction(
        Effect.andThen(
          sql`SELECT set_config('trunkline.organization', '', true)`,
          sql`SELECT (SELECT count(*) FROM organizations)::int + (SELECT count(*) FROM users)::int AS count`
        )
      )
    t.strictSame(await asked(told), [{ count: 0 }])
  })
})

t.test("given the role that all installations of a server used to share, then it may no longer do anything here", async (t) => {
  const [row] = await superuser`
    SELECT count(*)::int AS count FROM pg_class c, aclexplode(c.relacl) AS granted JOIN pg_roles r ON r.oid = granted.grantee
    WHERE c.relnamespace = 'public'::regnamespace AND r.rolname = 'trunkline_tenant'`
  t.strictSame(row, { count: 0 })
})

t.test("given a database whose owner cannot create roles", async (t) => {
  const name = `owner_${process.pid}`
  const address = new URL(database.url)
  await superuser.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD 'owner' NOCREATEROLE`)
  await superuser.unsafe(`CREATE DATABASE ${name} OWNER ${name}`)
  t.teardown(async () => {
    await superuser.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
    await superuser.unsafe(`DROP ROLE IF EXISTS ${roleNameOf(name, "public")}`)
    await superuser.unsafe(`DROP ROLE IF EXISTS ${name}`)
    await superuser.unsafe(`DROP ROLE IF EXISTS ${name}_tenant`)
  })
  const as = (user: string, password: string) => {
    const url = new URL(address)
    url.pathname = `/${name}`
    url.username = user
    url.password = password
    return Redacted.make(url.href)
  }
  const raised = (tenantUrl?: Redacted.Redacted) =>
    Effect.runPromise(
      TenantWall.use((wall) => wall.raised).pipe(
        Effect.map(({ obstacle, wall }) => [wall?.role, obstacle] as const),
        Effect.provide(Layer.fresh(postgres.clientLayer(as(name, "owner"), { tenantUrl })))
      )
    )
  await Effect.runPromise(migrate().pipe(Effect.provide(Layer.fresh(postgres.clientLayer(as(name, "owner"))))))

  t.test("when no role is provided, then there is no isolation, and the engine says why", async (t) => {
    const [role, obstacle] = await raised()
    t.equal(role, undefined)
    t.match(obstacle, /permission denied to create role/)
  })

  t.test("when the operator names a role for requests, then that one isolates them", async (t) => {
    await superuser.unsafe(`CREATE ROLE ${name}_tenant LOGIN PASSWORD 'tenant'`)
    t.strictSame(await raised(as(`${name}_tenant`, "tenant")), [`${name}_tenant`, undefined])
  })

  t.test("when they name the engine's own, or one that does not exist or cannot log in, then the engine says so", async (t) => {
    t.match(await raised(as(name, "owner")), [undefined, /is, or can become, the engine's role/])
    t.match(await raised(as("nobody_at_all", "x")), [undefined, /there is no role nobody_at_all/])
    t.match(await raised(as(`${name}_tenant`, "wrong")), [undefined, /password authentication failed/])
  })

  t.test("when the engine's role may create others, then a process soon has isolation, also after a change of its password", async (t) => {
    const tenant = roleNameOf(name, "public")
    const who = Effect.provideService(
      SqlClient.SqlClient.use((sql) => sql<{ readonly role: string }>`SELECT session_user::text AS role`),
      CurrentTenant,
      ours
    ).pipe(
      Effect.map(([row]) => row?.role),
      Effect.catch(() => Effect.succeed("nobody, for the moment"))
    )
    const untilTenant = Effect.repeat(who, { schedule: Schedule.spaced("100 millis"), until: (role) => role === tenant })
    const told = (statement: string) => Effect.promise(() => superuser.unsafe(statement))
    await Effect.runPromise(
      Effect.gen(function* () {
        t.equal(yield* who, name, "before, requests run as the engine")
        yield* told(`ALTER ROLE ${name} CREATEROLE`)
        t.equal(yield* untilTenant, tenant)
        yield* told(`ALTER ROLE ${tenant} PASSWORD 'changed'`)
        yield* told(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${tenant}'`)
        t.equal(yield* untilTenant, tenant)
      }).pipe(Effect.provide(Layer.fresh(postgres.clientLayer(as(name, "owner")))))
    )
  })
})
