/**
 * One request to a stranger's server. The connection is made to the very address that was checked: a name that leads elsewhere a moment later
 * leads nowhere. Redirects are not followed, what the server says besides its status is read only where it is asked for, and proxies of the
 * environment are not asked.
 */
import { Context, type Duration, Effect, Layer, Schema } from "effect"
import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns"
import { Resolver as DnsResolver } from "node:dns/promises"
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http"
import { request as httpsRequest } from "node:https"
import type { LookupFunction } from "node:net"
import { isPublicAddress } from "#core/event/Address.ts"
import { hostOf, PrivateTargets, whyRefused } from "#core/event/WebhookEndpoint.ts"

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
export interface Answered {
  readonly status: number
  /** As it came; empty when there was none. */
  readonly retryAfter: string
  /** Undefined unless it was asked for. */
  readonly body?: string
}
/** No answer. The reason is a short word for the endpoint's owner, and says nothing of what is in our network. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { reason: Schema.String }) {}

type Resolve = (
  name: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: Array<LookupAddress>) => void
) => void

const lookupMillis = 2000
const lookupTries = 2

/**
 * Asks the name servers itself. `lookup` would wait in one of the few threads that the whole process has for that, and a stranger's name may
 * never be answered.
 */
const askNameServers: Resolve = (name, _, done) => {
  const dns = new DnsResolver({ timeout: lookupMillis, tries: lookupTries })
  const found = Promise.allSettled([dns.resolve4(name), dns.resolve6(name)])
  void found.then(([four, six]) => {
    const addresses = [
      ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : [])
    ]
    if (addresses.length > 0) return done(null, addresses)
    const isLate = four.status === "rejected" && four.reason instanceof Object && "code" in four.reason && four.reason.code === "ETIMEOUT"
    done(Object.assign(new Error("no address"), { code: isLate ? "ETIMEDOUT" : "ENOTFOUND" }), [])
  })
}

/** How names become addresses. */
export const Resolver = Context.Reference<Resolve>("runtime/event/Resolver", { defaultValue: () => askNameServers })

export class WebhookSender extends Context.Service<WebhookSender, { readonly send: (sent: Sent) => Effect.Effect<Answered, NoAnswer> }>()(
  "runtime/event/WebhookSender"
) {
  static readonly layer = Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const privateTargets = yield* PrivateTargets
      const addressesOf = privateTargets ? shared(lookup) : publicOnly(yield* Resolver)
      return {
        send: (sent) =>
          post(sent, addressesOf, privateTargets).pipe(
            Effect.timeoutOrElse({ duration: sent.timeout ?? TIMEOUT, orElse: () => Effect.fail(new NoAnswer({ reason: "timeout" })) })
          )
      }
    })
  )
}

const notPublic = "address_not_public"

/** Asked by node:net for the addresses to connect to; it is given those alone that it may. */
const publicOnly =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, [])
      const allowed = found.filter(({ address }) => isPublicAddress(address))
      const [first] = allowed
      if (first === undefined) return done(Object.assign(new Error(notPublic), { code: notPublic }), [])
      return options.all === true ? done(null, allowed) : done(null, first.address, first.family)
    })
  }

const mostLookups = 64

/**
 * Names of one's own network may be known to this machine alone, so it is asked itself. It has few threads for that: a name is looked up
 * once for all who wait for it, and not too many names wait.
 */
const shared = (resolve: Resolve): LookupFunction => {
  const waiting = new Map<string, Array<Parameters<Resolve>[2]>>()
  return (hostname, options, done) => {
    const answered: Parameters<Resolve>[2] = (error, found) => {
      const [first] = found
      if (error !== null || first === undefined) return done(error ?? Object.assign(new Error("no address"), { code: "ENOTFOUND" }), [])
      return options.all === true ? done(null, found) : done(null, first.address, first.family)
    }
    const others = waiting.get(hostname)
    if (others !== undefined) return void others.push(answered)
    if (waiting.size >= mostLookups) return done(Object.assign(new Error("too many names"), { code: "EAI_AGAIN" }), [])
    waiting.set(hostname, [answered])
    resolve(hostname, { all: true }, (error, found) => {
      const all = waiting.get(hostname) ?? []
      waiting.delete(hostname)
      for (const one of all) one(error, found ?? [])
    })
  }
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

const post = (sent: Sent, addressesOf: LookupFunction, privateTargets: boolean): Effect.Effect<Answered, NoAnswer> =>
  Effect.callback((resume) => {
    const url = new URL(sent.url)
    // Of an address in figures nobody asks `lookup`. The rest was checked when it was written down, maybe under other settings.
    if (whyRefused(sent.url, privateTargets) !== undefined) return resume(Effect.fail(new NoAnswer({ reason: notPublic })))
    const options: RequestOptions = {
      method: sent.method ?? "POST",
      host: hostOf(url),
      port: url.port === "" ? undefined : url.port,
      path: `${url.pathname}${url.search}`,
      headers: { ...sent.headers, host: url.host, ...(sent.body === undefined ? {} : { "content-length": Buffer.byteLength(sent.body) }) },
      // A connection of its own: a kept one might have been made under another check.
      agent: false,
      lookup: addressesOf
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
