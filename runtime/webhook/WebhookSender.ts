/**
 * One request to a stranger's server. The connection is made to the very address that was checked: a name that leads elsewhere a moment later
 * leads nowhere. Redirects are not followed, what the server says besides its status is read only where it is asked for, and proxies of the
 * environment are not asked.
 */
import { Context, type Duration, Effect, Layer, Schema } from "effect"
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http"
import { request as httpsRequest } from "node:https"
import { type Egress, EgressPolicy, hostOf, portOf, refusedCode } from "#core/egress/Egress.ts"
import { whyRefused } from "#core/webhook/WebhookEndpoint.ts"

const TIMEOUT = "15 seconds"

export interface Sent {
  /** Unless it says otherwise, a POST. */
  readonly method?: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: there is none. */
  readonly body: string | undefined
  /** Until there is an answer; 15 seconds unless it says otherwise. */
  readonly timeout?: Duration.Input
  /** The most bytes that the body of the answer may have. Undefined: it is not read. */
  readonly bodyBytes?: number
}
interface Answered {
  readonly status: number
  /** As it came; empty when there was none. */
  readonly retryAfter: string
  /** Undefined unless it was asked for. */
  readonly body?: string
}
/** No answer. The reason is a short word for the endpoint's owner, and says nothing of what is in our network. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { reason: Schema.String }) {
  override get message(): string {
    return `no answer: ${this.reason}`
  }
}

export class WebhookSender extends Context.Service<WebhookSender, { readonly send: (sent: Sent) => Effect.Effect<Answered, NoAnswer> }>()(
  "runtime/webhook/WebhookSender"
) {
  static readonly layer = Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const { webhooks } = yield* EgressPolicy
      return {
        send: (sent) =>
          post(sent, webhooks).pipe(
            Effect.timeoutOrElse({ duration: sent.timeout ?? TIMEOUT, orElse: () => Effect.fail(new NoAnswer({ reason: "timeout" })) })
          )
      }
    })
  )
}

const notPublic = "address_not_public"
const words: Readonly<Record<string, string>> = {
  // Also of a name that has no address at all: else it would tell which names our own network has.
  [refusedCode]: "no_public_address",
  ENOTFOUND: "name_not_found",
  EAI_AGAIN: "name_not_found",
  ECONNREFUSED: "connection_refused",
  ECONNRESET: "connection_lost",
  ETIMEDOUT: "timeout"
}
const reasonOf = (error: Error & { readonly code?: string }): string =>
  words[error.code ?? ""] ??
  (error.code?.startsWith("ERR_TLS") || error.code?.includes("CERT") ? "certificate_refused" : "connection_failed")

const post = (sent: Sent, egress: Egress): Effect.Effect<Answered, NoAnswer> =>
  Effect.callback((resume) => {
    const url = new URL(sent.url)
    // Nobody asks `lookup` for an IP literal. The rest was checked when it was written down, maybe under other settings.
    if (whyRefused(sent.url, egress) !== undefined) return resume(Effect.fail(new NoAnswer({ reason: notPublic })))
    const options: RequestOptions = {
      method: sent.method ?? "POST",
      host: hostOf(url),
      port: url.port === "" ? undefined : url.port,
      path: `${url.pathname}${url.search}`,
      headers: { ...sent.headers, host: url.host, ...(sent.body === undefined ? {} : { "content-length": Buffer.byteLength(sent.body) }) },
      // A connection of its own: a kept one might have been made under another check.
      agent: false,
      lookup: egress.lookup(portOf(url))
    }
    const request = url.protocol === "https:" ? httpsRequest(options) : httpRequest(options)
    request.on("response", (response) => {
      const answered = { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] ?? "" }
      const end = (body: Effect.Effect<Partial<Answered>, NoAnswer>) => {
        resume(Effect.map(body, (read) => ({ ...answered, ...read })))
        request.destroy()
      }
      if (sent.bodyBytes === undefined) end(Effect.succeed({}))
      else readBody(response, sent.bodyBytes, end)
    })
    // After an answer, this is our own end of the connection, and nobody listens any more.
    request.on("error", (error) => resume(Effect.fail(new NoAnswer({ reason: reasonOf(error) }))))
    request.end(sent.body)
    return Effect.sync(() => void request.destroy())
  })

/** `end` is told at least once; what it is told later counts for nothing. */
const readBody = (response: IncomingMessage, most: number, end: (body: Effect.Effect<Pick<Answered, "body">, NoAnswer>) => void) => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > most) end(Effect.fail(new NoAnswer({ reason: "answer_too_large" })))
    else chunks.push(chunk)
  })
  response.on("end", () => end(Effect.succeed({ body: new TextDecoder().decode(Buffer.concat(chunks)) })))
  response.on("error", (error) => end(Effect.fail(new NoAnswer({ reason: reasonOf(error) }))))
}
