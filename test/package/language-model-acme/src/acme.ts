/**
 * Acme Minds, an invented language model: one request for each answer, which arrives as a line of JSON for each piece. It exists only in
 * `test/AcmeMinds.ts`.
 */
import { Cause, Effect, Queue, type Scope, Stream } from "effect"
import { request as httpRequest, type IncomingMessage } from "node:http"
import {
  Credential,
  defineLanguageModel,
  type Egress,
  hostOf,
  Json,
  ModelError,
  type ModelPart,
  type ModelRequest,
  portOf,
  refusedCode,
  refusesUrl
} from "trunkline/adapter"

const PATIENCE_MILLIS = 10_000
const LONGEST_LINE = 65_536
const noUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }

const error = (reason: ModelError["reason"], isRetryable: boolean, message: string) => new ModelError({ reason, isRetryable, message })
const broken = error("broken", true, "the answer is not what Acme promises")

/** The request to Acme, which knows neither nodes nor purposes; but the instructions end with the purpose in words. */
const questionOf = ({ instructions, messages, tools }: ModelRequest): string =>
  JSON.stringify({
    instructions,
    tools,
    said: messages.map((message) => {
      if (message._tag === "User") return { callee: message.text }
      if (message._tag === "ToolResult") return { result: message.result, of: message.callId }
      return { agent: message.text, calls: message.calls }
    })
  })

const argumentsOf = (piece: unknown): Readonly<Record<string, unknown>> => {
  const given = typeof piece === "object" && piece !== null && "arguments" in piece ? piece.arguments : undefined
  return typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : {}
}

/** Undefined: the line means nothing. */
const partOf = (line: string, idOf: () => string, hasCalled: boolean): ModelPart | undefined => {
  const piece = Json.parse(line)
  const say = Json.textAt(piece, "say")
  const name = Json.textAt(piece, "call")
  if (say !== undefined) return say.trim() === "" ? undefined : { _tag: "Text", text: say }
  if (name !== undefined) return { _tag: "ToolCall", call: { id: idOf(), name, arguments: argumentsOf(piece) } }
  if (Json.textAt(piece, "end") === undefined) return undefined
  return { _tag: "Finished", why: hasCalled ? "tool_calls" : "stop", usage: noUsage }
}

/** Reads the lines of one answer into the queue, which ends with the last one. */
const read = (response: IncomingMessage, queue: Queue.Queue<ModelPart, ModelError | Cause.Done>, idOf: () => string) => {
  const fail = (why: ModelError) => Queue.failCauseUnsafe(queue, Cause.fail(why))
  if (response.statusCode === 401) return fail(error("auth", false, "Acme does not accept the key"))
  if (response.statusCode !== 200) return fail(error("broken", true, `Acme answered ${response.statusCode}`))
  let rest = ""
  let hasCalled = false
  const take = (line: string) => {
    const part = partOf(line, idOf, hasCalled)
    if (part === undefined) return
    hasCalled ||= part._tag === "ToolCall"
    Queue.offerUnsafe(queue, part)
    if (part._tag === "Finished") Queue.endUnsafe(queue)
  }
  response.setEncoding("utf8")
  response.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) take(line)
    if (rest.length > LONGEST_LINE) fail(broken)
  })
  // This has no effect if the last piece has already arrived.
  response.on("end", () => fail(broken))
}

interface Place {
  readonly url: URL
  readonly key: string
  readonly egress: Egress
}

const ask = (
  { egress, key, url }: Place,
  question: ModelRequest,
  queue: Queue.Queue<ModelPart, ModelError | Cause.Done>
): Effect.Effect<void, ModelError, Scope.Scope> => {
  // Node calls `lookup` only for names.
  if (refusesUrl(egress, url)) return Effect.fail(error("refused", false, "the engine may not connect to this address"))
  let number = question.messages.length
  const open = Effect.sync(() => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const options = { method: "POST", host: hostOf(url), port: portOf(url), path: "/answer", headers, timeout: PATIENCE_MILLIS }
    const sent = httpRequest({ ...options, lookup: egress.lookup(portOf(url)) })
    sent.on("response", (response) => read(response, queue, () => `acme_${number++}`))
    sent.on("timeout", () => sent.destroy())
    sent.on("error", (cause: NodeJS.ErrnoException) =>
      Queue.failCauseUnsafe(queue, Cause.fail(error("unreachable", cause.code !== refusedCode, "Acme cannot be reached")))
    )
    sent.end(questionOf(question))
    return sent
  })
  // An abandoned answer is stopped, so that it costs nothing.
  return Effect.asVoid(Effect.acquireRelease(open, (sent) => Effect.sync(() => sent.destroy())))
}

export default defineLanguageModel({
  manifest: {
    contract: 1,
    kind: "llm",
    provider: "acme",
    title: "Acme Minds",
    description: "An invented language model.",
    languages: ["en"]
  },
  fields: {
    api_key: Credential.token({ label: "API key" }),
    base_url: Credential.address({ label: "Base URL", placeholder: "https://minds.acme.example" })
  },
  check: ({ base_url }) =>
    URL.parse(base_url)?.protocol === "http:" ? [] : [{ field: "base_url", message: "Input should be an http:// address" }],
  open: ({ api_key, base_url }, { egress }) => {
    const place: Place = { egress, key: api_key, url: new URL(base_url) }
    return Effect.succeed({
      provider: "acme",
      model: "minds-1",
      answer: (question) => Stream.callback<ModelPart, ModelError>((queue) => ask(place, question, queue))
    })
  }
})
