/** Connections to one server for one conversation. Each connects to the address that the egress policy checked; proxies of the environment are not used. */
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"
import type { Duplex } from "node:stream"
import { Effect, type Scope } from "effect"
import { type Egress, hostOf, portOf, refusesUrl } from "#core/egress/Egress.ts"

type Connecting = https.Agent["createConnection"]

interface Spare {
  /** Connects, unless there is a connection already. */
  readonly open: () => void
  readonly close: () => void
}

/** A connection that is opened before the first request, which would otherwise wait for the handshakes. Closed if it has been idle for too long. */
const spareOf = (agent: http.Agent | https.Agent, options: https.AgentOptions & { readonly host: string }): Spare => {
  const connect: Connecting = agent.createConnection.bind(agent)
  let spare: Duplex | null | undefined
  const taken = () => {
    const socket = spare
    spare = undefined
    return socket && !socket.destroyed && !socket.readableEnded ? socket : undefined
  }
  const connectOrTake: Connecting = (...given) => taken() ?? connect(...given)
  agent.createConnection = connectOrTake
  return {
    open: () => {
      const isConnected = Object.keys(agent.sockets).length + Object.keys(agent.freeSockets).length > 0
      spare = taken()
      if (isConnected || spare !== undefined) return
      const socket = connect({ ...options, servername: isIP(options.host) === 0 ? options.host : "" })
      spare = socket
      socket?.on("error", () => {})
      socket?.once("timeout", () => void (spare === socket && socket.destroy()))
    },
    close: () => void spare?.destroy()
  }
}

export interface ServiceConnection {
  /** A request that is not sent before its body is written with `end`. Undefined if the engine may not connect to the server. */
  readonly post: (path: string, headers: Readonly<Record<string, string>>) => http.ClientRequest | undefined
  /** The same without a body. */
  readonly get: (path: string, headers: Readonly<Record<string, string>>) => http.ClientRequest | undefined
  /** Connects, so that the first request does not wait for it. Changes nothing if there is a connection. */
  readonly warm: () => void
}

interface Opened {
  readonly close: () => void
  readonly connection: ServiceConnection
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
  const spare = spareOf(agent, { ...options, ...place })
  const warm = () => {
    if (!isRefused) spare.open()
  }
  const close = () => {
    agent.destroy()
    spare.close()
  }
  return { close, connection: { post: begin("POST"), get: begin("GET"), warm } }
}

/** Its connections are opened when they are needed, and closed once they have been idle for so long. */
export const connectionTo = (base: URL, egress: Egress, idleMillis: number): ServiceConnection =>
  opened(base, egress, idleMillis).connection

/** The first connection is opened at once, and all are closed with the scope. */
export const openConnection = (base: URL, egress: Egress, idleMillis: number): Effect.Effect<ServiceConnection, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const made = opened(base, egress, idleMillis)
      made.connection.warm()
      return made
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ connection }) => connection))
