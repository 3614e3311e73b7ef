/** The foundations of the engine: its settings, its database, its log. */
import { Effect, Layer, Logger, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import { InstallationPrices } from "#core/usage/ServicePrices.ts"
import { Config, publicUrlOf, read, variables } from "#runtime/config/config.ts"
import * as priceFile from "#runtime/priceFile.ts"
import { EmbeddedPostgres } from "#runtime/postgres/EmbeddedPostgres.ts"
import { clientLayer, databaseLayer } from "#runtime/postgres/postgres.ts"
import * as telemetry from "#runtime/metrics/telemetry.ts"
import * as postgres from "#test/support/postgres.ts"
import { runLive } from "#test/support/run.ts"

const failureOf = <A, E>(effect: Effect.Effect<A, E>): Promise<string> =>
  Effect.runPromise(Effect.flip(effect)).then((error) => (error instanceof Error ? error.message : String(error)))

const settingsOf = (given: Readonly<Record<string, string>>) => Effect.runPromise(read(given))

t.test("settings", async (t) => {
  t.test("given nothing, then the defaults on which it depends who gets in hold, and empty is as if missing", async (t) => {
    const settings = await settingsOf({})
    t.match(settings, { host: "127.0.0.1", signup: "invite", metrics: "local", trustedProxies: undefined })
    t.match(settings, { egressAllow: undefined, webhookPrivateTargets: false })
    t.strictSame(await settingsOf(Object.fromEntries(variables.map(({ name }) => [name, ""]))), settings)
  })

  t.test("given valid values, then they are used", async (t) => {
    const given = {
      PORT: "0",
      PUBLIC_URL: "https://calls.example.com/",
      MEDIA_URL: "https://media.example.com/calls1/",
      ADAPTERS: "ari, @acme/voice,vonage",
      TRUNK_RATE: "0.5",
      RECORDINGS: "off"
    }
    const settings = await settingsOf({ ...given, API_KEY: "k".repeat(16), DATABASE_URL: "postgres://u:p@db/x" })
    t.match(settings, { port: 0, adapters: ["ari", "@acme/voice", "vonage"], trunkRate: 0.5 })
    t.match(settings, { publicUrl: "https://calls.example.com", mediaUrl: "https://media.example.com/calls1" })
    t.equal(settings.recordings, false)
    t.strictSame(
      [settings.apiKey, settings.databaseUrl].map((secret) => secret && Redacted.value(secret)),
      ["k".repeat(16), "postgres://u:p@db/x"]
    )
    t.notMatch(JSON.stringify(settings), /kkkk|u:p/)
    const browsers = { WEBRTC_PORTS: "40000-40199", TURN_URLS: "turn:a.example:3478, turns:b.example", TURN_SECRET: "s".repeat(16) }
    t.match(await settingsOf(browsers), { webrtcPorts: [40_000, 40_199], turnUrls: ["turn:a.example:3478", "turns:b.example"] })
    t.equal(await failureOf(read({ TURN_URLS: "turn:a.example" })), "TURN_URLS and TURN_SECRET need each other")
    const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector/otlp/", OTEL_EXPORTER_OTLP_HEADERS: "Api-Key=a%20b=, x=1" }
    const { tracesHeaders, tracesUrl } = await settingsOf(collector)
    t.equal(tracesUrl, "https://collector/otlp/v1/traces")
    t.strictSame(tracesHeaders && Redacted.value(tracesHeaders), { "api-key": "a b=", x: "1" })
  })

  const bad: ReadonlyArray<readonly [name: string, ...values: ReadonlyArray<string>]> = [
    ["PORT", "65536", "-1", "80.5", "http", " "],
    ["HOST", "a b", "http://x"],
    ["PUBLIC_URL", "calls.example.com", "ftp://x", "https://x/?a=1"],
    ["MEDIA_URL", "calls.example.com", "wss://x", "https://x/?a=1"],
    ["PUBLIC_URL_CHECK", "yes"],
    ["WEBRTC_ADDRESS", "localhost", "10.0.0.300"],
    ["WEBRTC_PORTS", "40000", "80-90", "40000-40000", "40001-40000", "40000-70000"],
    ["STUN_URLS", "stun.example.com", "turn:turn.example.com", "stun:a,,stun:b"],
    ["TURN_URLS", "turn.example.com", "stun:stun.example.com"],
    ["TURN_SECRET", "hunter2", "hunter2 hunter2 hunter2"],
    ["CORS_ORIGINS", "app.example.com", "https://x/path", "https://x,*"],
    ["TRUSTED_PROXIES", "proxy.example.org", "10.0.0.0/33", "127.0.0.1,"],
    ["DATA_DIR", "  "],
    ["FILES_DIR", "  "],
    ["FILES_URL", "https://files.example.com", "s3://key:hunter2@calls", "s3://calls?endpoint=files.example.com"],
    ["AWS_ACCESS_KEY_ID", "two words"],
    ["AWS_SECRET_ACCESS_KEY", "hunter2 hunter2"],
    ["AWS_SESSION_TOKEN", "hunter2 hunter2"],
    ["DATABASE_URL", "mysql://u:hunter2@db/x", "db:5432/hunter2", "postgres://u:hunter2%@db/x", "postgres://u:1?hunter2@db/x"],
    ["TENANT_DATABASE_URL", "mysql://u:hunter2@db/x"],
    ["REDIS_URL", "http://u:hunter2@r", "redis://u:1/hunter2@r", "redis://:hunter2@r/x", "redis+sentinel://r?sentinel_password=hunter2"],
    ["SECRETS_KEY", "hunter2", "hunter2".repeat(7)],
    ["SECRETS_KEY_OLD", "hunter2", `${"0".repeat(64)},hunter2`],
    ["API_KEY", "hunter2hunter22", "hunter2 hunter2 hunter2"],
    ["SIGNUP", "yes"],
    ["JWT_SECRET", "hunter2", "hunter2 ".repeat(6)],
    ["COMPATIBILITY", "other"],
    ["ADAPTERS", ",", "ari,,x", "../ari", "Ari"],
    ["SERVICES", ",", "a,,b", "../model"],
    ["HEARING", "  "],
    ["POCKETSPHINX_DIR", "  "],
    ["POCKETSPHINX_DECODERS", "-1", "201", "many"],
    ["KEY_TRIALS", "yes"],
    ["PRICES_FILE", "  "],
    ["PROVIDER_URLS", "twilio", "twilio=", "twilio=ftp://x", "twilio=https://x/path", "=https://x", "twilio=https://x,"],
    ["NODE_NAME", "Node", "n".repeat(33), "a.b"],
    ["NODE_ADDRESS", "a host", "http://a"],
    ["TAKEOVER_AFTER", "2.4", "601", "soon"],
    ["CALL_RATE", "0", "1.5", "1001"],
    ["TRUNK_RATE", "0", "fast"],
    ["ORG_CONCURRENCY", "0", "ten"],
    ["MAX_LIVE_MEDIA", "0", "many"],
    ["RING_TIMEOUT", "14", "301"],
    ["DRAIN", "-1", "3601", "30s"],
    ["LOG_LEVEL", "INFO", "verbose"],
    ["LOG_FORMAT", "yaml"],
    ["METRICS", "true"],
    ["METRICS_PORT", "-1", "65536"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "grpc://collector:4317", "https://u:hunter2@collector", "https://x?key=hunter2"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "hunter2", "api-key=", "api-key=hunter2,", "api key=hunter2", "api-key=hunter2%0a", "api-key=%zz"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.1", "-0.1", "all"],
    ["RECORDINGS", "true"],
    ["RECORDING_FORMAT", "mp3"],
    ["AUDIT_DAYS", "-1"],
    ["EGRESS_ALLOW", "10.0.0", "10.0.0.0/33", "pbx.example.com", ","],
    ["WEBHOOK_PRIVATE_TARGETS", "yes"]
  ]
  t.test("given an invalid value, then it is named with what is allowed, and a secret is not repeated", async (t) => {
    t.strictSame(
      bad.map(([name]) => name),
      variables.map(({ name }) => name),
      "every variable is here"
    )
    for (const [name, ...values] of bad) {
      for (const value of values) {
        const message = await failureOf(read({ [name]: value }))
        t.match(message, new RegExp(`^${name} must be .{5,}`), `${name}=${value}`)
        t.notMatch(message, "hunter2")
      }
    }
  })

  t.test("given several invalid values, then all are named at once", async (t) => {
    t.equal((await failureOf(read({ PORT: "x", DRAIN: "y", API_KEY: "short" }))).split("\n").length, 3)
  })

  t.test("the public address", async (t) => {
    const check = (host: string, expected: string, publicUrl?: string) => t.equal(publicUrlOf({ host, publicUrl }, 81), expected)
    check("127.0.0.1", "http://127.0.0.1:81")
    check("0.0.0.0", "http://localhost:81")
    check("::1", "http://[::1]:81")
    check("::1", "https://x", "https://x")
  })
})

const temporary = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `trunkline-${name}-`))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // Postgres does not run as root, and must be able to pass through the folder.
  chmodSync(folder, 0o711)
  return folder
}
const query = <Row extends object>(url: string, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(statement)).pipe(
    Effect.provide(Layer.fresh(Layer.orDie(clientLayer(Redacted.make(url)))))
  )
