/** Anthropic's service, which checks requests as the vendor does. */
import type { IncomingMessage } from "node:http"
import { json, ModelEmulator, paced, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { errorBody, type ScriptedMessage, streamed, whole } from "./messages.ts"
import { type MessagesBody, whyRefused } from "./refusals.ts"

interface Options {
  readonly apiKey: string
  /** Answers requests for which nothing is scripted. */
  readonly answer?: (body: MessagesBody) => ScriptedMessage
}

/** That of the documentation, and that of the vendor's client since 1.0. What is used here is the same in both. */
const versions = ["2023-06-01", "2026-10-21"]

export class AnthropicEmulator extends ModelEmulator<ScriptedMessage, MessagesBody> {
  readonly #options: Options

  private constructor(options: Options) {
    super()
    this.#options = options
  }

  static start(options: Options): Promise<AnthropicEmulator> {
    return new AnthropicEmulator(options).listen()
  }

  protected replyTo({ headers, method, url }: IncomingMessage, body: MessagesBody | undefined): RawReply {
    const { answer, apiKey } = this.#options
    // The documentation names the first, and the vendor's client sends the second.
    const key = headers["x-api-key"] ?? headers.authorization?.replace("Bearer ", "")
    if (key !== apiKey) return json(errorBody("authentication_error", `invalid x-api-key: ${String(key)}`), 401)
    if (method !== "POST" || url !== "/v1/messages") return json(errorBody("not_found_error", "Not found"), 404)
    if (!versions.includes(String(headers["anthropic-version"])))
      return json(errorBody("invalid_request_error", "anthropic-version: header is required"), 400)
    const wrong = whyRefused(body)
    if (wrong !== undefined) return json(errorBody("invalid_request_error", wrong), 400)
    const reply = this.next() ?? (body === undefined ? undefined : answer?.(body))
    if (reply === undefined) return json(errorBody("api_error", "nothing is scripted"), 500)
    if ("pieces" in reply) return reply
    return body?.["stream"] === true ? { pieces: paced(streamed(reply), reply) } : json(whole(reply))
  }
}
