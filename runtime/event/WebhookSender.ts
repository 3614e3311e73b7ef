/**
 * One POST to a stranger's server. The connection is made to the very address that was checked: a name that leads elsewhere a moment later
 * leads nowhere. Redirects are not followed, what the server says besides its status is not read, and proxies of the environment are not
 * asked.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { lookup } from "node:dns"
import { request as httpRequest, type RequestOptions } from "node:http"
import { request as httpsRequest } from "node:https"
import type { LookupFunction } from "node:net"
import { isPublicAddress } from "#core/event/Address.ts"
import { hostOf, PrivateTargets, whyRefused } from "#core/event/WebhookEndpoint.ts"

const TIMEOUT = "15 seconds"

export interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
export interface Answered {
  readonly status: number
  /** As it came; empty when there was none. */
  readonly retryAfter: string
}
/** No answer. The reason is a short word for the endpoint's owner, and says nothing of what is in our network. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { reason: Schema.String }) {}

export class WebhookSender extends Context.Service<WebhookSender, { readonly send: (sent: Sent) => Effect.Effect<Answered, NoAnswer> }>()(
  "runtime/event/WebhookSender"
) {
  static readonly layer = Layer.effect(
    WebhookSender,
    Effect.map(PrivateTargets, (privateTargets) => ({
      send: (sent) =>
        post(sent, privateTargets).pipe(
          Effect.timeoutOrElse({ duration: TIMEOUT, orElse: () => Effect.fail(new NoAnswer({ reason: "timeout" })) })
        )
    }))
  )
}

const notPublic = "address_not_public"

/** Asked by node:net for the addresses to connect to; it is given those alone that it may. */
const publicOnly: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, [])
    const allowed = found.filter(({ address }) => isPublicAddress(address))
    const [first] = allowed
    if (first === undefined) return done(Object.assign(new Error(notPublic), { code: notPublic }), [])
    return options.all === true ? done(null, allowed) : done(null, first.address, first.family)
  })
}

const words: Readonly<Record<string, string>> = {
  [notPublic]: notPublic,
  ENOTFOUND: "name_not_found",
  EAI_AGAIN: "name_not_found",
  ECONNREFUSED: "connection_refused",
  ECONNRESET: "connection_lost",
  ETIMEDOUT: "timeout"
}
const reasonOf = (error: Error & { readonly code?: string }): string =>
  words[error.code ?? ""] ??
  (error.code?.startsWith("ERR_TLS") || error.code?.includes("CERT") ? "certificate_refused" : "connection_failed")

const post = (sent: Sent, privateTargets: boolean): Effect.Effect<Answered, NoAnswer> =>
  Effect.callback((resume) => {
    const url = new URL(sent.url)
    // Of an address in figures nobody asks `lookup`. The rest was checked when it was written down, maybe under other settings.
    if (whyRefused(sent.url, privateTargets) !== undefined) return resume(Effect.fail(new NoAnswer({ reason: notPublic })))
    const options: RequestOptions = {
      method: "POST",
      host: hostOf(url),
      port: url.port === "" ? undefined : url.port,
      path: `${url.pathname}${url.search}`,
      headers: { ...sent.headers, host: url.host, "content-length": Buffer.byteLength(sent.body) },
      // A connection of its own: a kept one might have been made under another check.
      agent: false,
      ...(privateTargets ? {} : { lookup: publicOnly })
    }
    const request = url.protocol === "https:" ? httpsRequest(options) : httpRequest(options)
    request.on("response", (response) => {
      resume(Effect.succeed({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] ?? "" }))
      request.destroy()
    })
    // After an answer, this is our own end of the connection, and nobody listens any more.
    request.on("error", (error) => resume(Effect.fail(new NoAnswer({ reason: reasonOf(error) }))))
    request.end(sent.body)
    return Effect.sync(() => void request.destroy())
  })
