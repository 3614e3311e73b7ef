/**
 * The address of a Redis, as given by `REDIS_URL`:
 *
 *     redis://user:password@host:6379/0?prefix=trunkline:                     one server
 *     redis+sentinel://user:password@host1:26379,host2:26379/mymaster?db=0    the master of that name, as these sentinels know it
 *     redis+cluster://user:password@host1:6379,host2:6379                     a cluster with these nodes
 *
 * With `rediss` instead of `redis` everything is encrypted, and the servers' certificates are verified. What is not understood is refused, never
 * ignored.
 */
import { Redacted } from "effect"
import { addressReadBy, addressWords, badPercent, decoded, reader, refuse, unlessEmpty } from "./secretAddress.ts"

interface Login {
  readonly username: string | undefined
  readonly password: Redacted.Redacted | undefined
}

export interface RedisUrl extends Login {
  /** Of the server, or of sentinels or nodes that are asked in this order. */
  readonly hosts: ReadonlyArray<{ readonly host: string; readonly port: number }>
  readonly isEncrypted: boolean
  readonly isCluster: boolean
  readonly sentinel: (Login & { readonly master: string }) | undefined
  readonly database: number
  /** Begins each key and channel. */
  readonly prefix: string
}

const forms = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?$/is
const hostPattern = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i
const prefixPattern = /^[A-Za-z0-9_.:-]{0,100}$/
const parameterNames = new Set(["db", "prefix", "sentinel_user", "sentinel_password"])
const mostDatabase = 100_000

const secretOf = (text: string | undefined): Redacted.Redacted | undefined =>
  text === undefined || text === "" ? undefined : Redacted.make(text)

const loginOf = (text: string | undefined): Login => {
  if (text === undefined) return { password: undefined, username: undefined }
  const [user = "", ...rest] = text.split(":")
  if (text.includes("@") || rest.length > 1) return refuse("an @ in the user or the password must be written as %40, and a : as %3A")
  const password = secretOf(decoded("password", rest[0] ?? ""))
  const username = unlessEmpty(decoded("user name", user))
  if (username !== undefined && password === undefined) return refuse("a user needs a password: user:password@")
  return { password, username }
}

const hostsOf = (text: string, defaultPort: number): RedisUrl["hosts"] =>
  text.split(",").map((one) => {
    const [, address, name, port] = hostPattern.exec(one) ?? []
    const host = address ?? name
    const number = port === undefined ? defaultPort : Number(port)
    if (host === undefined) return refuse("a host is missing or is not one: in a password, write / ? # @ % as %2F and so on")
    return number >= 1 && number <= 65535 ? { host, port: number } : refuse("a port must be a number from 1 to 65535")
  })

const parametersOf = (query: string): ReadonlyMap<string, string> => {
  if (query.includes("@")) refuse("a ? in the password must be written as %3F, and an @ in a parameter as %40")
  if (badPercent.test(query)) refuse("a % in a parameter must be written as %25")
  const parameters = new Map(new URLSearchParams(query))
  for (const name of parameters.keys())
    if (!parameterNames.has(name))
      refuse(/^[a-z_]{1,40}$/i.test(name) ? `the parameter ${name} is not supported` : "a parameter is not supported")
  return parameters
}

const databaseOf = (text: string | undefined): number => {
  if (text === undefined || text === "") return 0
  return /^\d{1,6}$/.test(text) && Number(text) <= mostDatabase ? Number(text) : refuse("the database must be a number")
}

const parts = (text: string): RedisUrl => {
  const found = forms.exec(text)
  if (found === null) return refuse("it must start with redis:// or rediss://, or with redis+sentinel:// or redis+cluster:// and the like")
  const [, encrypted, kind, authority = "", path = "", query = "", hash] = found
  if (hash !== undefined) refuse("a # must be written as %23")
  if (/[/@]/.test(path.slice(1))) refuse("a / in the password must be written as %2F")
  const at = authority.lastIndexOf("@")
  const isSentinel = kind?.toLowerCase() === "sentinel"
  const isCluster = kind?.toLowerCase() === "cluster"
  const hosts = hostsOf(authority.slice(at + 1), isSentinel ? 26379 : 6379)
  if (kind === undefined && hosts.length > 1) refuse("only redis+sentinel:// and redis+cluster:// can name several hosts")
  const parameters = parametersOf(query)
  const name = decoded("path", path.slice(1))
  if (isSentinel && !/^[\w.-]+$/.test(name)) refuse("redis+sentinel:// needs the name of the master: /mymaster")
  if (!isSentinel && (parameters.has("sentinel_user") || parameters.has("sentinel_password"))) refuse("it names no sentinels")
  if (!isSentinel && name !== "" && parameters.has("db")) refuse("it names two databases")
  const database = databaseOf(isSentinel ? parameters.get("db") : (parameters.get("db") ?? name))
  if (isCluster && database !== 0) refuse("a cluster has no database but 0")
  const prefix = parameters.get("prefix") ?? "trunkline:"
  if (!prefixPattern.test(prefix)) refuse("prefix can only have letters, digits, and _ . : -")
  return {
    ...loginOf(at === -1 ? undefined : authority.slice(0, at)),
    database,
    hosts,
    isCluster,
    isEncrypted: encrypted !== "",
    prefix,
    sentinel: isSentinel
      ? {
          master: name,
          password: secretOf(parameters.get("sentinel_password")),
          username: unlessEmpty(parameters.get("sentinel_user"))
        }
      : undefined
  }
}

/** Fails with what is wrong, in words that repeat neither the password nor what may be a part of it. */
export const readRedisUrl = reader(parts)

export const redisAddress = addressReadBy(readRedisUrl)
export const redisAddressWords = addressWords(readRedisUrl, "redis://user:password@host:6379/0")
