/**
 * A websocket to a speech service, for one session. It connects to the address that the egress policy checked, and ends with the call's scope. Errors
 * quote nothing that was sent: neither the key nor what was said.
 */
import type { IncomingMessage } from "node:http"
import { Effect, type Scope } from "effect"
import WebSocket, { type RawData } from "ws"
import { type Egress, portOf, refusedCode, refusesUrl } from "#core/egress/Egress.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { answerPings } from "#adapters/shared/answerPings.ts"
import { parse } from "#adapters/shared/Json.ts"
import { broken, refusedReply, timedOut, unreachable } from "./modelErrors.ts"

const HANDSHAKE_MILLIS = 8000
const MOST_MESSAGE_BYTES = 1_000_000
/** Of the body that explains a refusal. */
const MOST_REFUSAL_BYTES = 10_000
/** Ten seconds of audio: a service that reads no faster would answer too late for a conversation. */
const MOST_WAITING_BYTES = 160_000
/** How long a service may take to close the connection, before it is cut. */
const PARTING_MILLIS = 2000
const NORMAL_CLOSURE = 1000

export interface SocketSettings {
  /** Its protocol is `ws:` or `wss:`. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly egress: Egress
  /** The key, which no error may quote. */
  readonly secret: string
  /** Said before the connection is closed, if anything. */
  readonly farewell?: string
  /** What it means if the service closes the connection. Undefined: it broke off. */
  readonly meaning?: (code: number, reason: string) => ModelError | undefined
  /** The error that a message reports, after which nothing is to be expected of the service. Undefined: it reports none. */
  readonly errorIn?: (message: unknown) => ModelError | undefined
}

interface SocketEar {
  /** A text message, parsed; undefined if it is not JSON. */
  readonly text: (message: unknown) => void
  /** Nothing follows. */
  readonly failed: (error: ModelError) => void
}

export interface ServiceSocket {
  /** What is sent after the connection has ended is lost. */
  readonly send: (data: string | Uint8Array) => void
  /** Nothing more is to be expected of the service. */
  readonly fail: (error: ModelError) => void
}

/** After the scope is closed, `ear` hears nothing any more. */
export const openSocket = (settings: SocketSettings, ear: SocketEar): Effect.Effect<ServiceSocket, ModelError, Scope.Scope> =>
  Effect.suspend(() => {
    const { egress, url } = settings
    if (refusesUrl(egress, url)) return Effect.fail(unreachable(Object.assign(new Error(), { code: refusedCode })))
    return Effect.map(
      Effect.acquireRelease(connected(settings, ear), (connection) => Effect.sync(() => connection.part())),
      (connection) => ({ send: (data) => connection.send(data), fail: (error) => connection.fail(error) })
    )
  })

/** Connects where it listens for the outcome: the fiber may pause in between, and the connection may be there before it goes on. */
const connected = (settings: SocketSettings, ear: SocketEar) =>
  Effect.callback<Connection, ModelError>((resume) => {
    const connection = new Connection(settings, ear, (error) =>
      resume(error === undefined ? Effect.succeed(connection) : Effect.fail(error))
    )
    return Effect.sync(() => connection.part())
  })

class Connection {
  readonly #settings: SocketSettings
  readonly #ear: SocketEar
  readonly #socket: WebSocket
  #isOver = false
  #opened: ((error: ModelError | undefined) => void) | undefined

  /** `opened` is called once. */
  constructor(settings: SocketSettings, ear: SocketEar, opened: (error: ModelError | undefined) => void) {
    this.#settings = settings
    this.#ear = ear
    this.#opened = opened
    const { egress, headers, secret, url } = settings
    this.#socket = new WebSocket(url, {
      headers,
      lookup: egress.lookup(portOf(url)),
      perMessageDeflate: false,
      maxPayload: MOST_MESSAGE_BYTES,
      handshakeTimeout: HANDSHAKE_MILLIS,
      autoPong: false,
      finishRequest: (request) => {
        request.on("socket", (socket) => egress.pace?.(socket, "audio"))
        request.end()
      }
    })
    answerPings(this.#socket)
    this.#socket.on("open", () => this.#settle(undefined))
    this.#socket.on("message", (data, isBinary) => this.#hear(data, isBinary))
    this.#socket.on("unexpected-response", (_, response) => void explained(response, secret).then((error) => this.fail(error)))
    this.#socket.on("error", (error) => this.fail(whyNot(error)))
    this.#socket.on("close", (code, reason) => this.fail(this.#meaningOf(code, reason.toString())))
  }

  send(data: string | Uint8Array): void {
    if (this.#isOver) return
    if (this.#socket.bufferedAmount > MOST_WAITING_BYTES) return this.fail(timedOut("the service does not take the audio"))
    this.#socket.send(data)
  }

  part(): void {
    if (this.#isOver) return
    const isOpen = this.#socket.readyState === WebSocket.OPEN
    const { farewell } = this.#settings
    if (isOpen && farewell !== undefined) this.#socket.send(farewell)
    this.#isOver = true
    if (!isOpen) return this.#socket.terminate()
    this.#socket.close(NORMAL_CLOSURE)
    setTimeout(() => this.#socket.terminate(), PARTING_MILLIS).unref()
  }

  #settle(error: ModelError | undefined): boolean {
    const opened = this.#opened
    this.#opened = undefined
    opened?.(error)
    return opened !== undefined
  }

  #hear(data: RawData, isBinary: boolean): void {
    if (this.#isOver || isBinary) return
    // The cast holds because text messages arrive as one buffer, unless `binaryType` says otherwise.
    const message = parse((data as Buffer).toString())
    const error = this.#settings.errorIn?.(message)
    if (error === undefined) this.#ear.text(message)
    else this.fail(error)
  }

  fail(error: ModelError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#socket.terminate()
    if (!this.#settle(error)) this.#ear.failed(error)
  }

  #meaningOf(code: number, reason: string): ModelError {
    return this.#settings.meaning?.(code, reason) ?? broken(`the connection was closed with ${code}`)
  }
}

/** A handshake that takes too long fails with an error without a code. */
const whyNot = (error: NodeJS.ErrnoException): ModelError =>
  error.code === undefined ? timedOut("the connection was not ready") : unreachable(error)

const explained = async (response: IncomingMessage, secret: string): Promise<ModelError> => {
  let text = ""
  const answer = { status: response.statusCode ?? 0, ...retryIn(response.headers["retry-after"]) }
  try {
    for await (const chunk of response) {
      text += String(chunk)
      if (text.length > MOST_REFUSAL_BYTES) break
    }
  } catch {
    // The status says enough.
  }
  return refusedReply(answer, parse(text), secret)
}

const retryIn = (seconds: string | undefined) =>
  seconds !== undefined && /^\d{1,5}$/.test(seconds) ? { retryAfterMillis: Number(seconds) * 1000 } : {}