/** Runs the embedded Postgres in `folder` while `use` runs. */
const embedded = <A, E>(folder: string, use: (url: string, folder: string) => Effect.Effect<A, E>) =>
  Effect.flatMap(EmbeddedPostgres, (running) => use(Redacted.value(running.url), running.folder)).pipe(
    Effect.provide(EmbeddedPostgres.layer({ folder, fast: true }))
  )
const count = (url: string) => query<{ readonly n: number }>(url, "SELECT count(*) AS n FROM kept")
const killed = 9

t.test("embedded Postgres", async (t) => {
  const folder = join(temporary("postgres"), "data", "postgres")
  const holder = `
    import { Effect, Redacted } from "effect"
    import { EmbeddedPostgres } from "#runtime/postgres/EmbeddedPostgres.ts"
    const hold = Effect.flatMap(EmbeddedPostgres, ({ url }) => Effect.callback(() => { process.stdout.write(Redacted.value(url)) }))
    Effect.runFork(Effect.provide(hold, EmbeddedPostgres.layer({ folder: process.argv[1], fast: true })))
    setInterval(() => {}, 1000)`
  /** Kills an engine's process while its Postgres runs. */
  const leaveOrphan = async (during: (url: string) => Promise<void>) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", holder, folder], { stdio: ["ignore", "pipe", "inherit"] })
    const [url] = await once(child.stdout, "data")
    await during(String(url))
    child.kill(killed)
    await once(child, "exit")
    return String(url)
  }

  t.test("the first start makes it, behind a password", async (t) => {
    const [rejected, addresses] = await runLive(
      embedded(folder, (url) => {
        const wrong = url.replace(/:[^:@]+@/, ":guess@")
        return Effect.andThen(
          query(url, "CREATE TABLE kept AS SELECT 1 AS id"),
          Effect.all([Effect.flip(query(wrong, "SELECT 1")), query(url, "SHOW listen_addresses")])
        )
      })
    )
    t.equal(rejected.reason._tag, "AuthenticationError")
    t.strictSame(addresses, [{ listenAddresses: "127.0.0.1" }])
    t.strictSame(
      [join(folder, "password"), folder].map((path) => statSync(path).mode & 0o777),
      [0o600, 0o700]
    )
  })

  t.test("the next start continues with the data, on the same port", async (t) => {
    const port = readFileSync(join(folder, "port"), "utf8")
    const [url, rows] = await runLive(embedded(folder, (url) => Effect.map(count(url), (rows) => [url, rows] as const)))
    t.strictSame([new URL(url).port, rows], [port, [{ n: 1 }]])
  })

  t.test("a second engine is kept out while the first lives, and continues where the first was killed", async (t) => {
    const orphan = await leaveOrphan(async (url) => {
      t.match(await failureOf(embedded(folder, Effect.succeed)), "in use by another engine")
      await runLive(query(url, "INSERT INTO kept VALUES (2)"))
    })
    t.strictSame(await runLive(count(orphan)), [{ n: 2 }], "Postgres has outlived its engine")
    t.strictSame(await runLive(embedded(folder, count)), [{ n: 2 }])
    t.equal((await runLive(Effect.flip(count(orphan)))).reason._tag, "ConnectionError", "nothing runs any more")
  })

  t.test("killed itself, it recovers", async (t) => {
    await leaveOrphan(async (url) => {
      await runLive(query(url, "INSERT INTO kept VALUES (3)"))
      process.kill(Number(readFileSync(join(folder, "cluster", "postmaster.pid"), "utf8").split("\n")[0]), killed)
    })
    t.strictSame(await runLive(embedded(folder, count)), [{ n: 3 }])
  })

  t.test("a leftover pid that now belongs to another process is not signalled", async (t) => {
    writeFileSync(join(folder, "cluster", "postmaster.pid"), `${process.pid}\n`)
    t.strictSame(await runLive(embedded(folder, count)), [{ n: 3 }])
  })

  t.test("a data folder that Postgres' user may not enter also works", async (t) => {
    const closed = join(temporary("closed"), "closed")
    mkdirSync(closed, { mode: 0o700 })
    const real = await runLive(
      embedded(join(closed, "postgres"), (url, folder) => Effect.as(query(url, "CREATE TABLE kept AS SELECT 1"), folder))
    )
    t.equal(realpathSync(join(closed, "postgres")), real)
    t.strictSame(await runLive(embedded(join(closed, "postgres"), count)), [{ n: 1 }])
    rmSync(real, { recursive: true })
  })

  t.test("a folder that cannot be made is named", async (t) => {
    writeFileSync(join(folder, "..", "file"), "")
    t.match(await failureOf(embedded(join(folder, "..", "file", "postgres"), Effect.succeed)), /cannot use its folder: .*file/)
  })
})

