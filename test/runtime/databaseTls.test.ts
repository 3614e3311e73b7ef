/** A real Postgres with and without TLS: what each `sslmode` does there, and that what can never succeed ends the start at once, by name. */
import { Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { chmodSync, chownSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import t, { type Test } from "tap"
import { EmbeddedPostgres } from "#runtime/postgres/EmbeddedPostgres.ts"
import { DatabaseServer } from "#runtime/postgres/DatabaseServer.ts"
import { clientLayer, databaseLayer } from "#runtime/postgres/postgres.ts"
import { endsWith, startEngine } from "#test/support/EngineProcess.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { witness } from "#test/support/postgres.ts"
import { cert, key } from "#test/support/tlsCertificate.ts"

const folder = temporaryFolder(t)
// Postgres does not run as root, and must be able to pass through the folder.
chmodSync(folder, 0o711)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text, { mode: 0o600 })
  return join(folder, name)
}
const ca = file("ca.pem", cert)
const ownKey = file("own.key", key)
const noCertificate = file("none.pem", "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----")
const otherCa = file("other.pem", rootCertificates[0] ?? "")

const scope = Scope.makeUnsafe()
t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
const layer = EmbeddedPostgres.layer({ folder: join(folder, "postgres"), fast: true })
const context = await Effect.runPromise(Effect.provide(Layer.buildWithScope(layer, scope), Logger.layer([])))
const { url } = await Effect.runPromise(Effect.provide(EmbeddedPostgres, context))
const address = new URL(Redacted.value(url))
const data = join(folder, "postgres", "cluster")
const { gid, uid } = statSync(data)
for (const [name, text] of Object.entries({ "server.crt": cert, "server.key": key })) {
  writeFileSync(join(data, name), text, { mode: 0o600 })
  chownSync(join(data, name), uid, gid)
}
const sql = witness(address.href)
t.teardown(() => sql.end())

/** Sets what the server offers from now on. */
const serve = async (ssl: "on" | "off", rule: string) => {
  writeFileSync(join(data, "pg_hba.conf"), `local all all scram-sha-256\n${rule}\n`)
  await sql.unsafe(`ALTER SYSTEM SET ssl = ${ssl}`)
  await sql.unsafe("ALTER SYSTEM SET ssl_ca_file = 'server.crt'")
  await sql`SELECT pg_reload_conf()`
}
const anybody = "host all all 127.0.0.1/32 scram-sha-256"

const at = (query: string, change: Partial<URL> = {}): Redacted.Redacted =>
  Redacted.make(Object.assign(new URL(`${address.href}?${query}`), change).href)

