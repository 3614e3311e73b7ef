/** What is taken out of a request before its handler returns: then the server uses its memory for another one. */
import { Result } from "effect"
import { randomUUID } from "node:crypto"
import type * as uws from "uWebSockets.js"
import { type Client, type Proxies, RequestClient, type Way } from "./Client.ts"
import type { Asked, Endpoint } from "./Endpoint.ts"

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

export const pathNames = (path: string): ReadonlyArray<string> =>
  path.split("/").flatMap((segment) => (segment.startsWith(":") ? [segment.slice(1)] : []))

// Randomness for each request would cost a twentieth of an answer.
const ofProcess = randomUUID().slice(0, 24)
const counterDigits = 12
let requests = 0

/** The client's own id, or one that no other request has: what all of this process have in common, and a number. */
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
    // A key wins over a token.
    if (name === "authorization" && "x-api-key" in headers) continue
    const value = req.getHeader(name)
    if (value !== "") headers[name] = value
  }
  const params: Record<string, string> = {}
  names.forEach((name, at) => {
    params[name] = decoded(req.getParameter(at) ?? "")
  })
  return { headers, params, query: endpoint.hasQuery ? queryOf(req) : "" }
}

/** Headers by which proxies say that they are there, whatever else they say. */
const forwarding = ["x-forwarded-for", "forwarded", "x-real-ip", "via"]
const nowhere: Way = { forwardedFor: "", isForwarded: false, origin: "" }

const wayOf = (req: uws.HttpRequest): Way => {
  const lines: Array<string> = []
  // `getHeader` knows only the first of several lines, which a client may have put there itself.
  req.forEach((name, value) => {
    if (name === "x-forwarded-for") lines.push(value)
  })
  const isForwarded = forwarding.some((name) => req.getHeader(name) !== "")
  return { forwardedFor: lines.join(), isForwarded, origin: req.getHeader("origin") }
}

const decoder = new TextDecoder()
const remoteOf = (res: uws.HttpResponse): string => decoder.decode(res.getRemoteAddressAsText())

/** Without proxies, a request that changes nothing has nothing to say about its way that matters: to copy it would cost each a twentieth. */
export const clientOf = (
  exchange: { readonly res: uws.HttpResponse; readonly isOver: boolean },
  req: uws.HttpRequest,
  hasBody: boolean,
  proxies: Proxies
): Client =>
  new RequestClient(proxies, hasBody || !proxies.isEmpty ? wayOf(req) : nowhere, () => (exchange.isOver ? "" : remoteOf(exchange.res)))

/** Undefined without a `?`, whatever its declaration says. */
export const queryOf = (req: uws.HttpRequest): string => req.getQuery() ?? ""

/** What is badly encoded stays as it is, and fits no schema that matters. */
const decoded = (segment: string): string =>
  segment.includes("%")
    ? Result.getOrElse(
        Result.try(() => decodeURIComponent(segment)),
        () => segment
      )
    : segment