t.test("the file with prices is read at the start, and says what is wrong in it", async (t) => {
  const path = join(temporary("prices"), "prices.json")
  const prices = [{ kind: "tts", provider: "acme", model: "*", per_million_characters: 5 }]
  const read = InstallationPrices.pipe(Effect.provide(priceFile.layer), Effect.provide(Config.layerOf({ PRICES_FILE: path })))
  t.match(await failureOf(read), `PRICES_FILE names ${path}, which cannot be read`)
  writeFileSync(path, "{prices:")
  t.match(await failureOf(read), `PRICES_FILE names ${path}, which holds no JSON`)
  writeFileSync(path, JSON.stringify({ prices: [...prices, { ...prices[0], per_million_characters: "5" }] }))
  t.match(await failureOf(read), '["prices"][1]["per_million_characters"]')
  writeFileSync(path, JSON.stringify({ prices }))
  t.strictSame(await runLive(read), prices)
})

t.test("the client", async (t) => {
  const client = await postgres.openDatabase(t)
  const asked = (ask: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) => client.run(Effect.flatMap(SqlClient.SqlClient, ask))
  t.test("names columns and keys in camelCase, and leaves what is inside JSON", async (t) => {
    await asked((sql) => sql`INSERT INTO organizations ${sql.insert({ name: "Acme", concurrencyLimit: 3 })}`)
    const rows = await asked(
      (sql) => sql`SELECT concurrency_limit, count(*) AS how_many, '{"first_name": {"last_name": 1}}'::jsonb AS some_json
        FROM organizations GROUP BY concurrency_limit`
    )
    t.strictSame(rows, [{ concurrencyLimit: 3, howMany: 1, someJson: { first_name: { last_name: 1 } } }])
  })

  t.test("an int8 becomes a number if it fits", async (t) => {
    const numbers = await asked((sql) => sql`SELECT 9007199254740991::int8 AS a, 9007199254740993::int8 AS b, ${5}::int8 AS c`)
    t.strictSame(numbers, [{ a: 9007199254740991, b: 9007199254740993n, c: 5 }])
  })

  t.test("an unreachable server is named without its password", async (t) => {
    const wrong = client.url.replace(/:[^:@]+@/, ":hunter2@")
    const message = await failureOf(Effect.provide(Effect.void, databaseLayer(Redacted.make(wrong))))
    t.match(message, /No connection to the database at 127\.0\.0\.1:\d+\/test_/)
    t.notMatch(message, "hunter2")
  })
})

