/**
 * An Asterisk that says what a test tells it to, and records all requests with their queries and bodies. The emulator behaves like
 * Asterisk; this one lets a test choose each reply and each event.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { type WebSocket, WebSocketServer } from "ws"

export interface Answer {
  readonly status: number
  readonly body: unknown
}
/** Answers by method and path, or by method alone. Anything else is answered with 404. */
type Answers = Readonly<Record<string, Answer | ((asked: Asked) => Answer | Promise<Answer>)>>

interface Asked {
  readonly method: string
  /** The path without `/ari`. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Undefined if there was none. */
  readonly body: unknown
}

const idle: Answers = {
  "GET /asterisk/info": { status: 200, body: { status: { startup_time: "2026-01-01T10:00:00.000+0000" }, system: { version: "22.10.1" } } },
  "GET /bridges": { status: 200, body: [] },
  "GET /channels": { status: 200, body: [] }
}

export class ScriptedAsterisk {
  readonly user = "trunkline"
  readonly password = "p4ssword"
  readonly asked: Array<Asked> = []
  /** How many event WebSockets were opened so far. */
  connected = 0
  readonly #server: Server
  readonly #webSockets = new WebSocketServer({ noServer: true })
  readonly #events = new Set<WebSocket>()
  readonly #media = new Set<WebSocket>()
  #answers: Answers

  static async start(answers: Answers = {}, hasEvents = true): Promise<ScriptedAsterisk> {
    const asterisk = new ScriptedAsterisk(answers, hasEvents)
    await new Promise<void>((resolve) => asterisk.#server.listen(0, "127.0.0.1", resolve))
    return asterisk
  }

  private constructor(answers: Answers, hasEvents: boolean) {
    this.#answers = { ...idle, ...answers }
    this.#server = createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://asterisk")
      const sent = await text(request)
      const asked: Asked = {
        method: request.method ?? "GET",
        path: pathname.replace(/^\/ari/, ""),
        query: Object.fromEntries(searchParams),
        body: sent === "" ? undefined : JSON.parse(sent)
      }
      this.asked.push(asked)
      const { body, status } = await this.#answerTo(asked)
      response.writeHead(status, { "content-type": "application/json", server: "Asterisk/22.10.1" }).end(JSON.stringify(body))
    })
    this.#server.on("upgrade", (request, socket, head) => {
      if (!hasEvents) return void socket.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
      this.#webSockets.handleUpgrade(request, socket, head, (opened) => {
        const isMedia = request.url?.startsWith("/media/") ?? false
        const opens = isMedia ? this.#media : this.#events
        opens.add(opened)
        opened.on("close", () => opens.delete(opened))
        if (!isMedia) this.connected += 1
      })
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}` // listening on TCP, so neither a path nor null
  }

  #answerTo(asked: Asked): Answer | Promise<Answer> {
    const answer = this.#answers[`${asked.method} ${asked.path}`] ??
      this.#answers[asked.method] ?? { status: 404, body: { message: "Resource not found" } }
    return typeof answer === "function" ? answer(asked) : answer
  }

  /** Answers differently from now on. */
  answer(answers: Answers): void {
    this.#answers = { ...this.#answers, ...answers }
  }

  /** The requests with this method and path. */
  requests(method: string, path: string): ReadonlyArray<Asked> {
    return this.asked.filter((asked) => asked.method === method && asked.path === path)
  }

  /** Sends an event, or any other text, to all event WebSockets. */
  tell(event: object | string): void {
    for (const socket of this.#events) socket.send(typeof event === "string" ? event : JSON.stringify(event))
  }

  /** Sends a frame on the media WebSockets. */
  say(frame: Uint8Array): void {
    for (const socket of this.#media) socket.send(frame)
  }

  closeMedia(): void {
    for (const socket of this.#media) socket.close()
  }

  stop(): void {
    for (const socket of [...this.#events, ...this.#media]) socket.terminate()
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
