/**
 * Everything that is set from outside, in one table: what the variable is called, what it may hold, what holds without it. Read once,
 * at start; nothing else in the engine looks at the environment. A bad value stops the start, and all bad values are named at once.
 */
import { Context, Effect, Layer, Redacted, Result, Schema, SchemaGetter } from "effect"
import { resolve } from "node:path"
import { readNetwork } from "#core/egress/Network.ts"
import { SignupMode } from "#core/organization/SignUp.ts"
import { recordingFormats } from "#core/file/RecordingFormat.ts"

interface Variable<A> {
  readonly name: string
  readonly description: string
  /** What is read when the variable is missing or empty. Undefined: the setting is then undefined. */
  readonly default: string | undefined
  /** Completes "must be ...". */
  readonly allowed: string
  /** The value is never repeated in a message. */
  readonly secret: boolean
  readonly read: (text: string) => Result.Result<A, unknown>
}
type Codec<A> = Schema.Codec<A, string>
type Words = Pick<Variable<unknown>, "name" | "description" | "allowed"> & { readonly secret?: boolean }

const readWith = <A>(codec: Codec<A>) => Schema.decodeUnknownResult(codec)
const required = <A>(codec: Codec<A>, words: Words & { readonly default: string }): Variable<A> => ({
  secret: false,
  ...words,
  read: readWith(codec)
})
const optional = <A>(codec: Codec<A>, words: Words): Variable<A | undefined> => ({
  secret: false,
  ...words,
  default: undefined,
  read: readWith(codec)
})

const text = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))
const mapped = <A>(codec: Codec<string>, to: Schema.Codec<A>, map: (value: string) => A): Codec<A> =>
  codec.pipe(Schema.decodeTo(to, { decode: SchemaGetter.transform(map), encode: SchemaGetter.forbidden(() => "Read only") }))
const number = (minimum: number, maximum: number) =>
  mapped(text(/^\d+(\.\d+)?$/), Schema.Finite.check(Schema.isBetween({ minimum, maximum })), Number)
const integer = (minimum: number, maximum: number) =>
  mapped(text(/^\d+$/), Schema.Int.check(Schema.isBetween({ minimum, maximum })), Number)
const secret = (codec: Codec<string>) => mapped(codec, Schema.Redacted(Schema.String), (value) => Redacted.make(value))
const url = (...protocols: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter((value) => {
      const parsed = URL.parse(value)
      return parsed !== null && protocols.includes(parsed.protocol) && parsed.hostname !== ""
    })
  )

const network = Schema.Struct({ address: Schema.String, bits: Schema.Int, family: Schema.Literals(["ipv4", "ipv6"]) })
/** Addresses and networks with commas between. */
const networks = mapped(
  Schema.String.check(Schema.makeFilter((value) => value.split(",").every((one) => readNetwork(one.trim()) !== undefined))),
  Schema.Array(network),
  (value) => value.split(",").flatMap((one) => readNetwork(one.trim()) ?? [])
)
const aKey = "(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)"
const keyText = text(new RegExp(`^${aKey}$`))
const keysPattern = new RegExp(`^ *${aKey}(?: *, *${aKey})* *$`)

const adapterName = "(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"
const adapterList = new RegExp(`^ *${adapterName}(?: *, *${adapterName})* *$`)

