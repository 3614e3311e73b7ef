/**
 * Where a carrier reaches the engine: a server on this machine, at addresses that nobody can guess. It answers like the gateway: 403 to a forged
 * request, 400 to an unreadable one, and 200 to a repeat, which is not reported again.
 */
import { randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Result } from "effect"
import { hmac } from "#adapters/shared/hmac.ts"
import type { CallId } from "#core/Id.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { Inbox } from "./Inbox.ts"
import { headersOf, MediaDoor, type Served } from "./MediaDoor.ts"
import { nowMillis } from "./now.ts"
import type { PlacedCall } from "./PlacedCall.ts"

interface Delivery {
  readonly callback: Callback
  readonly status: 200 | 400 | 403
  readonly read: CallbackRead | undefined
}

const NO_CALL = "-"

export class CarrierDoor {
  /** Every request for one of our addresses, in order. */
  readonly deliveries: Array<Delivery> = []
  readonly media: MediaDoor
  /** Requests of which nothing is heard, as if they had never arrived: requests for a document still get it. */
  deafTo: ReadonlyArray<"document" | "event"> = []
  readonly #served: Served
  readonly #inbox = new Inbox()
  readonly #key = randomBytes(16).toString("hex")
  readonly #http = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy())
  })
  #host = ""

  constructor(served: Served) {
    this.#served = served
    this.media = new MediaDoor(served, (callId) => this.#path(callId, "media"))
    this.#http.on("upgrade", (request, socket, head) => this.media.upgrade(request, socket, head))
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen({ host: "127.0.0.1", port: 0 }, resolve))
    // Listening on TCP, it has neither a path nor null as its address.
    this.#host = `127.0.0.1:${(this.#http.address() as AddressInfo).port}`
    this.media.host = this.#host
  }

  address(kind: string, callId?: CallId): string {
    return `http://${this.#host}${this.#path(callId ?? NO_CALL, kind)}`
  }

  /** The genuine callbacks about this call, in the order in which they came. */
  of({ callId }: PlacedCall): ReadonlyArray<Callback> {
    return this.deliveries.flatMap(({ callback, status }) => (status === 200 && callback.url.includes(`/${callId}/`) ? [callback] : []))
  }

  async close(): Promise<void> {
    this.media.close()
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  #path(call: string, kind: string): string {
    return `/${call}/${kind}/${hmac("sha256", this.#key, `${call}/${kind}`).toString("hex").slice(0, 32)}`
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = nowMillis()
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const target = request.url ?? "/"
    const [path = "", query] = target.split("?")
    const [, call = "", kind = ""] = path.split("/")
    if (path !== this.#path(call, kind)) return void response.writeHead(404).end()
    const placed = this.#served.callOf(call)
    const callback: Callback = {
      at,
      body: Buffer.concat(chunks),
      call: placed?.ref(),
      headers: headersOf(request, this.#served.adapter),
      isWanted: placed?.isWanted ?? false,
      kind,
      mediaUrl: placed && this.media.address(placed.callId),
      method: request.method === "GET" ? "GET" : "POST",
      url: `http://${this.#host}${path}${query === undefined ? "" : `?${query}`}`
    }
    const { read, status } = this.#take(callback, call)
    this.deliveries.push({ callback, read, status })
    response.writeHead(status, { "content-type": read?.reply?.mediaType ?? "text/plain" }).end(read?.reply?.body)
  }

  #take(callback: Callback, callId: string): Pick<Delivery, "read" | "status"> {
    const { adapter, config, named, take } = this.#served
    const read = Result.try(() => adapter.read?.(config, callback))
    if (Result.isFailure(read)) return { read: undefined, status: 400 }
    if (read.success === undefined) return { read: undefined, status: 403 }
    if (this.deafTo.includes(read.success.reply === undefined ? "event" : "document")) return { read: read.success, status: 200 }
    const known = this.#inbox.store(callback, read.success)
    if (known === "altered") return { read: undefined, status: 403 }
    for (const { call, event } of known === "first" ? read.success.events : []) {
      if (call === undefined) take(callId, event)
      else take("callId" in call ? call.callId : (named(call.providerCallId)?.callId ?? ""), event)
    }
    return { read: read.success, status: 200 }
  }
}
