/** The speech that a service sends in reply to one request, piece by piece as it is made. Interrupting the stream ends the work at the service. */
import type { ClientRequest, IncomingMessage } from "node:http"
import { Cause, Effect, Queue, Stream } from "effect"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { SpeechPart } from "#core/model/TextToSpeech.ts"
import { retryAfterOf } from "#adapters/shared/HttpClient.ts"
import { parse } from "#adapters/shared/Json.ts"
import { broken, midStream, misconfigured, refusedReply, timedOut, tooLarge, unreachable } from "./modelErrors.ts"
import type { ServiceConnection } from "./ServiceConnection.ts"
import { eventReader, type SpokenEvents } from "./SpokenEvents.ts"

export interface SpeechPatience {
  readonly firstMillis: number
  readonly betweenMillis: number
}

export const usualPatience: SpeechPatience = { firstMillis: 8000, betweenMillis: 4000 }

export interface SpeechRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
  /** Called for each reply. Undefined: the reply is the speech itself. */
  readonly events?: () => SpokenEvents
}

/** Five minutes of the widest format. */
const MOST_BYTES = 30_000_000
const MOST_ERROR_BYTES = 64 * 1024

export const spokenReply = (
  connection: ServiceConnection,
  patience: SpeechPatience,
  request: SpeechRequest
): Stream.Stream<SpeechPart, ModelError> =>
  Stream.callback((queue) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const done = (error?: ModelError) =>
          void (error === undefined ? Queue.endUnsafe(queue) : Queue.failCauseUnsafe(queue, Cause.fail(error)))
        const reply = new Reply(patience, { done, part: (part) => void Queue.offerUnsafe(queue, part) })
        reply.ask(connection, request)
        return reply
      }),
      (reply) => Effect.sync(() => reply.stop())
    )
  )

interface Listener {
  readonly part: (part: SpeechPart) => void
  /** Called once. */
  readonly done: (error?: ModelError) => void
}

class Reply {
  readonly #patience: SpeechPatience
  readonly #listener: Listener
  #silence: NodeJS.Timeout | undefined
  #outgoing: ClientRequest | undefined
  #isOver = false
  #bytes = 0
  /** What must not be in an error. */
  #sent = ""

  constructor(patience: SpeechPatience, listener: Listener) {
    this.#patience = patience
    this.#listener = listener
  }

  ask(connection: ServiceConnection, { body, events, headers, path }: SpeechRequest): void {
    const text = JSON.stringify(body)
    this.#sent = text + Object.values(headers).join(" ")
    const length = String(Buffer.byteLength(text))
    const outgoing = connection.post(path, { "content-type": "application/json", "content-length": length, ...headers })
    this.#outgoing = outgoing
    if (outgoing === undefined) return this.#end(misconfigured("the engine may not connect to this address"))
    this.#wait(this.#patience.firstMillis, "the speech did not begin")
    outgoing.on("error", (error) => this.#end(unreachable(error)))
    outgoing.on("response", (response) => this.#read(response, events?.()))
    outgoing.end(text)
  }

  /** A connection whose reply is complete is used again. */
  stop(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#silence)
    this.#outgoing?.destroy()
  }

  #read(response: IncomingMessage, events: SpokenEvents | undefined): void {
    const isText = /\bjson\b|^text\//.test(response.headers["content-type"] ?? "")
    if (response.statusCode !== 200 || (isText && events === undefined)) return this.#readRefusal(response)
    const part = (one: SpeechPart) => (this.#isOver ? undefined : this.#listener.part(one))
    const done = (error?: ModelError) => this.#end(error)
    const reader = events === undefined ? { push: part, end: done } : eventReader(events, this.#sent, { part, done })
    response.on("data", (chunk: Buffer) => {
      if (this.#isOver) return
      this.#bytes += chunk.length
      if (this.#bytes > MOST_BYTES) return this.#end(tooLarge("bytes"))
      this.#wait(this.#patience.betweenMillis, "the speech did not continue")
      reader.push(chunk)
    })
    response.on("end", () => reader.end())
    response.on("error", () => this.#end(broken("the speech ended early")))
  }

  #readRefusal(response: IncomingMessage): void {
    const { headers, statusCode: status = 0 } = response
    let text = ""
    const over = () => {
      const body = parse(text)
      this.#end(
        status === 200 ? midStream(body, this.#sent) : refusedReply({ status, retryAfterMillis: retryAfterOf(headers) }, body, this.#sent)
      )
    }
    response.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (text.length > MOST_ERROR_BYTES) over()
    })
    response.on("end", over)
    response.on("error", over)
  }

  #wait(millis: number, what: string): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => this.#end(timedOut(what)), millis)
  }

  #end(error?: ModelError): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#silence)
    if (error !== undefined) this.#outgoing?.destroy()
    this.#listener.done(error)
  }
}
