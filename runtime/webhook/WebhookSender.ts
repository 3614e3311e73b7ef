/**
 * Sends one request to an untrusted server. The socket connects to the very address that was checked, so a name cannot change its address in
 * between. Redirects are not followed, the response body is read only on request, and the environment's proxy settings are ignored.
 */
import { Context, type Duration, Effect, Layer, Schema } from "effect"
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http"
import { request as httpsRequest } from "node:https"
import { type Egress, EgressPolicy, hostOf, portOf, refusedCode } from "#core/egress/Egress.ts"
import { whyRefused } from "#core/webhook/WebhookEndpoint.ts"

const TIMEOUT = "15 seconds"

export interface Sent {
  /** POST by default. */
  readonly method?: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Undefined if the request has none. */
  readonly body: string | undefined
  /** The limit for the whole request, including the response body if that is read; 15 seconds by default. */
  readonly timeout?: Duration.Input
  /** The most bytes that the response body may have. Undefined if the body is not to be read. */
  readonly bodyBytes?: number
}
interface Answered {
  readonly status: number
  /** The `Retry-After` header as received; empty if there was none. */
  readonly retryAfter: string
  /** Undefined unless the request set `bodyBytes`. */
  readonly body?: string
}
/** There was no usable response. The reason is a short code for the endpoint's owner, and reveals nothing about our network. */
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
  // Unless webhooks may reach private networks, a name without any address gets this code too, so as not to reveal our own network's names.
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
    // Node does not call `lookup` for an IP literal. The URL was also checked when it was saved, but perhaps under other settings.
    if (whyRefused(sent.url, egress) !== undefined) return resume(Effect.fail(new NoAnswer({ reason: notPublic })))
    const options: RequestOptions = {
      method: sent.method ?? "POST",
      host: hostOf(url),
      port: url.port === "" ? undefined : url.port,
      path: `${url.pathname}${url.search}`,
      headers: { ...sent.headers, host: url.host, ...(sent.body === undefined ? {} : { "content-length": Buffer.byteLength(sent.body) }) },
      // Each request opens its own connection: a pooled one might have passed a different check.
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
    // After `end`, this is the error of our own `destroy`, and it comes too late to have an effect.
    request.on("error", (error) => resume(Effect.fail(new NoAnswer({ reason: reasonOf(error) }))))
    request.end(sent.body)
    return Effect.sync(() => void request.destroy())
  })

/** Calls `end` at least once. Only the first call counts. */
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
