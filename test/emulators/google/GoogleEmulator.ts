/** Google's service of Gemini, which checks requests as the vendor does. */
import type { IncomingMessage } from "node:http"
import { json, ModelEmulator, paced, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { errorBody, invalidKey, type ScriptedContent, streamed, whole } from "./contents.ts"
import { type ContentsBody, whyRefused } from "./refusals.ts"

interface Options {
  readonly apiKey: string
  /** Answers requests for which nothing is scripted. */
  readonly answer?: (body: ContentsBody) => ScriptedContent
}

/** That of the documentation, and `v1`, which the vendor's client uses. What is used here is the same in both. */
const path = /^\/v1(?:beta)?\/models\/([\w.-]+):(generateContent|streamGenerateContent)(\?alt=sse)?$/

export class GoogleEmulator extends ModelEmulator<ScriptedContent, ContentsBody> {
  readonly #options: Options

  private constructor(options: Options) {
    super()
    this.#options = options
  }

  static start(options: Options): Promise<GoogleEmulator> {
    return new GoogleEmulator(options).listen()
  }

  protected replyTo({ headers, method, url = "" }: IncomingMessage, body: ContentsBody | undefined): RawReply {
    const { answer, apiKey } = this.#options
    const [, model = "", verb] = path.exec(url) ?? []
    if (method !== "POST" || verb === undefined) return json(errorBody(404, "NOT_FOUND", `${url} is not found`), 404)
    if (headers["x-goog-api-key"] !== apiKey) return json(invalidKey, 400)
    const wrong = whyRefused(body, model)
    if (wrong !== undefined) return json(errorBody(400, "INVALID_ARGUMENT", wrong), 400)
    const reply = this.next() ?? (body === undefined ? undefined : answer?.(body))
    if (reply === undefined) return json(errorBody(500, "INTERNAL", "nothing is scripted"), 500)
    if ("pieces" in reply) return reply
    return verb === "streamGenerateContent" ? { pieces: paced(streamed(reply), reply) } : json(whole(reply))
  }
}