t.test("the log", async (t) => {
  const logged = async (entry: Effect.Effect<void>, format = telemetry.json): Promise<string> => {
    const lines: Array<string> = []
    await Effect.runPromise(Effect.provide(entry, Logger.layer([Logger.map(format, (line) => void lines.push(line))])))
    return lines.join("\n")
  }
  const data = {
    phoneNumber: "15550100",
    to: "+15550101",
    callId: "c1",
    attempts: 2,
    nested: { api_key: "tl_secret", list: [{ authToken: "t" }], kept: "yes" },
    password: Redacted.make("p"),
    databaseUrl: "postgres://app:hunter2@db/x",
    header: "Bearer abcdefghij.klm"
  }

  t.test("masks what must not be printed, by name and by form", async (t) => {
    const line = await logged(Effect.annotateLogs(Effect.logInfo("originate failed", { token: "x1" }), data))
    t.notMatch(line, /5550100|5550101|tl_secret|hunter2|abcdefghij|x1|"t"/)
    t.match(JSON.parse(line), { level: "Info", message: "originate failed", callId: "c1", attempts: 2, nested: { kept: "yes" } })
  })

  t.test("treats data next to the message like annotations", async (t) => {
    const entry = Effect.logInfo("a trunk is down", { reason: "auth", level: "high", time: 7, detail: "to +15550100" }, "and more")
    const own = { level: "Info", time: /^20/, message: "a trunk is down" }
    t.match(JSON.parse(await logged(entry)), { ...own, reason: "auth", detail: "to <redacted>", data: ["and more"] })
  })

  t.test("also masks causes", async (t) => {
    const died = Effect.sandbox(Effect.die(new Error("no route to +15550100")))
    const line = await logged(Effect.catch(died, (cause) => Effect.logError("call died", cause)))
    t.match(JSON.parse(line), { level: "Error", message: "call died", cause: /no route to <redacted>/ })
  })

  t.test("is a single line for people", async (t) => {
    const line = await logged(Effect.annotateLogs(Effect.logWarning("slow"), { callId: "c1", millis: 12, of: { a: 1 } }), telemetry.pretty)
    t.match(line, /^\d\d:\d\d:\d\d\.\d{3} WARN {2}slow {2}callId=c1 {2}millis=12 {2}of=\{"a":1\}$/)
  })

  t.test("leaves out entries below the level", async (t) => {
    const level = Effect.provide(References.MinimumLogLevel, telemetry.layerOf({ logLevel: "warn", logFormat: "json" }))
    t.equal(await Effect.runPromise(level), "Warn")
  })
})
