/** One request to the service of a language model, and its answer as a stream. Interrupting the stream closes the connection, which ends the work at the server. */
import type { ClientRequest, IncomingMessage } from "node:http"
import { Cause, Effect, Queue, Stream } from "effect"
import { makeParser } from "effect/encoding/Sse"
import type { ModelError, ModelPart } from "#core/model/LanguageModel.ts"
import { retryAfterOf } from "#adapters/shared/HttpClient.ts"
import type { Answer, AnswerStep } from "./Answer.ts"
import { broken, misconfigured, timedOut, tooLarge, unreachable } from "./modelErrors.ts"
import type { ServiceConnection } from "./ServiceConnection.ts"

/** In milliseconds. Comments, with which servers keep a connection alive, do not count as an answer. */
export interface ModelPatience {
  readonly firstToken: number
  readonly betweenTokens: number
  readonly total: number
}

/** The server's answer to a request that it does not accept. */
export interface Refusal {
  readonly status: number
  /** The server's error, as text. It may quote the conversation. */
  readonly text: string
  /** From `Retry-After`. */
  readonly retryAfterMillis?: number | undefined
}

interface Attempt {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string
  readonly answer: Answer
}

/** How a request is put to the service. */
export interface Asking {
  /** The request to send now. */
  readonly current: () => Attempt
  /** The service has refused it. Returns the error, unless there is another request to send. */
  readonly refused: (refusal: Refusal) => ModelError | undefined
  /** The service has accepted it. */
  readonly accepted?: () => void
  /** More of the answer has been read. */
  readonly progressed?: () => void
  /** The answer has come to its end. */
  readonly ended?: (last: AnswerStep) => void
}

const MOST_BYTES = 4 * 1024 * 1024
const MOST_EVENT = 512 * 1024
const MOST_ERROR_BYTES = 64 * 1024
/** How long to wait for the usage, which comes after the reason to stop, if at all. */
const USAGE_MILLIS = 250
/** How long to wait for the end of a reply that has been read; after that, the connection is not used again. */
const LEFTOVER_MILLIS = 1000

interface Ports {
  readonly connection: ServiceConnection
  readonly patience: ModelPatience
}

/** `ask` is called for each run of the stream. */
export const answerStream = (ports: Ports, ask: () => Asking): Stream.Stream<ModelPart, ModelError> =>
  Stream.callback((queue) =>
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Exchange(ports, ask(), {
            part: (part) => void Queue.offerUnsafe(queue, part),
            done: (error) => void (error === undefined ? Queue.endUnsafe(queue) : Queue.failCauseUnsafe(queue, Cause.fail(error)))
          })
      ),
      (exchange) => Effect.sync(() => exchange.stop())
    )
  )

interface Listener {
  readonly part: (part: ModelPart) => void
  /** Called once. */
  readonly done: (error?: ModelError) => void
}

class Exchange {
  readonly #ports: Ports
  readonly #listener: Listener
  readonly #asking: Asking
  readonly #total: NodeJS.Timeout
  #silence: NodeJS.Timeout
  #isOpen = true
  #outgoing: ClientRequest | undefined

  constructor(ports: Ports, asking: Asking, listener: Listener) {
    const { patience } = ports
    this.#ports = ports
    this.#listener = listener
    this.#asking = asking
    this.#total = setTimeout(() => this.#breakOff(timedOut("the answer was not complete")), patience.total)
    this.#silence = setTimeout(() => this.#breakOff(timedOut("the answer did not begin")), patience.firstToken)
    this.#send(false)
  }

