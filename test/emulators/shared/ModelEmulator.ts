/**
 * The service of a language model on the loopback interface. It answers as scripted, at scripted times, and logs the requests. The subclasses are
 * the protocols.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { jsonIn } from "#test/emulators/shared/json.ts"
import { localPort } from "#test/support/localPort.ts"
import { resetSocket } from "#test/support/resetSocket.ts"
import { untilTrue } from "#test/support/until.ts"

/** A reply that is sent exactly as it is. A number is a pause in milliseconds; a promise is awaited. */
export interface RawReply {
  readonly status?: number
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly pieces: ReadonlyArray<string | Uint8Array | number | Promise<unknown>>
  /** `hang`: no more bytes, and no end. */
  readonly ending?: "end" | "reset" | "hang"
}

export const json = (body: object, status = 200, headers: Readonly<Record<string, string>> = {}): RawReply => ({
  status,
  headers,
  contentType: "application/json",
  pieces: [JSON.stringify(body)]
})

interface Ask<Body> {
  /** When it had arrived, on the clock of `performance.now`. */
  readonly at: number
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Body | undefined
  /** How many connections had been opened when it arrived. */
  readonly connections: number
}

/** `Answer`: what a model answers, in the terms of the protocol. */
export abstract class ModelEmulator<Answer extends object, Body> {
  readonly requests: Array<Ask<Body>> = []
  /** How many requests the client abandoned before their reply was complete. */
  abandoned = 0
  connections = 0
  readonly #sockets = new Set<Socket>()
  readonly #replies: Array<Answer | RawReply> = []
  readonly #http: Server
  #port = 0

  constructor() {
    this.#http = createServer((request, response) => {
      // The request may break off midway.
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#http.on("connection", (socket) => {
      this.connections += 1
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
    })
    this.#http.on("upgrade", (request, socket, head) => this.upgrade(request, socket, head))
  }

  /** Must be called once. */
  async listen(): Promise<this> {
    this.#port = await localPort(this.#http)
    return this
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** The replies to the next requests, in order. */
  script(...replies: ReadonlyArray<Answer | RawReply>): void {
    this.#replies.push(...replies)
  }

  /** Resets every open connection, idle ones included. */
  resetConnections(): void {
    for (const socket of this.#sockets) resetSocket(socket)
  }

  untilAbandoned(count = 1): Promise<true> {
    return untilTrue("request that was given up", () => this.abandoned >= count)
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve))
    this.#http.closeAllConnections()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** The protocol's refusal of a request, or what `send` makes of the next scripted reply. */
  protected abstract replyTo(request: IncomingMessage, body: Body | undefined): RawReply

  /** Bodies are JSON, unless the protocol says otherwise. The emulators check what they read of them. */
  protected bodyIn(bytes: Buffer, _: IncomingMessage): Promise<Body | undefined> {
    return Promise.resolve(jsonIn(bytes.toString()) as Body | undefined) // As above.
  }

  /** A request for a websocket. */
  protected upgrade(_: IncomingMessage, socket: Duplex, __: Buffer): void {
    socket.destroy()
  }

  /** Undefined: nothing is scripted. */
  protected next(): Answer | RawReply | undefined {
    return this.#replies.shift()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]))
    const body = await this.bodyIn(Buffer.concat(chunks), request)
    this.requests.push({ at: performance.now(), path: request.url ?? "", headers, body, connections: this.connections })
    response.on("close", () => {
      if (!response.writableFinished) this.abandoned += 1
    })
    await send(response, this.replyTo(request, body))
  }
}

const send = async (response: ServerResponse, reply: RawReply): Promise<void> => {
  const { contentType = "text/event-stream; charset=utf-8", ending = "end", headers = {}, pieces, status = 200 } = reply
  response.writeHead(status, { "content-type": contentType, ...headers }).flushHeaders()
  for (const piece of pieces) {
    if (response.destroyed) return
    if (typeof piece === "number") await (piece > 0 ? sleep(piece, undefined, { ref: false }) : undefined)
    else if (piece instanceof Promise) await piece
    else await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  }
  if (ending === "reset") resetSocket(response.req.socket)
  else if (ending === "end") response.end()
}

/** The pieces of a stream, with pauses before the first and between the others. */
export const paced = (
  events: ReadonlyArray<string>,
  { firstTokenMillis = 0, gapMillis = 0 }: { readonly firstTokenMillis?: number; readonly gapMillis?: number }
): RawReply["pieces"] => [firstTokenMillis, ...events.flatMap((one, index) => (index === 0 ? [one] : [gapMillis, one]))]
