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

type Ioredis = Pick<typeof import("ioredis"), "Cluster" | "Redis">
type Options = Omit<RedisOptions, "replyMapping">

const clusterOf = ({ Cluster }: Ioredis, { hosts, isEncrypted }: RedisUrl, options: Options): Client =>
  new Cluster([...hosts], {
    clusterRetryStrategy: retryMillis,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    redisOptions: options,
    slotsRefreshTimeout: CONNECT_MILLIS,
    // Certificates are for names, and must not be compared with the addresses that the names lead to.
    ...(isEncrypted ? { dnsLookup: (address, done) => done(null, address) } : {})
  } satisfies ClusterOptions)

const serverOf = ({ Redis }: Ioredis, url: RedisUrl, options: Options): Client => {
  const { database: db, hosts } = url
  const sentinels = sentinelsOf(url)
  // The check is that a sentinel has named a master; otherwise a server that is not ready says so itself.
  if (sentinels !== undefined) return new Redis({ retryStrategy: retryMillis, ...options, ...sentinels, db })
  // With several hosts, each further try goes to the next one.
  const retryStrategy = (times: number) => {
    Object.assign(client.options, hosts[++tries % hosts.length])
    return retryMillis(times)
  }
  let tries = 0
  const client = new Redis({ retryStrategy, ...options, ...hosts[0], db, enableReadyCheck: false })
  return client
}

/**
 * - `commands` keeps nothing for later: a command is sent at once or fails, and fails if it is not answered in time.
 * - `subscriber` connects again forever, and subscribes again to everything. All nodes of a cluster pass messages on, so it is connected to one;
 *   the subscriber that ioredis has for clusters tries a node that is down a thousand times a second.
 */
export const openClients = async (url: RedisUrl, name: string): Promise<{ readonly commands: Client; readonly subscriber: Client }> => {
  const ioredis = await import("ioredis")
  const common = commonOf(url, name)
  const brief = { ...common, autoResendUnfulfilledCommands: false, commandTimeout: COMMAND_MILLIS, maxRetriesPerRequest: 1 }
  return {
    commands: url.isCluster ? clusterOf(ioredis, url, brief) : serverOf(ioredis, url, { ...brief, enableOfflineQueue: false }),
    subscriber: serverOf(ioredis, url, { ...common, maxRetriesPerRequest: null })
  }
}

/** What is wrong, in the words of the server or the system, which repeat no password. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  const inner = "lastNodeError" in error ? error.lastNodeError : undefined
  return inner instanceof Error ? reasonOf(inner) : (error.message.split("\n")[0] ?? "").slice(0, 200)
}
