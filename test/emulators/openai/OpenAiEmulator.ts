/** A server of the chat-completions protocol on the loopback interface. It answers as scripted, at scripted times, and logs the requests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { jsonIn } from "#test/emulators/shared/json.ts"
import { localPort } from "#test/support/localPort.ts"
import { resetSocket } from "#test/support/resetSocket.ts"
import { untilTrue } from "#test/support/until.ts"
import { type Completion, done, errorBody, streamed, whole } from "./completions.ts"
import { type ChatBody, whyRefused } from "./refusals.ts"
import type { ModelServer } from "./servers.ts"

/** A reply that is sent exactly as it is. A number is a pause in milliseconds; a promise is awaited. */
export interface RawReply {
  readonly status?: number
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly pieces: ReadonlyArray<string | Uint8Array | number | Promise<unknown>>
  /** `hang`: no more bytes, and no end. */
  readonly ending?: "end" | "reset" | "hang"
}

interface ChatAsk {
  /** When it had arrived, on the clock of `performance.now`. */
  readonly at: number
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: ChatBody | undefined
  /** How many connections had been opened when it arrived. */
  readonly connections: number
}

interface Options {
  /** The key that requests need; undefined: none. */
  readonly apiKey?: string
  /** Answers requests for which nothing is scripted. */
  readonly answer?: (body: ChatBody) => Completion
  /** How this server differs from the vendor's. */
  readonly server?: ModelServer
}

export class OpenAiEmulator {
  readonly requests: Array<ChatAsk> = []
  /** How many requests the client abandoned before their reply was complete. */
  abandoned = 0
  connections = 0
  readonly #sockets = new Set<Socket>()
  readonly #replies: Array<Completion | RawReply> = []
  readonly #http: Server
  readonly #options: Options
  #port = 0

  private constructor(options: Options) {
    this.#options = options
    this.#http = createServer((request, response) => {
      // The request may break off midway.
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#http.on("connection", (socket) => {
      this.connections += 1
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
    })
  }

  static async start(options: Options = {}): Promise<OpenAiEmulator> {
    const emulator = new OpenAiEmulator(options)
    emulator.#port = await localPort(emulator.#http)
    return emulator
  }

  /** What `/chat/completions` is appended to. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1`
  }

  /** The replies to the next requests, in order. */
  script(...replies: ReadonlyArray<Completion | RawReply>): void {
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
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]))
    const body = bodyIn(Buffer.concat(chunks).toString())
    this.requests.push({ at: performance.now(), path: request.url ?? "", headers, body, connections: this.connections })
    response.on("close", () => {
      if (!response.writableFinished) this.abandoned += 1
    })
    await send(response, this.#replyTo(request, body))
  }

  #replyTo({ headers, method, url }: IncomingMessage, body: ChatBody | undefined): RawReply {
    const { answer, apiKey, server = {} } = this.#options
    if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`)
      return failure(401, errorBody(`Incorrect API key provided: ${headers.authorization}`, "invalid_request_error", "invalid_api_key"))
    if (method !== "POST" || url !== "/v1/chat/completions") return failure(404, errorBody("Invalid URL", "invalid_request_error"))
    const wrong = whyRefused(body)
    if (wrong !== undefined) return failure(400, errorBody(wrong, "invalid_request_error", null, "messages"))
    const refusal = body === undefined ? undefined : server.refuses?.(body)
    if (refusal !== undefined)
      return failure(server.status ?? 400, server.errorOf?.(refusal) ?? errorBody(refusal, "invalid_request_error"))
    const reply = this.#replies.shift() ?? (body === undefined ? undefined : answer?.(body))
    if (reply === undefined) return failure(500, errorBody("nothing is scripted", "server_error"))
    if ("pieces" in reply) return reply
    const sent = replyOf(server.writes?.(reply) ?? reply, body)
    return server.sends?.(sent) ?? sent
  }
}

// The emulator checks what it reads of it.
const bodyIn = (text: string) => jsonIn(text) as ChatBody | undefined

const failure = (status: number, body: object): RawReply => json(body, status)

export const json = (body: object, status = 200): RawReply => ({ status, contentType: "application/json", pieces: [JSON.stringify(body)] })

const replyOf = (completion: Completion, body: ChatBody | undefined): RawReply => {
  const { firstTokenMillis = 0, gapMillis = 0 } = completion
  if (body?.stream !== true) return { ...json(whole(completion)), pieces: [firstTokenMillis, JSON.stringify(whole(completion))] }
  const events = streamed(completion, body.stream_options?.include_usage === true)
  return { pieces: [firstTokenMillis, ...events.flatMap((one, index) => (index === 0 ? [one] : [gapMillis, one])), done] }
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
