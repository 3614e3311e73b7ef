/**
 * All settings in one table: the name of the variable, the values it may have, and its default. Read once, at the start; nothing else in the
 * engine reads the environment. A bad value prevents the start, and all bad values are reported at once.
 */
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { resolve } from "node:path"
import { SignupMode } from "#core/organization/SignUp.ts"
import { recordingFormats } from "#core/file/RecordingFormat.ts"
import { addressVariables } from "./addressVariables.ts"
import { browserVariables } from "./browserVariables.ts"
import { conflictsOf, type Environment } from "./conflicts.ts"
import { databaseAddress, databaseAddressWords } from "./DatabaseUrl.ts"
import { redisAddress, redisAddressWords } from "./RedisUrl.ts"
import { s3Address } from "./S3Address.ts"
import { serviceVariables } from "./serviceVariables.ts"
import { traceVariables } from "./traceVariables.ts"
import { integer, mapped, networks, number, optional, required, secret, text, type Variable } from "./Variable.ts"

const aKey = "(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)"
const keyText = text(new RegExp(`^${aKey}$`))
const keysPattern = new RegExp(`^ *${aKey}(?: *, *${aKey})* *$`)

const adapterName = "(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"
const adapterList = new RegExp(`^ *${adapterName}(?: *, *${adapterName})* *$`)
const packageNames = mapped(text(adapterList), Schema.Array(Schema.String), (value) => [
  ...new Set(value.split(",").map((name) => name.trim()))
])

const origin = "https?://[^\\s,/?#@]+"
const originsByName = new RegExp(`^ *[a-z0-9_]+=${origin}(?: *, *[a-z0-9_]+=${origin})* *$`, "i")
const originList = new RegExp(`^(?:\\*| *${origin}(?: *, *${origin})* *)$`, "i")

