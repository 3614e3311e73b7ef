/**
 * A reverse proxy that misbehaves as ingresses and load balancers do: it answers 503 to requests that it has forwarded, forwards requests that
 * it has given up on, and withholds replies. WebSockets pass. A `TcpProxy` in front of it provides the faults of connections.
 */
import { createServer, type IncomingMessage, request as sendRequest, type Server, type ServerResponse } from "node:http"
import { connect } from "node:net"
import type { Duplex } from "node:stream"
import { localPort } from "./localPort.ts"
import { resetSocket } from "./resetSocket.ts"
import { TcpProxy } from "./TcpProxy.ts"

export interface ProxyAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Fate {
  readonly name: string
  /**
   * Milliseconds until it is forwarded, or a promise that forwarding waits for. If absent, it is forwarded at once, even if the client
   * disconnects.
   */
  readonly forward?: number | Promise<unknown> | "never"
  /** What the client gets. If absent, the server's reply. */
  readonly reply?: "theirs" | "reset" | "silence" | ProxyAnswer
  /** Milliseconds after the request arrived. If absent, as soon as the server has replied, or at once if it is not forwarded. */
  readonly replyAfter?: number
}

const ingress = (status: number, headers: Readonly<Record<string, string>> = {}): ProxyAnswer => ({
  status,
  headers: { server: "nginx", "content-type": "text/html", ...headers },
  body: `<html><head><title>${status}</title></head><body><center><h1>${status}</h1></center><hr><center>nginx</center></body></html>\n`
})

const laterOf = (later: number | Promise<unknown>) => (typeof later === "number" ? `${later} ms later` : "later")

export const fates = {
  pass: { name: "pass" },
  /** A 5xx of the ingress, after the server has carried out the request. */
  errorAfterForwarding: (status = 503) => ({ name: `${status} after forwarding`, reply: ingress(status) }),
  /** The ingress times out; what it forwarded is carried out after some milliseconds, or once `later` settles. */
  errorThenForwarded: (status: number, later: number | Promise<unknown>) => ({
    name: `${status}, forwarded ${laterOf(later)}`,
    forward: later,
    reply: ingress(status),
    replyAfter: 0
  }),
  error: (status: number, headers: Readonly<Record<string, string>> = {}) => ({
    name: `${status}, never forwarded`,
    forward: "never",
    reply: ingress(status, headers)
  }),
  resetAfterForwarding: { name: "reset after forwarding", reply: "reset" },
  resetThenForwarded: (later: number | Promise<unknown>) => ({
    name: `reset, forwarded ${laterOf(later)}`,
    forward: later,
    reply: "reset",
    replyAfter: 0
  }),
  reset: { name: "reset, never forwarded", forward: "never", reply: "reset" },
  loseReply: { name: "reply lost", reply: "silence" },
  swallow: { name: "swallowed", forward: "never", reply: "silence" },
  hold: (millis: number) => ({ name: `held for ${millis} ms`, forward: millis }),
  holdUntil: (released: Promise<unknown>) => ({ name: "held until it is released", forward: released })
} satisfies Record<string, Fate | ((...given: ReadonlyArray<never>) => Fate)>

/** One request, as the proxy saw it. Times are `performance.timeOrigin + performance.now()`. */
interface Exchange {
  readonly at: number
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly fate: string
  forwardedAt?: number
  /** The server's status, and when it arrived. */
  status?: number
  answeredAt?: number
  /** The status that the client got, or what it got instead. */
  given?: number | "reset"
  givenAt?: number
}

const requestLine = /^(?:GET|POST|PUT|DELETE) \S+ HTTP\/1\.1(?=\r\n)/gm
const now = () => performance.timeOrigin + performance.now()
const wait = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))
type Reply = { readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: Buffer }

const bodyOf = async (message: IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of message) parts.push(part)
  return Buffer.concat(parts)
}

export class HttpProxy {
  /** `server`: the URL of the server behind it, `http://host:port`. */
  static async start(server: string): Promise<HttpProxy> {
    const proxy = new HttpProxy(new URL(server))
    const target = { host: "127.0.0.1", port: await localPort(proxy.#http) }
    proxy.#tcp = await TcpProxy.start(target, () => ({ fromClient: (chunk) => proxy.#see(chunk) }))
    return proxy
  }

  fateOf: (request: { readonly method: string; readonly path: string }) => Fate = () => fates.pass
  readonly exchanges: Array<Exchange> = []
  /** The WebSockets, with when they were opened and closed. */
  readonly sockets: Array<{ readonly path: string; readonly from: number; until?: number }> = []
  /** The first line of each request that a client has written, even if it got no further: `POST /ari/channels?... HTTP/1.1`. */
  readonly written: Array<{ readonly at: number; readonly line: string }> = []
  readonly #http: Server
  readonly #server: URL
  #tcp: TcpProxy | undefined
  readonly #upgraded = new Set<Duplex>()

  private constructor(server: URL) {
    this.#server = server
    this.#http = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      // The client may disconnect in the middle of its request.
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head))
  }

