/**
 * The address of a database, read as libpq reads it, with the words of node-postgres and JDBC that providers hand out (`no-verify`, `ssl=true`,
 * `uselibpqcompat`). A parameter is obeyed or refused by name, never ignored: an ignored one would weaken the connection without a word.
 * https://www.postgresql.org/docs/current/libpq-connect.html
 */
import { Redacted } from "effect"
import { addressReadBy, addressWords, badPercent, decoded, reader, refuse, unlessEmpty } from "./secretAddress.ts"

const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"] as const
type SslMode = (typeof sslModes)[number]

export interface DatabaseUrl {
  /** A name, an address without brackets, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  /** Undefined: named after the user. */
  readonly database: string | undefined
  /** Undefined: the user that this process runs as. */
  readonly username: string | undefined
  readonly password: Redacted.Redacted | undefined
  readonly sslmode: SslMode
  /** Path of the trusted authorities' certificates, or `system`. */
  readonly sslrootcert: string | undefined
  readonly sslcert: string | undefined
  readonly sslkey: string | undefined
  readonly sslpassword: Redacted.Redacted | undefined
  /** Shown in `pg_stat_activity` after the engine's own name. */
  readonly applicationName: string | undefined
  readonly connectTimeoutSeconds: number | undefined
  readonly options: string | undefined
}

const defaultPort = 5432
const maxTimeoutSeconds = 600

/** Parameters that are obeyed by reading them. */
const read = new Set([
  ...["host", "port", "user", "password", "dbname", "application_name", "connect_timeout", "options"],
  ...["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword"]
])
/** Parameters with the values that say what happens anyway. The engine checks by itself that it can write. */
const fixed: Readonly<Record<string, ReadonlyArray<string>>> = {
  channel_binding: ["disable", "prefer"],
  client_encoding: ["auto", "utf8", "UTF8", "UTF-8"],
  gssencmode: ["disable", "prefer"],
  keepalives: ["1"],
  load_balance_hosts: ["disable"],
  sslcompression: ["0"],
  sslnegotiation: ["postgres"],
  sslsni: ["1"],
  target_session_attrs: ["any", "read-write", "primary"],
  uselibpqcompat: ["true"]
}

/** An unescaped # ? or / in the password ends the authority early, so what follows may be a part of the password. */
const rejectCutPassword = ({ hash, pathname, search }: URL): void => {
  if (hash !== "") refuse("a # must be written as %23")
  if (/[/@]/.test(pathname.slice(1))) refuse("a / in the password or the database must be written as %2F, and an @ as %40")
  if (search.includes("@")) refuse("a ? in the password must be written as %3F, and an @ in a parameter as %40")
}

const parametersOf = (url: URL): ReadonlyMap<string, string> => {
  if (badPercent.test(url.search)) refuse("a % in a parameter must be written as %25")
  const parameters = new Map(url.searchParams)
  for (const [name, value] of parameters) {
    if (value.includes("\0")) refuse(`${name} contains a zero byte`)
    if (read.has(name)) continue
    const allowed = Object.hasOwn(fixed, name) ? fixed[name] : undefined
    if (allowed === undefined)
      refuse(/^[a-z_]{1,40}$/i.test(name) ? `the parameter ${name} is not supported` : "a parameter is not supported")
    else if (!allowed.includes(value)) refuse(`${name} can only be ${allowed.join(" or ")} here`)
  }
  return parameters
}

const sslModeOf = (parameters: ReadonlyMap<string, string>, isSystem: boolean): SslMode => {
  const ssl = parameters.get("ssl")
  if (ssl !== undefined && ssl !== "true") refuse("ssl can only be true: use sslmode")
  const given = parameters.get("sslmode") ?? (ssl === undefined ? undefined : "require")
  // As in libpq: the system's authorities vouch for anybody, so only the host's name makes the certificate the server's.
  if (isSystem && given !== undefined && given !== "verify-full") refuse("sslrootcert=system needs sslmode=verify-full")
  const mode = sslModes.find((one) => one === (given ?? (isSystem ? "verify-full" : "prefer")))
  return mode ?? refuse(`sslmode can only be ${sslModes.join(", ")}`)
}

const numberIn = (name: string, text: string | undefined, maximum: number): number | undefined => {
  if (text === undefined || text === "") return undefined
  const value = Number(text)
  return /^\d+$/.test(text) && value >= 1 && value <= maximum ? value : refuse(`${name} must be a whole number from 1 to ${maximum}`)
}

/** `postgres://user:password@/database?host=/folder` is an address to libpq, but not a URL. */
const noHost = "none.invalid"
const withHost = (text: string): string => text.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[/?]|$)/i, `$1${noHost}`)

const parse = (text: string): URL => {
  const url = URL.parse(withHost(text))
  if (url !== null && !/[,]/.test(url.host)) return url
  // Several hosts with ports are not a URL. Only commas after the last @ separate hosts: before it, they belong to the password.
  const hosts = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1]?.split("@").at(-1) ?? ""
  return refuse(
    hosts.includes(",") ? "it can name only one host" : "it is not a URL: in a password, write : / ? # [ ] @ % as %3A and so on"
  )
}

const credentialsOf = ({ password, username }: URL, parameters: ReadonlyMap<string, string>) => {
  const secret = unlessEmpty(parameters.get("password") ?? decoded("password", password))
  return {
    username: unlessEmpty(parameters.get("user") ?? decoded("user name", username)),
    password: secret === undefined ? undefined : Redacted.make(secret)
  }
}

const certificatesOf = (parameters: ReadonlyMap<string, string>) => {
  const [sslrootcert, sslcert, sslkey, phrase] = ["sslrootcert", "sslcert", "sslkey", "sslpassword"].map((name) =>
    unlessEmpty(parameters.get(name))
  )
  if (sslcert !== undefined && sslkey === undefined) refuse("sslcert needs sslkey")
  if (sslkey !== undefined && sslcert === undefined) refuse("sslkey needs sslcert")
  return {
    sslmode: sslModeOf(parameters, sslrootcert === "system"),
    sslrootcert,
    sslcert,
    sslkey,
    sslpassword: phrase === undefined ? undefined : Redacted.make(phrase)
  }
}

const parts = (text: string): DatabaseUrl => {
  const url = parse(text)
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:") refuse("it must start with postgres:// or postgresql://")
  rejectCutPassword(url)
  const parameters = parametersOf(url)
  const host = unlessEmpty(parameters.get("host")) ?? decoded("host", url.hostname).replace(/^\[(.*)\]$/, "$1")
  if (host === "" || host === noHost) refuse("it names no host")
  return {
    host,
    port: numberIn("port", parameters.get("port") ?? url.port, 65535) ?? defaultPort,
    database: unlessEmpty(parameters.get("dbname") ?? decoded("database", url.pathname.slice(1))),
    ...credentialsOf(url, parameters),
    ...certificatesOf(parameters),
    applicationName: unlessEmpty(parameters.get("application_name")),
    connectTimeoutSeconds: numberIn("connect_timeout", parameters.get("connect_timeout"), maxTimeoutSeconds),
    options: unlessEmpty(parameters.get("options"))
  }
}

/** Fails with what is wrong, in words that repeat neither the password nor what may be a part of it. */
export const readDatabaseUrl = reader(parts)

export const databaseAddress = addressReadBy(readDatabaseUrl)
export const databaseAddressWords = addressWords(readDatabaseUrl, "postgres://user:password@host:5432/database")
