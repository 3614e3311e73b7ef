/** One request for a completion, and its answer as a stream. Interrupting the stream closes the connection, which ends the work at the server. */
import type { ClientRequest, IncomingMessage } from "node:http"
import { Cause, Effect, Queue, Stream } from "effect"
import { makeParser } from "effect/encoding/Sse"
import type { ModelError, ModelPart, ModelRequest } from "#core/model/LanguageModel.ts"
import { parse } from "#adapters/shared/Json.ts"
import { pathUnder } from "#adapters/shared/HttpClient.ts"
import { type ChatAnswer, type ChatStep, makeChatAnswer } from "./ChatAnswer.ts"
import type { ChatConnection } from "./ChatConnection.ts"
import { broken, misconfigured, refusedReply, timedOut, tooLarge, unreachable } from "./chatErrors.ts"
import { type ChatSettings, chatBody } from "./ChatRequest.ts"

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
}

export const chatStream = (ports: Ports, request: ModelRequest): Stream.Stream<ModelPart, ModelError> =>
  Stream.callback((queue) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        exchange(ports, request, {
          part: (part) => void Queue.offerUnsafe(queue, part),
          done: (error) => void (error === undefined ? Queue.endUnsafe(queue) : Queue.failCauseUnsafe(queue, Cause.fail(error)))
        })
      ),
      (stop) => Effect.sync(stop)
    )
  )

interface Listener {
  readonly part: (part: ModelPart) => void
  /** Called once. */
  readonly done: (error?: ModelError) => void
}

/** Returns a function that stops the exchange. */
const exchange = ({ connection, patience, settings }: Ports, request: ModelRequest, listener: Listener): (() => void) => {
  const body = JSON.stringify(chatBody(settings, request))
  const answer = makeChatAnswer(request, settings.startsThinking, body + settings.apiKey)
  let isOpen = true
  let outgoing: ClientRequest | undefined

  const close = (error?: ModelError): void => {
    if (!isOpen) return
    isOpen = false
    clearTimeout(total)
    clearTimeout(silence)
    if (error !== undefined) outgoing?.destroy()
    listener.done(error)
  }
  const takes = ({ error, hasProgress = false, parts }: ChatStep): void => {
    if (!isOpen) return
    for (const part of parts) listener.part(part)
    if (error !== undefined) close(error)
    else if (answer.hasFinished()) wait(USAGE_MILLIS, complete)
    else if (hasProgress) wait(patience.betweenTokens, () => close(timedOut("the answer did not continue")))
  }
  const complete = (): void => {
    takes(answer.end())
    close()
  }
  const wait = (millis: number, then: () => void): void => {
    clearTimeout(silence)
    silence = setTimeout(then, millis)
  }
  const total = setTimeout(() => close(timedOut("the answer was not complete")), patience.total)
  let silence = setTimeout(() => close(timedOut("the answer did not begin")), patience.firstToken)

  const send = (isSecond: boolean): void => {
    outgoing = connection.post(pathUnder(settings.baseUrl, "/chat/completions"), headersOf(settings, body))
    if (outgoing === undefined) return close(misconfigured("the engine may not connect to this address"))
    const sent = outgoing
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (!isOpen) return
      // The server closed the idle connection just before it was used again: it never saw the request.
      if (sent.reusedSocket && error.code === "ECONNRESET" && !isSecond) return send(true)
      close(unreachable(error))
    })
    sent.on("response", (response) => {
      const status = response.statusCode ?? 0
      if (status !== 200) return readError(response, (reply) => close(refusedReply(status, reply, body + settings.apiKey)))
      read(response, { answer, close, complete, takes })
    })
    sent.end(body)
  }
  send(false)
  return () => {
    const isRead = !isOpen
    close()
    if (isRead) releaseOf(outgoing)
    else outgoing?.destroy()
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
  readonly close: (error?: ModelError) => void
}

const read = (response: IncomingMessage, { answer, close, complete, takes }: Reading): void => {
  const decoder = new TextDecoder()
  const isStream = response.headers["content-type"]?.includes("json") !== true
  let bytes = 0
  let whole = ""
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
    if (!isStream) whole += text
    else if (parser.feed(text) !== undefined) close(tooLarge("characters in one piece"))
  }
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MOST_BYTES) close(tooLarge("bytes"))
    else feed(decoder.decode(chunk, { stream: true }))
  })
  response.on("end", () => {
    // The last event of some servers lacks the empty line that ends it.
    feed(isStream ? "\n\n" : "")
    if (!isStream) takes(answer.push(whole))
    if (answer.hasFinished()) complete()
    else if (!isDone) close(broken("the answer ended early"))
  })
  response.on("error", (error) => (answer.hasFinished() ? complete() : close(unreachable(error))))
}

const readError = (response: IncomingMessage, done: (body: unknown) => void): void => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  const end = () => done(parse(Buffer.concat(chunks).toString()))
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MOST_ERROR_BYTES) chunks.push(chunk)
    else end()
  })
  response.on("end", end)
  response.on("error", end)
}