  /** The TCP proxy in front of it, for faults of connections. */
  get tcp(): TcpProxy {
    if (this.#tcp === undefined) throw new Error("the proxy has not been started")
    return this.#tcp
  }
  /** The URL to give to the client in place of the server's. */
  get url(): string {
    return `http://127.0.0.1:${this.tcp.port}`
  }

  /** Applies a fate to the next `count` requests that match; the others pass. */
  befall(fate: Fate, matches: (request: { readonly method: string; readonly path: string }) => boolean, count = Infinity): void {
    let left = count
    this.fateOf = (request) => (matches(request) && left-- > 0 ? fate : fates.pass)
  }

  async stop(): Promise<void> {
    await this.tcp.stop()
    for (const socket of this.#upgraded) socket.destroy()
    const closed = new Promise((resolve) => this.#http.close(resolve))
    this.#http.closeAllConnections()
    await closed
  }

  #see(chunk: Buffer): number {
    // A client writes the head of a request at once, and our requests have hardly any body.
    for (const [line] of chunk.toString("latin1").matchAll(requestLine)) this.written.push({ at: now(), line })
    return 0
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/" } = request
    const fate = this.fateOf({ method, path })
    const exchange: Exchange = { at: now(), method, path, fate: fate.name }
    this.exchanges.push(exchange)
    const body = await bodyOf(request)
    const theirs = fate.forward === "never" ? undefined : this.#forward(request, body, fate.forward ?? 0, exchange)
    // Marks the rejection as handled, even if nobody waits for it.
    theirs?.catch(() => {})
    if (fate.replyAfter !== undefined) await wait(fate.replyAfter - (now() - exchange.at))
    const isTheirs = fate.reply === undefined || fate.reply === "theirs"
    const reply = isTheirs || fate.replyAfter === undefined ? await theirs?.catch(() => undefined) : undefined
    this.#give(response, exchange, isTheirs ? (reply ?? "reset") : (fate.reply ?? "reset"))
  }

  #give(response: ServerResponse, exchange: Exchange, reply: Reply | Exclude<Fate["reply"], "theirs" | undefined>): void {
    if (reply === "silence") return
    exchange.givenAt = now()
    if (reply === "reset") {
      exchange.given = "reset"
      return void (response.socket && resetSocket(response.socket))
    }
    exchange.given = reply.status
    response.writeHead(reply.status, reply.headers).end(reply.body)
  }

  /** Uses a new connection for each request: an idle one that the server is just closing would be an unintended fault. */
  async #forward(request: IncomingMessage, body: Buffer, after: number | Promise<unknown>, exchange: Exchange): Promise<Reply> {
    await (typeof after === "number" ? wait(after) : after)
    exchange.forwardedAt = now()
    const { hostname, port } = this.#server
    const headers = { ...request.headers, connection: "close" }
    return await new Promise<Reply>((resolve, reject) => {
      const outgoing = sendRequest({ agent: false, hostname, port, method: request.method, path: request.url, headers })
      outgoing.on("error", reject)
      outgoing.on("response", (answer) => {
        const { connection: _, ...kept } = answer.headers
        exchange.status = answer.statusCode ?? 0
        exchange.answeredAt = now()
        bodyOf(answer).then((content) => resolve({ status: answer.statusCode ?? 0, headers: kept, body: content }), reject)
      })
      outgoing.end(body)
    })
  }

  #upgrade(request: IncomingMessage, client: Duplex, head: Buffer): void {
    const server = connect({ host: this.#server.hostname, port: Number(this.#server.port) })
    const lines = request.rawHeaders.flatMap((name, index, all) => (index % 2 === 0 ? [`${name}: ${all[index + 1] ?? ""}`] : []))
    server.write([`${request.method} ${request.url} HTTP/1.1`, ...lines, "", ""].join("\r\n"))
    server.write(head)
    for (const socket of [client, server]) this.#upgraded.add(socket)
    const open: HttpProxy["sockets"][number] = { from: now(), path: request.url ?? "/" }
    this.sockets.push(open)
    client.pipe(server)
    server.pipe(client)
    client.on("error", () => resetSocket(server))
    server.on("error", () => client.destroy())
    client.on("close", () => {
      open.until = now()
      this.#upgraded.delete(client)
      server.destroy()
    })
    server.on("close", () => {
      this.#upgraded.delete(server)
      client.destroy()
    })
  }
}
