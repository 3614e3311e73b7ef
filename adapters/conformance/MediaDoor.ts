/** Serves the media sockets that a carrier opens, as the gateway and the engine do: the newest stream of a call counts. */
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocket, WebSocketServer } from "ws"
import type { Adapter } from "#core/provider/Adapter.ts"
import type { Callback } from "#core/provider/Callback.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { MediaProtocol, MediaSocket } from "#core/provider/MediaSocket.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { nowMillis } from "./now.ts"
import type { PlacedCall } from "./PlacedCall.ts"
import type { Config } from "./World.ts"

/** The same limits as in the engine. */
const LONGEST_MESSAGE = 65_536
const UNREADABLE = 4400
const NORMAL = 1000

export interface Served {
  readonly adapter: Adapter
  readonly config: Config
  readonly callOf: (callId: string) => PlacedCall | undefined
  readonly named: (providerCallId: string) => PlacedCall | undefined
  readonly take: (callId: string, event: TrunkEvent) => void
}

interface Current {
  readonly client: WebSocket
  readonly protocol: MediaProtocol
  readonly stream: MediaStream
}

/** The headers that an adapter receives. */
export const headersOf = (request: IncomingMessage, { callbackHeaders = [] }: Adapter): Callback["headers"] =>
  Object.fromEntries(["content-type", ...callbackHeaders].map((name) => [name, request.headers[name]?.toString()]))

export class MediaDoor {
  /** Every request for a socket, and how it was answered. */
  readonly upgrades: Array<{ readonly callback: Callback; readonly status: 101 | 403 | 404 }> = []
  host = ""
  /** Nothing is heard of the calls whose audio comes. */
  isDeaf = false
  readonly #served: Served
  readonly #pathOf: (callId: string) => string
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: LONGEST_MESSAGE })
  readonly #current = new Map<string, Current>()

  constructor(served: Served, pathOf: (callId: string) => string) {
    this.#served = served
    this.#pathOf = pathOf
  }

  address(callId: string): string {
    return `ws://${this.host}${this.#pathOf(callId)}`
  }

  streamOf(callId: string): MediaStream | undefined {
    return this.#current.get(callId)?.stream
  }

  /** The results of the carrier's requests for a socket. */
  story(callId: string): string {
    const statuses = this.upgrades.filter(({ callback }) => callback.call?.callId === callId).map(({ status }) => status)
    return statuses.length === 0 ? "no request for a socket" : `requests for a socket that were answered with ${statuses.join(", ")}`
  }

  close(): void {
    for (const client of this.#sockets.clients) client.terminate()
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy())
    const { adapter, callOf, config } = this.#served
    const path = request.url ?? "/"
    const [, callId = ""] = path.split("/")
    const call = path === this.#pathOf(callId) ? callOf(callId) : undefined
    const callback: Callback = {
      at: nowMillis(),
      body: new Uint8Array(0),
      call: call?.ref(),
      headers: headersOf(request, adapter),
      isWanted: call?.isWanted ?? false,
      kind: "media",
      method: "GET",
      url: `ws://${this.host}${path}`
    }
    const status = call === undefined ? 404 : adapter.media?.admit?.(config, callback) === false ? 403 : 101
    this.upgrades.push({ callback, status })
    if (call === undefined || status !== 101) socket.end(`HTTP/1.1 ${status} \r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    else this.#sockets.handleUpgrade(request, socket, head, (client) => this.#accept(call, client))
  }

  #accept(call: PlacedCall, client: WebSocket): void {
    const { adapter, take } = this.#served
    const protocol = adapter.media?.accept(call.ref(), socketOf(client), (event) => this.isDeaf || take(call.callId, event))
    if (protocol === undefined) return client.terminate()
    client.on("error", () => client.terminate())
    client.on("message", (data, isBinary) => {
      try {
        // With the socket's default binaryType, one message is one Buffer.
        const stream = protocol.message(data as Buffer, !isBinary)
        if (stream !== undefined) this.#started(call.callId, { client, protocol, stream })
      } catch {
        protocol.closed("failed", "unreadable")
        client.close(UNREADABLE)
      }
    })
    client.on("close", (code) => protocol.closed(code === NORMAL ? "ended" : "unknown", `closed (${code})`))
  }

  #started(callId: string, current: Current): void {
    const before = this.#current.get(callId)
    before?.protocol.closed("replaced", "a newer stream")
    before?.client.close(NORMAL)
    this.#current.set(callId, current)
  }
}

/** Our end of a socket, as the gateway has it. */
const socketOf = (client: WebSocket): MediaSocket => {
  const send = (message: string | Uint8Array, binary: boolean): boolean => {
    if (client.readyState !== WebSocket.OPEN) return false
    // Copied, as the engine's socket does.
    client.send(typeof message === "string" ? message : Buffer.from(message), { binary })
    return true
  }
  return {
    bufferedBytes: () => client.bufferedAmount,
    close: (code) => client.close(code),
    sendBytes: (message) => send(message, true),
    sendText: (message) => send(message, false)
  }
}
