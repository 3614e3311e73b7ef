/**
 * A recognizer's service by websocket on the loopback interface. It transcribes `speech`, and has the faults that users of such services report. The
 * subclasses are the protocols.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { MarkedSpeech } from "#test/emulators/shared/MarkedSpeech.ts"
import { localPort } from "#test/support/localPort.ts"

/** One connection. */
interface Listening {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The text messages, in order. */
  readonly said: Array<string>
  /** Of audio. */
  frames: number
  closedWith: number | undefined
}

interface Refusal {
  readonly status: number
  readonly body: object
}

/** What the service does with one connection. */
export interface Hearer {
  /** Returns the number of frames. */
  readonly audio?: (data: Buffer) => number
  /** Returns the number of frames in it, if there can be any. */
  readonly text: (text: string) => number | undefined
}

export abstract class RecognizerEmulator {
  abstract readonly key: string
  readonly speech = new MarkedSpeech()
  readonly connections: Array<Listening> = []
  /** Whether it answers when it is asked for the text. */
  answersFinalize = true
  /** Final results come in two parts. */
  splits = false
  /** No messages any more. */
  isMute = false
  /** The refusal of the next connections. */
  refusal: Refusal | undefined
  readonly #http = createServer((_, response) => response.writeHead(404).end())
  readonly #sockets = new WebSocketServer({ noServer: true })
  readonly #open = new Set<WebSocket>()
  #port = 0

  async listen(): Promise<this> {
    this.#http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head))
    this.#port = await localPort(this.#http)
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Sends this on all connections. */
  report(message: object): void {
    for (const socket of this.#open) socket.send(JSON.stringify(message))
  }

  /** Closes all connections as the service does, with a code and a reason. */
  closeAll(code: number, reason: string): void {
    for (const socket of this.#open) socket.close(code, reason)
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.terminate()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  protected abstract refusalOf(url: URL, headers: IncomingHttpHeaders): Refusal | undefined

  /** `tell` sends a message; `close` closes the connection. */
  protected abstract hearerOf(listening: Listening, tell: (message: object) => void, close: (code: number) => void): Hearer

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "", this.url)
    const refusal = this.refusal ?? this.refusalOf(url, request.headers)
    if (refusal !== undefined) {
      const body = JSON.stringify(refusal.body)
      socket.end(`HTTP/1.1 ${refusal.status} No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`)
      return
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#hear(opened, url, request.headers))
  }

  #hear(socket: WebSocket, { pathname: path, searchParams: query }: URL, headers: IncomingHttpHeaders): void {
    const listening: Listening = { path, query, headers, said: [], frames: 0, closedWith: undefined }
    this.connections.push(listening)
    this.#open.add(socket)
    const tell = (message: object) => {
      if (!this.isMute) socket.send(JSON.stringify(message))
    }
    const hearer = this.hearerOf(listening, tell, (code) => socket.close(code))
    socket.on("close", (code) => {
      this.#open.delete(socket)
      listening.closedWith = code
    })
    socket.on("message", (data: Buffer, isBinary) => {
      if (!isBinary) listening.said.push(data.toString())
      listening.frames += (isBinary ? hearer.audio?.(data) : hearer.text(data.toString())) ?? 0
    })
  }
}
