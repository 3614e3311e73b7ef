/** Serves the media sockets of a hosted line, as the gateway and the engine do: 403 if the adapter does not admit the request, and the newest stream counts. */
import type { IncomingMessage, Server } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { socketOf } from "#adapters/conformance/MediaDoor.ts"
import type { CallId } from "#core/Id.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import type { Callback } from "#core/provider/Callback.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { MediaProtocol } from "#core/provider/MediaSocket.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { until } from "#test/support/until.ts"

interface Served {
  readonly adapter: Adapter
  readonly config: Readonly<Record<string, unknown>>
  readonly refOf: (callId: string) => CallRef | undefined
  readonly take: (callId: string, event: TrunkEvent) => void
}

export class HostedMedia {
  /** Every request for a socket, and the status of its reply. */
  readonly upgrades: Array<{ readonly callback: Callback; readonly status: 101 | 403 | 404 }> = []
  /** Calls whose audio has shown that they are answered. Kept apart from what callbacks report, because the two come in any order. */
  readonly shown = new Set<string>()
  readonly #served: Served
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 })
  readonly #streams = new Map<string, Array<MediaStream>>()
  readonly #current = new Map<string, { readonly protocol: MediaProtocol; readonly client: WebSocket }>()

  constructor(http: Server, origin: () => string, served: Served) {
    this.#served = served
    http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head, origin()))
  }

  /** The streams that have started, in order, once there are this many. */
  async streams(callId: CallId, count = 1): Promise<ReadonlyArray<MediaStream>> {
    return await until(`${count} streams`, () => {
      const streams = this.#streams.get(callId) ?? []
      return streams.length >= count ? streams : undefined
    })
  }

  async stream(callId: CallId): Promise<MediaStream> {
    const [first] = await this.streams(callId)
    if (first === undefined) throw new Error("no stream")
    return first
  }

  /** The engine ends the call's socket. */
  close(callId: CallId): void {
    this.#current.get(callId)?.client.close(1000)
  }

  stop(): void {
    for (const client of this.#sockets.clients) client.terminate()
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, origin: string): void {
    socket.on("error", () => socket.destroy())
    const { adapter, config, refOf } = this.#served
    const path = request.url ?? "/"
    const [, callId = ""] = path.split("/")
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]))
    const url = `ws://${origin}${path}`
    const call = refOf(callId)
    const callback: Callback = { at: Date.now(), body: new Uint8Array(0), call, headers, isWanted: true, kind: "media", method: "GET", url }
    const status = call === undefined ? 404 : adapter.media?.admit?.(config, callback) === false ? 403 : 101
    this.upgrades.push({ callback, status })
    if (call === undefined || status !== 101)
      return void socket.end(`HTTP/1.1 ${status} \r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#serve(call, client))
  }

  #serve(call: CallRef, client: WebSocket): void {
    const { adapter, take } = this.#served
    const protocol = adapter.media?.accept(call, socketOf(client), (event) =>
      event._tag === "Answered" ? void this.shown.add(call.callId) : take(call.callId, event)
    )
    if (protocol === undefined) return client.terminate()
    client.on("error", () => client.terminate())
    client.on("message", (data, isBinary) => {
      try {
        // With the socket's default binaryType, one message is one Buffer.
        const stream = protocol.message(data as Buffer, !isBinary)
        if (stream !== undefined) this.#started(call.callId, { protocol, client }, stream)
      } catch {
        protocol.closed("failed", "unreadable")
        client.close(4400)
      }
    })
    client.on("close", (code) => protocol.closed(code === 1000 ? "ended" : "unknown", `closed (${code})`))
  }

  #started(callId: string, current: { readonly protocol: MediaProtocol; readonly client: WebSocket }, stream: MediaStream): void {
    const before = this.#current.get(callId)
    before?.protocol.closed("replaced", "a newer stream")
    before?.client.close(1000)
    this.#current.set(callId, current)
    this.#streams.set(callId, [...(this.#streams.get(callId) ?? []), stream])
  }
}