const origin = "https?://[^\\s,/?#@]+"
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
      "Address to listen on. `0.0.0.0` lets other machines in. Requests have to name this host, an IP address, `localhost` or that of `PUBLIC_URL`.",
    allowed: "an IP address or a host name"
  }),
  publicUrl: optional(
    mapped(url("http:", "https:").check(Schema.isPattern(/^[^?#]*$/)), Schema.String, (value) => value.replace(/\/+$/, "")),
    {
      name: "PUBLIC_URL",
      description:
        "Where clients and providers reach the API from outside; upload and callback addresses start with it. Without it: `HOST` and `PORT`.",
      allowed: "an http:// or https:// address without query"
    }
  ),
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
        "Sites whose pages may read answers of the API in a browser, with commas between; `*`: all. None may send a browser's credentials.",
      allowed: "* or origins such as https://app.example.com, with commas between"
    }
  ),
  trustedProxies: optional(networks, {
    name: "TRUSTED_PROXIES",
    description:
      "Addresses and networks of proxies in front of the API, such as `127.0.0.1, 10.0.0.0/8`: their `X-Forwarded-For` says who asks. Without it: the other end of the connection does.",
    allowed: "IP addresses and networks with commas between"
  }),
  dataDir: required(
    mapped(text(/\S/), Schema.String, (value) => resolve(value)),
    {
      name: "DATA_DIR",
      default: ".data",
      description:
        "Folder of uploaded lists, recordings, transcripts, the journal of what was dialed, the key of the secrets, and the embedded Postgres.",
      allowed: "a path"
    }
  ),
  databaseUrl: optional(secret(url("postgres:", "postgresql:")), {
    name: "DATABASE_URL",
    description:
      "A Postgres (15 or later) to use instead of the embedded one. A pooler in between must keep sessions apart (`pool_mode = session`).",
    allowed: "an address such as postgres://user:password@host:5432/database",
    secret: true
  }),
  tenantDatabaseUrl: optional(secret(url("postgres:", "postgresql:")), {
    name: "TENANT_DATABASE_URL",
    description:
      "The same database, as a role of its own for requests, where the user of `DATABASE_URL` may create none. Without it: a role that the engine makes.",
    allowed: "an address such as postgres://user:password@host:5432/database",
    secret: true
  }),
  secretsKey: optional(secret(keyText), {
    name: "SECRETS_KEY",
    description:
      "Seals credentials and other secrets in the database: 32 bytes. Without it: one that is made at the first start, in `DATA_DIR/secrets.key`.",
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
        "Former keys, with commas between. What they have sealed is sealed with `SECRETS_KEY` at the start; then they are not needed.",
      allowed: "keys like SECRETS_KEY, with commas between",
      secret: true
    }
  ),
  apiKey: optional(secret(text(/^[\x21-\x7e]{16,200}$/)), {
    name: "API_KEY",
    description:
      "API key of the first organization, which is also the operator's. Without it one is made at the first start and printed once.",
    allowed: "16 to 200 printable ASCII characters without spaces",
    secret: true
  }),
  signup: required(SignupMode, {
    name: "SIGNUP",
    default: "invite",
    description:
      "Who may sign up: `invite` (the first one, from this machine or with the set-up code that is printed at the first start, and then who was invited), `on` (anybody who reaches the API) or `off` (nobody).",
    allowed: "invite, on or off"
  }),
  jwtSecret: optional(secret(text(/^[\x21-\x7e]{32,200}$/)), {
    name: "JWT_SECRET",
    description: "Signs the tokens of users who log in. Without it: one that is made at the first start and kept in the database.",
    allowed: "32 to 200 printable ASCII characters without spaces",
    secret: true
  }),
  compatibility: optional(Schema.Literals(["dograh"]), {
    name: "COMPATIBILITY",
    description:
      "`dograh`: serves the existing product's web interface, to which a campaign that was never started is `created`, not `draft`, and which edits running campaigns.",
    allowed: "dograh"
  }),
  adapters: required(
    mapped(text(adapterList), Schema.Array(Schema.String), (value) => [...new Set(value.split(",").map((name) => name.trim()))]),
    {
      name: "ADAPTERS",
      default: "ari",
      description: "Provider adapters to load: names of built-in ones and of installed npm packages, with commas between.",
      allowed: "adapter or package names with commas between"
    }
  ),
  nodeName: required(text(/^[a-z0-9-]{1,32}$/), {
    name: "NODE_NAME",
    default: "node1",
    description:
      "Name of this engine, the same after a restart: what rings meanwhile is carried on with. One engine uses a database and schema at a time; a second one waits for it to end.",
    allowed: "1 to 32 of a-z, 0-9 and -"
  }),
  callRate: required(integer(1, 1000), {
    name: "CALL_RATE",
    default: "1",
    description: "Dial requests per second of a new campaign that names no rate of its own.",
    allowed: "a whole number from 1 to 1000"
  }),
  trunkRate: optional(number(0.01, 1000), {
    name: "TRUNK_RATE",
    description: "Dial requests per second of each telephony configuration. Without it: what its adapter says.",
    allowed: "a number from 0.01 to 1000"
  }),
  orgConcurrency: required(integer(1, 100_000), {
    name: "ORG_CONCURRENCY",
    default: "10",
    description: "Calls that a newly created organization may have up at once, until the operator allows it more or fewer.",
    allowed: "a whole number from 1 to 100000"
  }),
  maxLiveMedia: optional(integer(1, 100_000), {
    name: "MAX_LIVE_MEDIA",
    description:
      "Calls with audio that may be up at once, those that still ring included. Without it, and below it: as many as the engine can speak to in time, which it measures.",
    allowed: "a whole number from 1 to 100000"
  }),
  ringTimeoutSeconds: required(integer(15, 300), {
    name: "RING_TIMEOUT",
    default: "60",
    description: "Seconds a callee's phone may ring.",
    allowed: "a whole number from 15 to 300"
  }),
  drainSeconds: required(integer(0, 3600), {
    name: "DRAIN",
    default: "30",
    description: "Seconds that calls get to end by themselves when the engine is stopped.",
    allowed: "a whole number from 0 to 3600"
  }),
  logLevel: required(Schema.Literals(["debug", "info", "warn", "error"]), {
    name: "LOG_LEVEL",
    default: "info",
    description: "The least important entries that are logged.",
    allowed: "debug, info, warn or error"
  }),
  logFormat: optional(Schema.Literals(["pretty", "json"]), {
    name: "LOG_FORMAT",
    description: "`pretty` or `json`. Without it: pretty on a terminal, otherwise one JSON object a line.",
    allowed: "pretty or json"
  }),
  metrics: required(Schema.Literals(["off", "local", "on"]), {
    name: "METRICS",
    default: "local",
    description:
      "Who gets metrics for Prometheus at `/metrics`, of no organization: `local` (programs on this machine, at `METRICS_PORT`), `on` (anybody who reaches the API) or `off`.",
    allowed: "off, local or on"
  }),
  metricsPort: required(integer(0, 65535), {
    name: "METRICS_PORT",
    default: "0",
    description: "Port of 127.0.0.1 for the metrics where `METRICS` is `local`. `0` takes any free one; the start tells which.",
    allowed: "a whole number from 0 to 65535"
  }),
  recordings: required(
    mapped(text(/^(on|off)$/), Schema.Boolean, (value) => value === "on"),
    {
      name: "RECORDINGS",
      default: "on",
      description: "Whether calls are recorded: `on` or `off`. Not those of an organization whose storage is full.",
      allowed: "on or off"
    }
  ),
  recordingFormat: required(Schema.Literals(recordingFormats), {
    name: "RECORDING_FORMAT",
    default: "wav",
    description:
      "In which format recordings are kept where an organization has not chosen: `wav`, or `opus` (in Ogg, a twelfth of the size, made after the call).",
    allowed: "wav or opus"
  }),
  auditDays: required(integer(0, 36_500), {
    name: "AUDIT_DAYS",
    default: "365",
    description: "Days that entries of the audit log are kept. `0` keeps them for ever.",
    allowed: "a whole number from 0 to 36500"
  }),
  egressAllow: optional(networks, {
    name: "EGRESS_ALLOW",
    description:
      "Addresses and networks, with commas between, that every organization may have the engine connect to, beside public ones. The first organization may use this machine and private networks for telephony without it.",
    allowed: "IP addresses and networks such as 10.1.2.3,192.168.0.0/24,fd00:1::/64"
  }),
  webhookPrivateTargets: required(
    mapped(text(/^(on|off)$/), Schema.Boolean, (value) => value === "on"),
    {
      name: "WEBHOOK_PRIVATE_TARGETS",
      default: "off",
      description:
        "Whether webhooks, and fetches before calls, may go to addresses of this machine and of private networks: `on` or `off`.",
      allowed: "on or off"
    }
  )
} as const

type ValueOf<V> = V extends Variable<infer A> ? A : never
export type Settings = { readonly [Key in keyof typeof table]: ValueOf<(typeof table)[Key]> }

/** The rows of the table in deploy/README.md, in its order. */
export const variables: ReadonlyArray<{ readonly name: string; readonly description: string; readonly default: string | undefined }> =
  Object.values(table).map((variable) => ({ name: variable.name, description: variable.description, default: variable.default }))

/** Each problem is a sentence that names the variable and what it may hold. */
class BadEnvironment extends Schema.TaggedError<BadEnvironment>()("BadEnvironment", { problems: Schema.Array(Schema.String) }) {
  override get message(): string {
    return this.problems.join("\n")
  }
}

const refusal = ({ allowed, name, secret: hidden }: Variable<unknown>, value: string): string =>
  `${name} must be ${allowed}, ${hidden ? "and what it holds (not shown) is not" : `not ${JSON.stringify(value)}`}`

type Environment = Readonly<Record<string, string | undefined>>

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
  // Built key by key from the table that Settings is derived from.
  return problems.length > 0 ? Effect.fail(new BadEnvironment({ problems })) : Effect.succeed(Object.fromEntries(settings) as Settings)
}

/** Where the API is reached when `port` is the one it really listens on. */
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