const table = {
  port: required(integer(0, 65535), {
    name: "PORT",
    default: "8000",
    description: "Port of the API. `0` takes any free port.",
    allowed: "a whole number from 0 to 65535"
  }),
  host: required(text(/^[A-Za-z0-9.:_-]+$/), {
    name: "HOST",
    default: "127.0.0.1",
    description:
      "Address to listen on. `0.0.0.0` lets other machines in. The `Host` header of a request must name this host, the host of `PUBLIC_URL`, `localhost` or an IP address.",
    allowed: "an IP address or a host name"
  }),
  ...addressVariables,
  ...browserVariables,
  corsOrigins: required(
    mapped(text(originList), Schema.Array(Schema.String), (value) =>
      value
        .toLowerCase()
        .split(",")
        .map((origin) => origin.trim())
    ),
    {
      name: "CORS_ORIGINS",
      default: "*",
      description:
        "Comma-separated origins whose pages may read API responses in a browser, or `*` for all. Pages can never send a browser's credentials.",
      allowed: "* or origins such as https://app.example.com, separated by commas"
    }
  ),
  trustedProxies: optional(networks, {
    name: "TRUSTED_PROXIES",
    description:
      "Addresses and networks of proxies in front of the API, such as `127.0.0.1, 10.0.0.0/8`, whose `X-Forwarded-For` names the client. Default: the client is the peer of the connection.",
    allowed: "IP addresses and networks separated by commas"
  }),
  dataDir: required(
    mapped(text(/\S/), Schema.String, (value) => resolve(value)),
    {
      name: "DATA_DIR",
      default: ".data",
      description:
        "Folder for uploaded lists, recordings, transcripts, the journal of dialed calls, the key for secrets, and the embedded Postgres.",
      allowed: "a path"
    }
  ),
  filesDir: optional(
    mapped(text(/\S/), Schema.String, (value) => resolve(value)),
    {
      name: "FILES_DIR",
      description:
        "Folder for uploaded lists, recordings and transcripts, which an engine and those that stand by for it share. Default: `files` in `DATA_DIR`.",
      allowed: "a path"
    }
  ),
  filesUrl: optional(s3Address, {
    name: "FILES_URL",
    description:
      "An S3 bucket for uploaded lists, recordings, transcripts and documents, instead of `FILES_DIR`: `s3://bucket/prefix?region=eu-central-1&endpoint=https://host:9000`. Without `endpoint` it is one of AWS; `region` is `us-east-1` by default, the prefix may be left out.",
    allowed: "an address such as s3://bucket/prefix?region=eu-central-1&endpoint=https://host:9000",
    secret: true
  }),
  awsAccessKeyId: optional(secret(text(/^[\x21-\x7e]{1,200}$/)), {
    name: "AWS_ACCESS_KEY_ID",
    description: "Access key for `FILES_URL`.",
    allowed: "1 to 200 printable ASCII characters without spaces",
    secret: true
  }),
  awsSecretAccessKey: optional(secret(text(/^[\x21-\x7e]{1,200}$/)), {
    name: "AWS_SECRET_ACCESS_KEY",
    description: "Secret of the access key for `FILES_URL`.",
    allowed: "1 to 200 printable ASCII characters without spaces",
    secret: true
  }),
  awsSessionToken: optional(secret(text(/^[\x21-\x7e]+$/)), {
    name: "AWS_SESSION_TOKEN",
    description: "Session token of the access key for `FILES_URL`, if it is a temporary one.",
    allowed: "printable ASCII characters without spaces",
    secret: true
  }),
  databaseUrl: optional(databaseAddress, {
    name: "DATABASE_URL",
    description:
      "A Postgres (15 or later) to use instead of the embedded one. Parameters such as `sslmode` and `sslrootcert` mean what they mean to libpq; those that the engine cannot obey prevent the start. A connection pooler in between must pool by session (`pool_mode = session`). The server's log quotes statements and rows that fail, with phone numbers in them, unless it is set as in `compose.yaml`: `log_min_messages=log`, `log_min_error_statement=panic`, `log_error_verbosity=terse`.",
    ...databaseAddressWords
  }),
  tenantDatabaseUrl: optional(databaseAddress, {
    name: "TENANT_DATABASE_URL",
    description:
      "The same database with a separate role for API requests, for when the user of `DATABASE_URL` must not create roles. Default: a role that the engine creates.",
    ...databaseAddressWords
  }),
  redisUrl: optional(redisAddress, {
    name: "REDIS_URL",
    description:
      "A Redis (6.2 or later) by which [several engines](#redis) share budgets and tell each other what has changed: `redis://user:password@host:6379/0`; `redis+sentinel://host1:26379,host2:26379/mymaster?db=0` (with `sentinel_user` and `sentinel_password`, if the sentinels need them), `redis+cluster://host1:6379,host2:6379`; `rediss` in place of `redis` for TLS. `prefix` begins its keys and channels, by default `trunkline:`. Default: none.",
    ...redisAddressWords
  }),
  secretsKey: optional(secret(keyText), {
    name: "SECRETS_KEY",
    description:
      "Encrypts credentials and other secrets in the database: 32 bytes. Default: a key that is created at the first start, in `DATA_DIR/secrets.key`.",
    allowed: "32 bytes in base64 or hexadecimal, as `openssl rand -base64 32` makes them",
    secret: true
  }),
  secretsKeyOld: optional(
    mapped(text(keysPattern), Schema.Array(Schema.Redacted(Schema.String)), (value) =>
      value.split(",").map((key) => Redacted.make(key.trim()))
    ),
    {
      name: "SECRETS_KEY_OLD",
      description:
        "Comma-separated former keys. The start re-encrypts their secrets with `SECRETS_KEY`; after that they are no longer needed.",
      allowed: "keys like SECRETS_KEY, separated by commas",
      secret: true
    }
  ),
  apiKey: optional(secret(text(/^[\x21-\x7e]{16,200}$/)), {
    name: "API_KEY",
    description:
      "API key of the first organization, which is the operator's. Default: a key that is created at the first start and printed once.",
    allowed: "16 to 200 printable ASCII characters without spaces",
    secret: true
  }),
  signup: required(SignupMode, {
    name: "SIGNUP",
    default: "invite",
    description:
      "Who may sign up: `invite` (the first user with the set-up code that each start prints until then, later users by invitation), `on` (anybody who can reach the API) or `off` (nobody).",
    allowed: "invite, on or off"
  }),
  jwtSecret: optional(secret(text(/^[\x21-\x7e]{32,200}$/)), {
    name: "JWT_SECRET",
    description: "Signs the tokens of users who log in. Default: a secret that is created at the first start and stored in the database.",
    allowed: "32 to 200 printable ASCII characters without spaces",
    secret: true
  }),
  compatibility: optional(Schema.Literals(["dograh"]), {
    name: "COMPATIBILITY",
    description:
      "`dograh` serves the existing product's web interface, which calls a campaign that was never started `created` instead of `draft`, and edits running campaigns.",
    allowed: "dograh"
  }),
  adapters: optional(packageNames, {
    name: "ADAPTERS",
    description:
      "Provider adapters to load: comma-separated names of built-in adapters and of installed npm packages. Default: all built-in ones.",
    allowed: "adapter or package names separated by commas"
  }),
  services: optional(packageNames, {
    name: "SERVICES",
    description: "Speech and language services to load besides the built-in ones: comma-separated names of installed npm packages.",
    allowed: "package names separated by commas"
  }),
  ...serviceVariables,
  providerUrls: optional(
    mapped(text(originsByName), Schema.Record(Schema.String, Schema.instanceOf(URL)), (value) =>
      Object.fromEntries(
        value.split(",").map((one) => {
          const [name = "", ...rest] = one.trim().split("=")
          return [name.toLowerCase(), new URL(rest.join("="))]
        })
      )
    ),
    {
      name: "PROVIDER_URLS",
      description:
        "Origins to use in place of a carrier's own, for a proxy or a test: comma-separated `provider=origin`. Paths stay as they are.",
      allowed: "pairs such as twilio=https://proxy.example.com, separated by commas"
    }
  ),
  nodeName: required(text(/^[a-z0-9-]{1,32}$/), {
    name: "NODE_NAME",
    default: "node1",
    description:
      "Name of this engine. Keep it across restarts, so that the engine picks up the calls still in progress. Engines on one database each need their own.",
    allowed: "1 to 32 of a-z, 0-9 and -"
  }),
  nodeAddress: optional(text(/^[A-Za-z0-9.:_-]+$/), {
    name: "NODE_ADDRESS",
    description: "Where other engines reach this one. Default: `HOST`, or the machine's name if that is all addresses.",
    allowed: "an IP address or a host name"
  }),
  takeoverSeconds: required(number(2.5, 600), {
    name: "TAKEOVER_AFTER",
    default: "2.5",
    description:
      "While this engine stands by: after how many seconds without a sign of life it takes the place of the other one, and hangs up its calls.",
    allowed: "a number from 2.5 to 600"
  }),
  callRate: required(integer(1, 1000), {
    name: "CALL_RATE",
    default: "1",
    description: "Dial requests per second of a new campaign that sets no rate of its own.",
    allowed: "a whole number from 1 to 1000"
  }),
  trunkRate: optional(number(0.01, 1000), {
    name: "TRUNK_RATE",
    description: "Dial requests per second of each telephony configuration. Default: set by its adapter.",
    allowed: "a number from 0.01 to 1000"
  }),
  orgConcurrency: required(integer(1, 100_000), {
    name: "ORG_CONCURRENCY",
    default: "10",
    description: "Concurrent calls of a new organization, until the operator sets another limit.",
    allowed: "a whole number from 1 to 100000"
  }),
  maxLiveMedia: optional(integer(1, 100_000), {
    name: "MAX_LIVE_MEDIA",
    description:
      "Maximum number of concurrent calls with audio, including those still ringing. Default, and never exceeded: the number for which the engine can send audio in time, which it measures.",
    allowed: "a whole number from 1 to 100000"
  }),
  ringTimeoutSeconds: required(integer(15, 300), {
    name: "RING_TIMEOUT",
    default: "60",
    description: "How many seconds a callee's phone may ring.",
    allowed: "a whole number from 15 to 300"
  }),
  drainSeconds: required(integer(0, 3600), {
    name: "DRAIN",
    default: "30",
    description: "How many seconds calls get to end by themselves when the engine stops.",
    allowed: "a whole number from 0 to 3600"
  }),
  logLevel: required(Schema.Literals(["debug", "info", "warn", "error"]), {
    name: "LOG_LEVEL",
    default: "info",
    description: "Lowest level that is logged.",
    allowed: "debug, info, warn or error"
  }),
  logFormat: optional(Schema.Literals(["pretty", "json"]), {
    name: "LOG_FORMAT",
    description: "`pretty` or `json`. Default: pretty on a terminal, otherwise one JSON object per line.",
    allowed: "pretty or json"
  }),
  metrics: required(Schema.Literals(["off", "local", "on"]), {
    name: "METRICS",
    default: "local",
    description:
      "Who can read the Prometheus metrics at `/metrics`, which name no organization: `local` (programs on this machine, at `METRICS_PORT`), `on` (anybody who can reach the API) or `off`.",
    allowed: "off, local or on"
  }),
  metricsPort: required(integer(0, 65535), {
    name: "METRICS_PORT",
    default: "0",
    description: "Port on 127.0.0.1 for the metrics if `METRICS` is `local`. `0` takes any free port, which is printed at the start.",
    allowed: "a whole number from 0 to 65535"
  }),
  ...traceVariables,
  recordings: required(
    mapped(text(/^(on|off)$/), Schema.Boolean, (value) => value === "on"),
    {
      name: "RECORDINGS",
      default: "on",
      description: "Whether calls are recorded: `on` or `off`. An organization whose storage is full gets no recordings.",
      allowed: "on or off"
    }
  ),
  recordingFormat: required(Schema.Literals(recordingFormats), {
    name: "RECORDING_FORMAT",
    default: "wav",
    description:
      "Format of the recordings of organizations that have not chosen one: `wav`, or `opus` (in Ogg, a twelfth of the size, compressed after the call).",
    allowed: "wav or opus"
  }),
  auditDays: required(integer(0, 36_500), {
    name: "AUDIT_DAYS",
    default: "365",
    description: "How many days entries of the audit log are kept. `0` keeps them forever.",
    allowed: "a whole number from 0 to 36500"
  }),
  egressAllow: optional(networks, {
    name: "EGRESS_ALLOW",
    description:
      "Comma-separated addresses and networks, besides public ones, that every organization may have the engine connect to. For telephony and for speech and language services, the first organization may use this machine and private networks anyway.",
    allowed: "IP addresses and networks such as 10.1.2.3,192.168.0.0/24,fd00:1::/64"
  }),
  webhookPrivateTargets: required(
    mapped(text(/^(on|off)$/), Schema.Boolean, (value) => value === "on"),
    {
      name: "WEBHOOK_PRIVATE_TARGETS",
      default: "off",
      description:
        "Whether webhooks, pre-call fetches and requests of tools may go to addresses of this machine and of private networks: `on` or `off`.",
      allowed: "on or off"
    }
  )
} as const