  stop(): void {
    const isRead = !this.#isOpen
    this.#close()
    if (isRead) releaseOf(this.#outgoing)
    else this.#outgoing?.destroy()
  }

  #close(error?: ModelError): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#total)
    clearTimeout(this.#silence)
    if (error !== undefined) this.#outgoing?.destroy()
    this.#listener.done(error)
  }

  #take({ error, hasProgress = false, isEnd = false, isOver = false, parts }: AnswerStep): void {
    if (!this.#isOpen) return
    this.#asking.progressed?.()
    for (const part of parts) this.#listener.part(part)
    if (error !== undefined) return this.#close(error)
    if (isOver) {
      this.#outgoing?.destroy()
      this.#close()
    } else if (isEnd) this.#complete()
    else if (this.#asking.current().answer.hasFinished) this.#wait(USAGE_MILLIS, () => this.#complete())
    else if (hasProgress) this.#wait(this.#ports.patience.betweenTokens, () => this.#breakOff(timedOut("the answer did not continue")))
  }

  #complete(): void {
    if (!this.#isOpen) return
    const step = this.#asking.current().answer.end()
    this.#asking.ended?.(step)
    this.#take(step)
    this.#close()
  }

  #breakOff(error: ModelError): void {
    if (this.#isOpen) this.#take(this.#asking.current().answer.brokenOff(error))
  }

  #wait(millis: number, then: () => void): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(then, millis)
  }

  #send(isSecond: boolean): void {
    const { body, headers, path } = this.#asking.current()
    const sent = this.#ports.connection.post(path, { ...headersOf(body), ...headers })
    this.#outgoing = sent
    if (sent === undefined) return this.#close(misconfigured("the engine may not connect to this address"))
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (!this.#isOpen || sent !== this.#outgoing) return
      // The server closed the idle connection just before it was used again: it never saw the request.
      if (sent.reusedSocket && error.code === "ECONNRESET" && !isSecond) return this.#send(true)
      this.#breakOff(unreachable(error))
    })
    sent.on("response", (response) => this.#read(response))
    sent.end(body)
  }

  #read(response: IncomingMessage): void {
    const status = response.statusCode ?? 0
    if (status !== 200) {
      const retryAfterMillis = retryAfterOf(response.headers)
      return readError(response, (text) => this.#refused({ status, text, retryAfterMillis }))
    }
    this.#asking.accepted?.()
    read(response, {
      answer: this.#asking.current().answer,
      breakOff: (error) => this.#breakOff(error),
      close: (error) => this.#close(error),
      complete: () => this.#complete(),
      takes: (step) => this.#take(step)
    })
  }

  #refused(refusal: Refusal): void {
    if (!this.#isOpen) return
    const error = this.#asking.refused(refusal)
    if (error === undefined) this.#send(false)
    else this.#close(error)
  }
}

const headersOf = (body: string) => ({
  accept: "text/event-stream, application/json",
  "accept-encoding": "identity",
  "content-length": String(Buffer.byteLength(body)),
  "content-type": "application/json"
})

/** Releases the connection for the next request, if the reply ends as it should. */
const releaseOf = (outgoing: ClientRequest | undefined): void => {
  if (outgoing === undefined || outgoing.destroyed) return
  const timer = setTimeout(() => outgoing.destroy(), LEFTOVER_MILLIS)
  outgoing.once("close", () => clearTimeout(timer))
}

interface Reading {
  readonly answer: Answer
  readonly takes: (step: AnswerStep) => void
  readonly complete: () => void
  readonly breakOff: (error: ModelError) => void
  readonly close: (error?: ModelError) => void
}

const read = (response: IncomingMessage, { answer, breakOff, close, complete, takes }: Reading): void => {
  const decoder = new TextDecoder()
  let bytes = 0
  let whole = ""
  // Servers and proxies label one as the other, so only the first character tells them apart.
  let isStream: boolean | undefined
  let isDone = false
  const parser = makeParser(
    (event) => {
      if (event._tag !== "Event" || isDone) return
      const step = answer.push(event.data)
      isDone = step.isEnd === true
      takes(step)
    },
    { maxEventSize: MOST_EVENT }
  )
  const feed = (text: string): void => {
    if (isStream !== true) whole += text
    if (isStream === undefined) whole = whole.trimStart()
    isStream ??= whole === "" ? undefined : !/^[{[]/.test(whole)
    if (isStream !== true) return
    const events = whole === "" ? text : whole
    whole = ""
    if (parser.feed(events) !== undefined) close(tooLarge("characters in one piece"))
  }
  const endWhole = (): void => {
    const step = answer.push(whole)
    takes(step)
    if (step.hasProgress === true) complete()
  }
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MOST_BYTES) close(tooLarge("bytes"))
    else feed(decoder.decode(chunk, { stream: true }))
  })
  response.on("end", () => {
    // The last event of some servers lacks the empty line that ends it.
    if (isStream === true) feed("\n\n")
    else if (whole.trim() !== "") endWhole()
    if (answer.hasFinished) complete()
    else if (!isDone) breakOff(broken("the answer ended early"))
  })
  response.on("error", (error) => (answer.hasFinished ? complete() : breakOff(unreachable(error))))
}

/** The body as text, as far as it is read. */
const readError = (response: IncomingMessage, done: (text: string) => void): void => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  let isDone = false
  const end = () => {
    if (!isDone) done(Buffer.concat(chunks).toString())
    isDone = true
  }
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MOST_ERROR_BYTES) chunks.push(chunk)
    else end()
  })
  response.on("end", end)
  response.on("error", end)
}
