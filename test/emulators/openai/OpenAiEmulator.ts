/** A server of the chat-completions protocol. */
import type { IncomingMessage } from "node:http"
import { json, ModelEmulator, paced, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { type Completion, done, errorBody, streamed, whole } from "./completions.ts"
import { type ChatBody, whyRefused } from "./refusals.ts"
import type { ModelServer } from "./servers.ts"

interface Options {
  /** The key that requests need; undefined: none. */
  readonly apiKey?: string
  /** It stands for Azure's service, which has another path, and another header for the key. */
  readonly isAzure?: boolean
  /** Answers requests for which nothing is scripted. */
  readonly answer?: (body: ChatBody) => Completion
  /** How this server differs from the vendor's. */
  readonly server?: ModelServer
}

export class OpenAiEmulator extends ModelEmulator<Completion, ChatBody> {
  readonly #options: Options

  private constructor(options: Options) {
    super()
    this.#options = options
  }

  static start(options: Options = {}): Promise<OpenAiEmulator> {
    return new OpenAiEmulator(options).listen()
  }

  /** What `/chat/completions` is appended to. */
  get url(): string {
    return `${this.origin}/v1`
  }

  protected replyTo({ headers, method, url }: IncomingMessage, body: ChatBody | undefined): RawReply {
    const { answer, apiKey, isAzure = false, server = {} } = this.#options
    const key = isAzure ? headers["api-key"] : headers.authorization?.replace(/^Bearer /, "")
    if (apiKey !== undefined && key !== apiKey)
      return json(errorBody(`Incorrect API key provided: ${String(key)}`, "invalid_request_error", "invalid_api_key"), 401)
    if (method !== "POST" || url !== (isAzure ? "/openai/v1/chat/completions" : "/v1/chat/completions"))
      return json(errorBody("Invalid URL", "invalid_request_error"), 404)
    const wrong = whyRefused(body)
    if (wrong !== undefined) return json(errorBody(wrong, "invalid_request_error", null, "messages"), 400)
    const refusal = body === undefined ? undefined : server.refuses?.(body)
    if (refusal !== undefined) return json(server.errorOf?.(refusal) ?? errorBody(refusal, "invalid_request_error"), server.status ?? 400)
    const reply = this.next() ?? (body === undefined ? undefined : answer?.(body))
    if (reply === undefined) return json(errorBody("nothing is scripted", "server_error"), 500)
    if ("pieces" in reply) return reply
    const sent = replyOf(server.writes?.(reply) ?? reply, body)
    return server.sends?.(sent) ?? sent
  }
}

const replyOf = (completion: Completion, body: ChatBody | undefined): RawReply => {
  const { firstTokenMillis = 0 } = completion
  if (body?.stream !== true) return { ...json(whole(completion)), pieces: [firstTokenMillis, JSON.stringify(whole(completion))] }
  const events = streamed(completion, body.stream_options?.include_usage === true)
  return { pieces: [...paced(events, completion), done] }
}
