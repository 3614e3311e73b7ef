/** What is taken out of a request before its handler returns: then the server uses its memory for another one. */
import { Result } from "effect"
import { randomUUID } from "node:crypto"
import type * as uws from "uWebSockets.js"
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

export const copied = (
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
