/** The connections to the Redis of `REDIS_URL`: to one server, to the master that sentinels name, or to a cluster. */
import type { Cluster, ClusterOptions, Redis, RedisOptions } from "ioredis"
import { Redacted } from "effect"
import type { RedisUrl } from "#runtime/config/RedisUrl.ts"

export type Client = Redis | Cluster

const COMMAND_MILLIS = 500
const CONNECT_MILLIS = 2000
const shortestRetryMillis = 50
const longestRetryMillis = 1000

const retryMillis = (times: number): number => Math.min(times * shortestRetryMillis, longestRetryMillis)

/** What both connections have in common. */
const commonOf = (url: RedisUrl, name: string) =>
  ({
    connectionName: name,
    connectTimeout: CONNECT_MILLIS,
    disableClientInfo: true,
    keepAlive: 10_000,
    // A name that led to the master leads to a replica after a failover, until it is looked up again.
    reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
    ...(url.username === undefined ? {} : { username: url.username }),
    ...(url.password === undefined ? {} : { password: Redacted.value(url.password) }),
    ...(url.isEncrypted ? { tls: {} } : {})
  }) satisfies Omit<RedisOptions, "replyMapping">

const sentinelsOf = ({ hosts, isEncrypted, sentinel }: RedisUrl) => {
  if (sentinel === undefined) return undefined
  const { master, password, username } = sentinel
  return {
    name: master,
    sentinels: [...hosts],
    sentinelCommandTimeout: COMMAND_MILLIS,
    sentinelRetryStrategy: retryMillis,
    enableTLSForSentinelMode: isEncrypted,
    ...(isEncrypted ? { sentinelTLS: {} } : {}),
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: Redacted.value(password) })
  }
}

type Own = Pick<RedisOptions, "commandTimeout" | "maxRetriesPerRequest" | "autoResendUnfulfilledCommands">

/**
 * - `commands` keeps nothing for later: a command is sent at once or fails, and fails if it is not answered in time.
 * - `subscriber` connects again forever, and subscribes again to everything.
 */
export const openClients = async (url: RedisUrl, name: string): Promise<{ readonly commands: Client; readonly subscriber: Client }> => {
  const ioredis = await import("ioredis")
  const common = commonOf(url, name)
  const [first] = url.hosts
  const open = (own: Own, enableOfflineQueue: boolean): Client => {
    const options = { ...common, ...own }
    if (url.isCluster) {
      return new ioredis.Cluster([...url.hosts], {
        clusterRetryStrategy: retryMillis,
        enableOfflineQueue,
        enableReadyCheck: false,
        redisOptions: options,
        slotsRefreshTimeout: CONNECT_MILLIS,
        // Certificates are for names, and must not be compared with the addresses that the names lead to.
        ...(url.isEncrypted ? { dnsLookup: (address, done) => done(null, address) } : {})
      } satisfies ClusterOptions)
    }
    const place = sentinelsOf(url) ?? first
    const isSentinel = url.sentinel !== undefined
    // The check that a sentinel has named a master; otherwise a server that is not ready says so itself.
    return new ioredis.Redis({
      ...options,
      ...place,
      db: url.database,
      enableOfflineQueue,
      enableReadyCheck: isSentinel,
      retryStrategy: retryMillis
    })
  }
  return {
    commands: open({ autoResendUnfulfilledCommands: false, commandTimeout: COMMAND_MILLIS, maxRetriesPerRequest: 1 }, false),
    subscriber: open({ maxRetriesPerRequest: null }, true)
  }
}

/** What is wrong, in the words of the server or the system, which repeat no password. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  const inner = "lastNodeError" in error ? error.lastNodeError : undefined
  return inner instanceof Error ? reasonOf(inner) : (error.message.split("\n")[0] ?? "").slice(0, 200)
}
