/** The REST operations, over HTTP or over the event socket. */
import { STATUS_CODES } from "node:http"
import { type Answer, AriRefusal, type Asterisk, matcher } from "./Route.ts"
import { preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import { routes } from "./routes.ts"

const match = matcher(routes)

export class Rest {
  #asterisk: Asterisk

  constructor(asterisk: Asterisk) {
    this.#asterisk = asterisk
  }

  places(method: string, path: string): boolean {
    return match(method, path)?.route.places ?? false
  }

  async answer(method: string, path: string, query: URLSearchParams, text: string, receivedAt = preciseNow()): Promise<Answer> {
    const found = match(method, path)
    if (found === undefined) return { status: 404, body: { message: "Resource not found" } }
    const body = parsed(text)
    if (body === undefined) return { status: 400, body: { message: "Invalid body" } }
    // Asterisk treats the other members of a body as parameters.
    for (const [name, value] of Object.entries(body)) if (typeof value !== "object") query.set(name, String(value))
    const [id = "", secondId = ""] = found.ids
    try {
      return await found.route.handle(this.#asterisk, { id, secondId, query, body, receivedAt })
    } catch (refusal) {
      if (refusal instanceof AriRefusal) return refusal
      throw refusal
    }
  }

  /** Undefined for a message that is not a request. */
  async answerOverSocket(text: string): Promise<object | undefined> {
    const request = parsed(text)
    if (request?.["type"] !== "RESTRequest") return undefined
    const { message_body: body = "", method = "GET", request_id, transaction_id, uri = "" } = request
    const [path = "", query] = String(uri).split("?", 2)
    const answer = await this.answer(String(method), `/${path.replace(/^\//, "")}`, new URLSearchParams(query), String(body))
    return {
      request_id,
      transaction_id,
      status_code: answer.status,
      reason_phrase: STATUS_CODES[answer.status],
      uri,
      ...(answer.body === undefined ? {} : { content_type: "application/json", message_body: JSON.stringify(answer.body) })
    }
  }
}

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  if (text === "") return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
