/** One request for a completion, and its answer as a stream. Interrupting the stream closes the connection, which ends the work at the server. */
import type { ClientRequest, IncomingMessage } from "node:http"
import { Cause, Effect, Queue, Stream } from "effect"
import { makeParser } from "effect/encoding/Sse"
import type { ModelError, ModelPart, ModelRequest } from "#core/model/LanguageModel.ts"
import { pathUnder } from "#adapters/shared/HttpClient.ts"
import type { ChatAnswer, ChatStep } from "./ChatAnswer.ts"
import { type ChatAttempts, makeChatAttempts } from "./ChatAttempts.ts"
import type { ChatConnection } from "./ChatConnection.ts"
import { broken, misconfigured, timedOut, tooLarge, unreachable } from "./chatErrors.ts"
import type { ChatSettings } from "./ChatRequest.ts"
import type { Refusal, ServerHabits } from "./ServerHabits.ts"

/** In milliseconds. Comments, with which servers keep a connection alive, do not count as an answer. */
export interface ChatPatience {
  readonly firstToken: number
  readonly betweenTokens: number
  readonly total: number
}

const MOST_BYTES = 4 * 1024 * 1024
const MOST_EVENT = 512 * 1024
const MOST_ERROR_BYTES = 64 * 1024
/** How long to wait for the usage, which comes after the reason to stop, if at all. */
const USAGE_MILLIS = 250
/** How long to wait for the end of a reply that has been read; after that, the connection is not used again. */
const LEFTOVER_MILLIS = 1000

interface Ports {
  readonly connection: ChatConnection
  readonly settings: ChatSettings
  readonly patience: ChatPatience
  readonly habits: ServerHabits
}

export const chatStream = (ports: Ports, request: ModelRequest): Stream.Stream<ModelPart, ModelError> =>
  Stream.callback((queue) =>
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Exchange(ports, request, {
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
  readonly #purpose: ModelRequest["purpose"]
  readonly #listener: Listener
  readonly #attempts: ChatAttempts
  readonly #total: NodeJS.Timeout
  #silence: NodeJS.Timeout
  #isOpen = true
  #outgoing: ClientRequest | undefined

  constructor(ports: Ports, request: ModelRequest, listener: Listener) {
    const { habits, patience, settings } = ports
    this.#ports = ports
    this.#purpose = request.purpose
    this.#listener = listener
    this.#attempts = makeChatAttempts(settings, request, habits)
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

  #take({ error, hasProgress = false, isOver = false, parts }: ChatStep): void {
    if (!this.#isOpen) return
    const { answer, habits } = this.#attempts.current()
    if (answer.startsThinking && !habits.startsThinking) this.#attempts.learn({ startsThinking: true })
    for (const part of parts) this.#listener.part(part)
    if (error !== undefined) return this.#close(error)
    if (isOver) {
      this.#outgoing?.destroy()
      this.#close()
    } else if (answer.hasFinished) this.#wait(USAGE_MILLIS, () => this.#complete())
    else if (hasProgress) this.#wait(this.#ports.patience.betweenTokens, () => this.#breakOff(timedOut("the answer did not continue")))
  }

  #complete(): void {
    if (!this.#isOpen) return
    const { answer, habits } = this.#attempts.current()
    const step = answer.end()
    // The server may have ignored a choice that it does not know.
    if (step.error !== undefined && this.#purpose === "extract" && habits.toolChoice === "named")
      this.#attempts.learn({ toolChoice: "required" })
    this.#take(step)
    this.#close()
  }

  #breakOff(error: ModelError): void {
    if (this.#isOpen) this.#take(this.#attempts.current().answer.brokenOff(error))
  }

  #wait(millis: number, then: () => void): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(then, millis)
  }

  #send(isSecond: boolean): void {
    const { connection, settings } = this.#ports
    const { body } = this.#attempts.current()
    const sent = connection.post(pathUnder(settings.baseUrl, "/chat/completions"), headersOf(settings, body))
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
    if (status !== 200) return readError(response, (text) => this.#refused({ status, text }))
    this.#attempts.accepted()
    read(response, {
      answer: this.#attempts.current().answer,
      breakOff: (error) => this.#breakOff(error),
      close: (error) => this.#close(error),
      complete: () => this.#complete(),
      takes: (step) => this.#take(step)
    })
  }

  #refused(refusal: Refusal): void {
    if (!this.#isOpen) return
    const error = this.#attempts.refused(refusal)
    if (error === undefined) this.#send(false)
    else this.#close(error)
  }
}

const headersOf = ({ apiKey }: ChatSettings, body: string) => ({
  ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
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
  readonly answer: ChatAnswer
  readonly takes: (step: ChatStep) => void
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
      isDone = event.data.trim() === "[DONE]"
      if (isDone) complete()
      else takes(answer.push(event.data))
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