/** Starts on the database. Waiting for it would be logged, and is not allowed to last. */
const started = (place: Redacted.Redacted, onWait: () => void = () => {}) => {
  let hasWaited = false
  const told = Logger.make(({ message }) => {
    if (!String(message).includes("no connection yet")) return
    hasWaited = true
    onWait()
  })
  const asked = SqlClient.SqlClient.use((sql) => sql<{ readonly ssl: boolean }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`)
  return Effect.runPromise(
    asked.pipe(
      Effect.provide(Layer.fresh(databaseLayer(place, { maxConnections: 1 }))),
      Effect.map(([row]) => (row?.ssl === true ? "encrypted" : "plain")),
      Effect.catch((error) => Effect.succeed(error instanceof Error ? error.message : String(error))),
      Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.succeed("it waits") }),
      Effect.provide(Logger.layer([told]))
    )
  ).then((result) => (hasWaited ? `after waiting: ${result}` : result))
}

const password = decodeURIComponent(address.password)
type Case = readonly [query: string, expected: string | RegExp, change?: Partial<URL>]
const check = async (test: Test, cases: ReadonlyArray<Case>) => {
  for (const [query, expected, change] of cases) {
    const result = await started(at(query, change))
    test.match(result, expected, `${query} ${change === undefined ? "" : Object.keys(change).join()}`)
    test.notMatch(result, password)
    test.notMatch(result, "hunter2")
  }
}

t.test("given a server with TLS and a certificate that only we know", async (t) => {
  await serve("on", anybody)
  await check(t, [
    ["", "encrypted"],
    ["sslmode=disable", "plain"],
    ["sslmode=allow", "plain"],
    ["sslmode=prefer", "encrypted"],
    ["sslmode=require", "encrypted"],
    ["ssl=true", "encrypted"],
    ["sslmode=no-verify", "encrypted"],
    [`sslmode=no-verify&sslrootcert=${ca}`, "encrypted"],
    [`sslmode=require&sslrootcert=${ca}`, "encrypted"],
    [`sslmode=verify-ca&sslrootcert=${ca}`, "encrypted"],
    [`sslmode=verify-full&sslrootcert=${ca}`, "encrypted"],
    [`sslmode=verify-full&sslrootcert=${ca}`, "encrypted", { hostname: "localhost" }],
    [`sslmode=verify-ca&sslrootcert=${ca}`, "encrypted", { hostname: "0.0.0.0" }],
    [`sslmode=verify-full&sslrootcert=${ca}`, /sslmode=verify-full.*does not match certificate's altnames/, { hostname: "0.0.0.0" }],
    [`sslmode=verify-ca&sslrootcert=${otherCa}`, /sslmode=verify-ca.*self-signed certificate/],
    ["sslmode=verify-ca", /sslmode=verify-ca.*self-signed certificate/],
    ["sslmode=verify-full", /sslmode=verify-full.*self-signed certificate/],
    ["sslrootcert=system", /sslmode=verify-full.*self-signed certificate/],
    [`sslmode=verify-full&sslrootcert=${folder}/gone.pem`, /DATABASE_URL: sslrootcert: .*gone\.pem cannot be read \(ENOENT\)/],
    [`sslmode=require&sslrootcert=${folder}`, /DATABASE_URL: sslrootcert: .* cannot be read \(EISDIR\)/],
    [`sslmode=require&sslrootcert=${noCertificate}`, /DATABASE_URL: sslrootcert: .*none\.pem holds no certificate/],
    [`sslmode=require&sslcert=${ca}&sslkey=${folder}/gone.key`, /DATABASE_URL: sslkey: .*gone\.key cannot be read/],
    [`sslmode=require&sslcert=${ca}&sslkey=${noCertificate}`, /DATABASE_URL: sslkey: .*none\.pem holds no key/],
    ["sslmode=require", /password authentication failed/, { password: "hunter2" }],
    ["sslmode=prefer", /password authentication failed/, { password: "hunter2" }],
    ["sslmode=require", /requested password authentication/, { password: "" }],
    ["sslmode=require", /database "none_such" does not exist/, { pathname: "/none_such" }]
  ])
})

t.test("given a server that requires TLS", async (t) => {
  await serve("on", anybody.replace("host ", "hostssl "))
  await check(t, [
    ["", "encrypted"],
    ["sslmode=allow", "encrypted"],
    ["sslmode=allow", /password authentication failed/, { password: "hunter2" }],
    [`sslmode=prefer&sslrootcert=${otherCa}`, /sslmode=prefer.*self-signed certificate/],
    ["sslmode=disable", /no pg_hba.conf entry .* no encryption/]
  ])
})

t.test("given a server that requires TLS, when an engine runs on it, then all of its sessions are encrypted", async (t) => {
  await serve("on", anybody.replace("host ", "hostssl "))
  const DATABASE_URL = Redacted.value(at(`sslmode=verify-full&sslrootcert=${ca}&application_name=dialer`))
  const engine = await startEngine({ DATABASE_URL, DATA_DIR: join(folder, "engine"), METRICS: "off", PORT: "0" })
  endsWith(t, engine)
  const sessions = await sql<Array<{ readonly name: string; readonly role: string; readonly ssl: boolean }>>`
    SELECT a.application_name AS name, a.usename AS role, s.ssl FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid)
    WHERE a.application_name LIKE 'trunkline%'`
  const isLock = sessions.some(({ name }) => / lock dialer$/.test(name))
  t.ok(isLock, "the lock's, which also carries the operator's name")
  const isOwn = sessions.some(({ role }) => /^trunkline_[0-9a-f]{16}$/.test(role))
  t.ok(isOwn, "those of requests")
  const plain = sessions.filter(({ ssl }) => !ssl)
  t.strictSame(plain, [])
})

t.test("given a server that requires a client's certificate", async (t) => {
  await serve("on", `hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca`)
  await check(t, [
    [`sslmode=require&sslcert=${ca}&sslkey=${ownKey}`, "encrypted"],
    [`sslmode=verify-full&sslrootcert=${ca}&sslcert=${ca}&sslkey=${ownKey}`, "encrypted"],
    ["sslmode=require", /requires a valid client certificate/]
  ])
})

t.test("given a server without TLS", async (t) => {
  await serve("off", anybody)
  await check(t, [
    ["", "plain"],
    ["sslmode=allow", "plain"],
    ["sslmode=prefer", "plain"],
    ["", /password authentication failed/, { password: "hunter2" }],
    ["sslmode=require", /sslmode=require.*does not support TLS/],
    ["sslmode=no-verify", /sslmode=no-verify.*does not support TLS/],
    [`sslmode=verify-full&sslrootcert=${ca}`, /sslmode=verify-full.*does not support TLS/]
  ])
})

t.test("given a server whose connections are all taken, then the start waits, and goes on once there is room", async (t) => {
  await sql.unsafe("CREATE DATABASE narrow CONNECTION LIMIT 0")
  await sql.unsafe("CREATE ROLE narrow LOGIN PASSWORD 'narrow'")
  await sql.unsafe("ALTER DATABASE narrow OWNER TO narrow")
  const place = at("", { pathname: "/narrow", username: "narrow", password: "narrow" })
  t.equal(await started(place, () => void sql.unsafe("ALTER DATABASE narrow CONNECTION LIMIT -1").execute()), "after waiting: plain")
})

t.test("given a database that cannot be written to, then the start ends, by name", async (t) => {
  await check(t, [["options=-c%20default_transaction_read_only%3Don", /is read-only/]])
})

t.test("given a pool under sslmode=prefer, when the server stops encrypting and starts again, then it follows", async (t) => {
  await serve("on", anybody)
  const asked = SqlClient.SqlClient.use((sql) => sql<{ readonly ssl: boolean }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`)
  const seen = await Effect.runPromise(
    Effect.gen(function* () {
      const server = yield* DatabaseServer
      const told: Array<boolean | undefined> = []
      const rules = [["on", anybody] as const, ["off", anybody] as const, ["on", anybody.replace("host ", "hostssl ")] as const]
      for (const [ssl, rule] of rules) {
        yield* Effect.promise(() => serve(ssl, rule))
        yield* Effect.promise(() => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'follower'`)
        // As the session of the lock, which is opened again whenever it ends.
        yield* Effect.scoped(server.session({ applicationName: "test" })).pipe(Effect.retry({ times: 5 }))
        const [row] = yield* Effect.retry(asked, { times: 5 })
        told.push(row?.ssl)
      }
      return told
    }).pipe(
      Effect.provide(clientLayer(at("sslmode=prefer"), { applicationName: "follower", maxConnections: 1 })),
      Effect.provide(Logger.layer([]))
    )
  )
  t.strictSame(seen, [true, false, true])
})
