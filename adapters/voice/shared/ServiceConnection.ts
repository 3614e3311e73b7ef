/** Connections to one server for one conversation. Each connects to the address that the egress policy checked; proxies of the environment are not used. */
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"
import type { Duplex } from "node:stream"
import { Effect, type Scope } from "effect"
import { type Egress, hostOf, portOf, refusesUrl } from "#core/egress/Egress.ts"

type Connecting = https.Agent["createConnection"]

/** Opens one connection before the first request, which would otherwise wait for the handshakes. */
const warmed = (connect: Connecting, options: https.AgentOptions & { readonly host: string }): Connecting => {
  const warm = connect({ ...options, servername: isIP(options.host) === 0 ? options.host : "" })
  let spare: Duplex | null | undefined = warm
  warm?.on("error", () => {})
  return (...given) => {
    const socket = spare
    spare = undefined
    if (socket && !socket.destroyed && !socket.readableEnded) return socket
    return connect(...given)
  }
}

export interface ServiceConnection {
  /** A request that is not sent before its body is written with `end`. Undefined if the engine may not connect to the server. */
  readonly post: (path: string, headers: Readonly<Record<string, string>>) => http.ClientRequest | undefined
  /** The same without a body. */
  readonly get: (path: string, headers: Readonly<Record<string, string>>) => http.ClientRequest | undefined
}

interface Opened {
  readonly agent: http.Agent | https.Agent
  readonly isRefused: boolean
  readonly connection: ServiceConnection
  /** Where it connects to, and how. */
  readonly options: https.AgentOptions & { readonly host: string }
}

const opened = (base: URL, egress: Egress, idleMillis: number): Opened => {
  const isSecure = base.protocol === "https:"
  // Node does not call `lookup` for an IP literal.
  const isRefused = refusesUrl(egress, base)
  const lookup = egress.lookup(portOf(base))
  const options = { keepAlive: true, lookup, scheduling: "lifo", timeout: idleMillis } as const
  const place = { host: hostOf(base), port: portOf(base) }
  const agent = isSecure ? new https.Agent(options) : new http.Agent(options)
  const begin = (method: string) => (path: string, headers: Readonly<Record<string, string>>) => {
    if (isRefused) return undefined
    const request = (isSecure ? https : http).request({ agent, ...place, method, path, headers: { ...headers, host: base.host } })
    return request.on("socket", (socket) => egress.pace?.(socket))
  }
  return {
    agent,
    isRefused,
    options: { ...options, ...place },
    connection: { post: begin("POST"), get: begin("GET") }
  }
}

/** Its connections are opened when they are needed, and closed once they have been idle for so long. */
export const connectionTo = (base: URL, egress: Egress, idleMillis: number): ServiceConnection =>
  opened(base, egress, idleMillis).connection

/** The first connection is opened at once, and all are closed with the scope. */
export const openConnection = (base: URL, egress: Egress, idleMillis: number): Effect.Effect<ServiceConnection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, connection, isRefused, options } = yield* Effect.acquireRelease(
      Effect.sync(() => opened(base, egress, idleMillis)),
      ({ agent }) => Effect.sync(() => agent.destroy())
    )
    let spare: Duplex | null | undefined
    if (!isRefused) {
      const connect = agent.createConnection.bind(agent)
      agent.createConnection = warmed((...given) => (spare = connect(...given)), options)
    }
    yield* Effect.addFinalizer(() => Effect.sync(() => void spare?.destroy()))
    return connection
  })
