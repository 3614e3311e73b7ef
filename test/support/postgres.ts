/**
 * Real databases for tests: each one is migrated, private to its test file, and dropped at the end. They are copies of a template in a Postgres
 * that all test files of a run share; the first file that needs it starts it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import { chmodSync, mkdirSync, openSync, readFileSync, statfsSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import openWitness from "postgres"
import { migrate as applyAll } from "#runtime/postgres/migrate.ts"
import { readMigrations } from "#runtime/postgres/Migration.ts"
import { Sealer } from "#core/Sealer.ts"
import * as postgres from "#runtime/postgres/postgres.ts"
import { sealsOf, secretsKey } from "#runtime/secrets/KeyRing.ts"
import { effectOf, type Work } from "#test/support/run.ts"

/** The same secrets key for all tests. */
const testKey = Buffer.alloc(32, 7)
const sealerLayer = Layer.succeed(Sealer, sealsOf({ current: secretsKey(testKey), former: [] }))

/** What all services need: a client, and the tests' key. */
export const clientLayer = (url: Redacted.Redacted, options: postgres.ClientOptions = {}) =>
  Layer.merge(postgres.clientLayer(url, options), sealerLayer)

/** Tests in a copy of the project (`npm run sabotage`) share the server of the original. */
const keeper = process.env["TEST_POSTGRES_KEEPER"] ?? fileURLToPath(new URL("./postgresKeeper.ts", import.meta.url))
const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12)
/** With plenty of memory, the databases are kept there, because copying their files on a disk takes five times as long. */
const memory = "/dev/shm"
const enoughBytes = 8 * 2 ** 30
const isRoomy = (): boolean => {
  try {
    const { blocks, bsize } = statfsSync(memory)
    return blocks * bsize >= enoughBytes
  } catch {
    return false
  }
}
// One folder per clone of the project and user.
const folder = join(isRoomy() ? memory : tmpdir(), `trunkline-test-${process.getuid?.() ?? ""}-${hash(keeper)}`)
const triesMillis = 100
const triesPerKeeper = 5
const maxTries = 600

const ask = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    // Stays open without keeping the process alive, and so tells the keeper that it is still needed.
    const socket = connect(join(folder, "keeper.sock"))
    socket.once("error", () => resolve(undefined))
    socket.once("close", () => resolve(undefined))
    socket.once("data", (line) => {
      socket.unref()
      resolve(String(line).trim())
    })
  })

const startKeeper = () => {
  mkdirSync(folder, { recursive: true })
  // Postgres does not run as root, and must be able to pass through the folder.
  chmodSync(folder, 0o711)
  const log = openSync(join(folder, "keeper.log"), "w")
  // Through env, because tap makes every Node process that it sees report its coverage.
  const environment = [`PATH=${process.env["PATH"]}`, `TMPDIR=${tmpdir()}`]
  const child = spawn("env", ["-i", ...environment, process.execPath, keeper, folder], { detached: true, stdio: ["ignore", log, log] })
  child.unref()
  return child
}

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const findServer = async (): Promise<string> => {
  let started: ReturnType<typeof startKeeper> | undefined
  for (let tries = 0; tries < maxTries; tries++) {
    const url = await ask()
    if (url !== undefined) return url
    if ((started?.exitCode ?? 0) !== 0) break
    // A keeper that exited successfully found another one, which may itself be about to exit.
    if (tries % triesPerKeeper === 0 && started?.exitCode !== null) started = startKeeper()
    await wait(triesMillis)
  }
  throw new Error(`No Postgres for the tests:\n${readFileSync(join(folder, "keeper.log"), "utf8")}`)
}
let server: Promise<string> | undefined
const serverUrl = Effect.promise(() => (server ??= findServer()))

const at = (url: string, database: string) => {
  const address = new URL(url)
  address.pathname = `/${database}`
  return Redacted.make(address.href)
}
const once = (url: Redacted.Redacted) => Layer.fresh(clientLayer(url, { applicationName: "test", maxConnections: 1 }))

/** Runs statements on a separate connection. */
const administer = <A, E>(url: string, work: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(SqlClient.SqlClient, work).pipe(Effect.provide(once(at(url, "postgres"))))

/** Applies the migrations in `folder`, or the engine's own. */
export const migrate = (folder?: string) => Effect.flatMap(readMigrations(folder), (own) => applyAll(own))

/** Named after its content, so that a changed migration makes a new template. */
const makeTemplate = Effect.fnUntraced(function* (url: string) {
  const migrations = yield* readMigrations()
  const name = `template_${hash(migrations.map(({ checksum }) => checksum).join())}`
  const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
    // Held until the connection closes.
    yield* sql`SELECT pg_advisory_lock(1)`
    const found = yield* sql`SELECT 1 FROM pg_database WHERE datname = ${name}`
    if (found.length > 0) return
    yield* sql`DROP DATABASE IF EXISTS template_draft WITH (FORCE)`
    yield* sql`CREATE DATABASE template_draft`
    yield* migrate().pipe(Effect.provide(once(at(url, "template_draft"))))
    yield* sql`ALTER DATABASE template_draft RENAME TO ${sql(name)}`
  })
  yield* administer(url, make)
  return name
})
let template: Promise<string> | undefined
const templateName = (url: string) =>
  Effect.promise(() => (template ??= Effect.runPromise(Effect.provide(makeTemplate(url), Logger.layer([])))))

const copyOf = Effect.fnUntraced(function* (source: string) {
  const url = yield* serverUrl
  const name = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(
    // Copying the files takes Postgres half as long as logging each page of them.
    administer(url, (sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(source)} STRATEGY file_copy`),
    () => Effect.ignore(administer(url, (sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`))
  )
  return at(url, name)
}, Effect.orDie)

/** The URL of a new database, which is dropped when the scope closes. */
const database: Effect.Effect<Redacted.Redacted, never, Scope.Scope> = Effect.flatMap(Effect.flatMap(serverUrl, templateName), copyOf)
/** The URL of a database without any table. */
export const emptyDatabase: Effect.Effect<Redacted.Redacted, never, Scope.Scope> = copyOf("template1")

export interface TestDatabase {
  readonly url: string
  readonly run: <A>(work: Work<A, PgClient.PgClient | Sealer | SqlClient.SqlClient | Scope.Scope>) => Promise<A>
}

/** One database for all tests of a file; `t` is tap's root, which drops it at the end. `maxConnections` defaults to that of an engine. */
export const openDatabase = async (
  t: { readonly teardown: (end: () => Promise<void>) => void },
  maxConnections?: number
): Promise<TestDatabase> => {
  const scope = Scope.makeUnsafe()
  t.teardown(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const url = await Effect.runPromise(Scope.provide(database, scope))
  const client = await Effect.runPromise(
    Layer.buildWithScope(
      Layer.merge(clientLayer(url, { applicationName: "test", ...(maxConnections && { maxConnections }) }), Logger.layer([])),
      scope
    )
  )
  return { url: Redacted.value(url), run: (work) => Effect.runPromise(Effect.scoped(effectOf(work)).pipe(Effect.provide(client))) }
}

/** A third-party client, which looks at the database independently of the engine. The caller closes it. */
export const witness = (url: string) => openWitness(url, { max: 2, onnotice: () => {} })
