/** Copies what we need from a request before its handler returns: after that, uWebSockets reuses its memory. */
import { Result } from "effect"
import { randomUUID } from "node:crypto"
import type * as uws from "uWebSockets.js"
import { type Client, type Proxies, RequestClient } from "./Client.ts"
import type { Asked, Endpoint } from "./Endpoint.ts"
import { cookieCredential } from "./sessionCookie.ts"

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

export const pathNames = (path: string): ReadonlyArray<string> =>
  path.split("/").flatMap((segment) => (segment.startsWith(":") ? [segment.slice(1)] : []))

// A random id for each request would take a twentieth of the time of an answer.
const ofProcess = randomUUID().slice(0, 24)
const counterDigits = 12
let requests = 0

/** The client's own id if it is valid, otherwise a unique one: a random prefix of this process and a counter. */
export const requestId = (req: uws.HttpRequest): string => {
  const given = req.getHeader("x-request-id")
  if (given !== "" && requestIdPattern.test(given)) return given
  return ofProcess + (++requests).toString(16).padStart(counterDigits, "0")
}

export const requestParts = (
  req: uws.HttpRequest,
  endpoint: Pick<Endpoint<never>, "headers" | "hasQuery">,
  names: ReadonlyArray<string>
): Pick<Asked, "params" | "query" | "headers"> => {
  const headers: Record<string, string> = {}
  for (const name of endpoint.headers) {
    // An API key takes precedence over a token.
    if (name === "authorization" && "x-api-key" in headers) continue
    const value = req.getHeader(name)
    if (value !== "") headers[name] = value
  }
  if (endpoint.headers.includes("authorization") && !("x-api-key" in headers) && !("authorization" in headers)) {
    const credential = cookieCredential(req)
    if (credential !== undefined) headers["authorization"] = credential
  }
  const params: Record<string, string> = {}
  names.forEach((name, at) => {
    params[name] = decoded(req.getParameter(at) ?? "")
  })
  return { headers, params, query: endpoint.hasQuery ? queryOf(req) : "" }
}

const forwardedFor = (req: uws.HttpRequest): string => {
  const lines: Array<string> = []
  // `getHeader` returns only the first of several lines, which may have been written by the client itself.
  req.forEach((name, value) => {
    if (name === "x-forwarded-for") lines.push(value)
  })
  return lines.join()
}

const decoder = new TextDecoder()
const remoteOf = (res: uws.HttpResponse): string => decoder.decode(res.getRemoteAddressAsText())

/** Without trusted proxies, nobody reads the lines of `X-Forwarded-For`, and finding them would copy every header. */
export const clientOf = (
  exchange: { readonly res: uws.HttpResponse; readonly isOver: boolean },
  req: uws.HttpRequest,
  proxies: Proxies
): Client => new RequestClient(proxies, proxies.isEmpty ? "" : forwardedFor(req), () => (exchange.isOver ? "" : remoteOf(exchange.res)))

/** uWebSockets returns undefined for a URL without `?`, although it is declared to return a string. */
export const queryOf = (req: uws.HttpRequest): string => req.getQuery() ?? ""

/** A badly encoded segment is left as it is: where it matters, no schema accepts it. */
const decoded = (segment: string): string =>
  segment.includes("%")
    ? Result.getOrElse(
        Result.try(() => decodeURIComponent(segment)),
        () => segment
      )
    : segment
