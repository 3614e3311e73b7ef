/**
 * How this process connects to a database: the one place where a connection's host, credentials and encryption come from. `sslmode` means what it
 * means to libpq: `allow` and `prefer` are two ways to connect, of which the second is tried when the server refuses the first.
 */
import { PgConnection } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Redacted, Result, Schema, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { type ConnectionOptions, createSecureContext, getCACertificates } from "node:tls"
import { type DatabaseUrl, readDatabaseUrl } from "#runtime/config/DatabaseUrl.ts"
import { mayPass, telling } from "./ConnectFailure.ts"
import { valueTypes } from "./valueTypes.ts"

const connectTimeout = Duration.seconds(5)

/** The message names a setting and, where it is about a file, the file. */
class DatabaseSettingUnfit extends Schema.TaggedError<DatabaseSettingUnfit>()("DatabaseSettingUnfit", {
  setting: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.setting}: ${this.reason}`
  }
}

/** False: without encryption. */
type Way = false | ConnectionOptions
/** What a connection may set for itself. Everything else comes from the server's address. */
export type SessionOptions = Pick<PgConnection.Config, "applicationName" | "connectTimeout" | "keepAlive" | "startupParameters">

/** The way that last worked, shared by all connections to a server. */
interface Known {
  way: Way | undefined
}

const certificateIn = (path: string, text: string): string => {
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw new Error(`${path} holds no certificate in PEM`)
  }
}

const fileOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new Error(`${path} cannot be read (${error instanceof Error && "code" in error ? error.code : "it is no file"})`)
  }
}

/** The authorities that Node brings along, those of the system, and NODE_EXTRA_CA_CERTS. */
const publicAuthorities = (): Array<string> => [...new Set([...getCACertificates("default"), ...getCACertificates("system")])]

const named = <A>(parameter: string, work: () => A): A => {
  try {
    return work()
  } catch (error) {
    throw new Error(`${parameter}: ${error instanceof Error ? error.message : "it cannot be used"}`)
  }
}

const clientCertificate = ({ sslcert, sslkey, sslpassword }: DatabaseUrl): ConnectionOptions => {
  if (sslcert === undefined || sslkey === undefined) return {}
  const cert = named("sslcert", () => certificateIn(sslcert, fileOf(sslcert)))
  const key = named("sslkey", () => fileOf(sslkey))
  const passphrase = sslpassword === undefined ? {} : { passphrase: Redacted.value(sslpassword) }
  named("sslkey", () => {
    try {
      createSecureContext({ cert, key, ...passphrase })
    } catch {
      throw new Error(`${sslkey} holds no key in PEM that fits ${sslcert} and sslpassword`)
    }
  })
  return { cert, key, ...passphrase }
}

const encryptionOf = (url: DatabaseUrl): ConnectionOptions => {
  const { sslmode, sslrootcert } = url
  const isVerified = sslmode !== "no-verify" && (sslmode.startsWith("verify") || sslrootcert !== undefined)
  if (!isVerified) return { ...clientCertificate(url), rejectUnauthorized: false }
  const ca =
    sslrootcert === undefined || sslrootcert === "system"
      ? publicAuthorities()
      : named("sslrootcert", () => certificateIn(sslrootcert, fileOf(sslrootcert)))
  const anyName = sslmode === "verify-full" ? {} : { checkServerIdentity: () => undefined }
  return { ...clientCertificate(url), ...anyName, ca, rejectUnauthorized: true }
}

/** The user of this process may have no name, as in a container that chooses the id. */
const withUser = (url: DatabaseUrl): DatabaseUrl => {
  if (url.username !== undefined) return url
  try {
    return { ...url, username: userInfo().username }
  } catch {
    throw new Error("it names no user")
  }
}

/** In the order in which libpq tries them. It encrypts no Unix socket. */
const waysOf = (url: DatabaseUrl): readonly [Way, ...ReadonlyArray<Way>] => {
  if (url.sslmode === "disable" || url.host.startsWith("/")) return [false]
  const encryption = encryptionOf(url)
  if (url.sslmode === "allow") return [false, encryption]
  return url.sslmode === "prefer" ? [encryption, false] : [encryption]
}

const connectionOf = (url: DatabaseUrl, options: SessionOptions) => {
  const seconds = url.connectTimeoutSeconds
  return {
    ...options,
    applicationName: [options.applicationName, url.applicationName].filter((name) => name !== undefined).join(" "),
    connectTimeout: options.connectTimeout ?? (seconds === undefined ? connectTimeout : Duration.seconds(seconds)),
    database: url.database,
    host: url.host,
    password: url.password,
    port: url.port,
    startupOptions: url.options,
    types: valueTypes,
    username: url.username
  }
}

export class Server {
  readonly url: DatabaseUrl
  private readonly ways: readonly [Way, ...ReadonlyArray<Way>]
  private readonly known: Known

  private constructor(url: DatabaseUrl, ways: readonly [Way, ...ReadonlyArray<Way>], known: Known) {
    this.url = url
    this.ways = ways
    this.known = known
  }

  /** Reads the address and the certificates it names. `setting` is where it comes from. */
  static readonly at = (address: Redacted.Redacted, setting: string): Effect.Effect<Server, DatabaseSettingUnfit> =>
    Effect.suspend(() => {
      const read = readDatabaseUrl(Redacted.value(address))
      const unfit = (reason: string) => Effect.fail(new DatabaseSettingUnfit({ setting, reason }))
      if (Result.isFailure(read)) return unfit(read.failure)
      const server = Result.try({
        try: () => new Server(withUser(read.success), waysOf(read.success), { way: undefined }),
        catch: (error) => (error instanceof Error ? error.message : "it cannot be used")
      })
      return Result.isFailure(server) ? unfit(server.failure) : Effect.succeed(server.success)
    })

  /** The same server and database with another role. */
  as(role: string, password: string): Server {
    return new Server({ ...this.url, username: role, password: Redacted.make(password) }, this.ways, this.known)
  }

  /** Host, port and database, for messages. */
  get place(): string {
    const { database = "", host, port } = this.url
    return `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`
  }

  /** A session of its own. Learns which way works. */
  session(options: SessionOptions): Effect.Effect<PgConnection.PgConnection, SqlError.SqlError, Scope.Scope> {
    const connect = (ssl: Way) =>
      Effect.tap(PgConnection.make({ ...connectionOf(this.url, options), ssl }), () =>
        Effect.sync(() => {
          this.known.way = ssl
        })
      )
    return Effect.suspend(() => {
      const [first = false, second] = new Set([this.known.way ?? this.ways[0], ...this.ways])
      if (second === undefined) return connect(first)
      return Effect.catchIf(
        connect(first),
        (error) => !mayPass(error),
        (error) => Effect.mapError(connect(second), (other) => telling(error, other))
      )
    })
  }

  /** The options of a pool, whose connections go the way that last worked. */
  pooled<O extends SessionOptions>(options: O) {
    // Until a session has been opened, none has proved that the server encrypts.
    const ssl = (): Way => this.known.way ?? (this.ways.includes(false) ? false : this.ways[0])
    // `@effect/sql-pg` reads it for each connection.
    return Object.defineProperty({ ...options, ...connectionOf(this.url, options), ssl: ssl() }, "ssl", { enumerable: true, get: ssl })
  }
}

/** The server of DATABASE_URL, or the embedded one. */
export class DatabaseServer extends Context.Service<DatabaseServer, Server>()("runtime/postgres/DatabaseServer") {
  static readonly layerOf = (address: Redacted.Redacted) => Layer.effect(DatabaseServer, Server.at(address, "DATABASE_URL"))
}