type ValueOf<V> = V extends Variable<infer A> ? A : never
export type Settings = { readonly [Key in keyof typeof table]: ValueOf<(typeof table)[Key]> }

/** The rows of the table in deploy/README.md, in its order. */
export const variables: ReadonlyArray<{ readonly name: string; readonly description: string; readonly default: string | undefined }> =
  Object.values(table).map((variable) => ({ name: variable.name, description: variable.description, default: variable.default }))

/** Each problem is a sentence that names the variable and its allowed values. */
class BadEnvironment extends Schema.TaggedError<BadEnvironment>()("BadEnvironment", { problems: Schema.Array(Schema.String) }) {
  override get message(): string {
    return this.problems.join("\n")
  }
}

const refusal = ({ allowed, fault, name, secret: hidden }: Variable<unknown>, value: string): string => {
  const why = fault?.(value)
  return `${name} must be ${allowed}, ${hidden ? "and its value (not shown) is not" : `not ${JSON.stringify(value)}`}${why === undefined ? "" : `: ${why}`}`
}

export const read = (environment: Environment): Effect.Effect<Settings, BadEnvironment> => {
  const problems: Array<string> = []
  const settings = Object.entries<Variable<unknown>>(table).map(([key, variable]) => {
    const value = environment[variable.name] || variable.default
    if (value === undefined) return [key, undefined]
    const result = variable.read(value)
    if (Result.isSuccess(result)) return [key, result.success]
    problems.push(refusal(variable, value))
    return [key, undefined]
  })
  problems.push(...conflictsOf(environment))
  // Cast: built key by key from the table that Settings is derived from.
  return problems.length > 0 ? Effect.fail(new BadEnvironment({ problems })) : Effect.succeed(Object.fromEntries(settings) as Settings)
}

/** The URL of the API, when `port` is the one on which it actually listens. */
export const publicUrlOf = (settings: Pick<Settings, "host" | "publicUrl">, port: number): string => {
  if (settings.publicUrl !== undefined) return settings.publicUrl
  const host = settings.host === "0.0.0.0" || settings.host === "::" ? "localhost" : settings.host
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`
}

export class Config extends Context.Service<Config, Settings>()("runtime/config/Config") {
  static readonly layer = Layer.effect(
    Config,
    Effect.suspend(() => read(process.env))
  )
  static readonly layerOf = (environment: Environment) => Layer.effect(Config, read(environment))
}

const npmVariable =
  /^(?:path|home|userprofile|(?:local)?appdata|systemroot|comspec|tmpdir|te?mp|npm_config_.*|\w+_proxy|node_extra_ca_certs)$/i
/** What npm needs of the environment, which also holds secrets. */
export const npmEnvironment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => npmVariable.test(name)))
