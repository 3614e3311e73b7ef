/**
 * Refuses requests that must not be processed at all, by their heads. A request whose length two servers could read differently is refused,
 * and its connection closed: a proxy in front may take the rest of it for another client's request. A request for a foreign host name comes
 * from a browser that was directed here by an attacker's name (DNS rebinding): the attacker's page would pass for one of this engine.
 */
import { Context } from "effect"
import { isIP } from "node:net"
import type * as uws from "uWebSockets.js"
import { failure, type Reply } from "./Endpoint.ts"

/** Whether a `Host` header names this engine; undefined: any does. */
export const AllowedHosts = Context.Reference<((header: string) => boolean) | undefined>("gateway/http/AllowedHosts", {
  defaultValue: () => undefined
})

const withPort = /^(?:\[([0-9a-f:.]{2,45})\]|([^:[\]]{1,255}))(?::\d{0,5})?$/
const rememberedHosts = 100

/** IP literals are always allowed, as is `localhost`: neither is resolved by a name server, so neither can be rebound. */
export const hostsOf = (names: ReadonlyArray<string>): ((header: string) => boolean) => {
  const own = new Set(["localhost", ...names.map((name) => name.toLowerCase())])
  const known = new Set<string>()
  const isAllowed = (header: string): boolean => {
    const [, v6, name = ""] = withPort.exec(header.toLowerCase()) ?? []
    if (v6 !== undefined) return isIP(v6) === 6
    return own.has(name.replace(/\.$/, "")) || isIP(name) === 4
  }
  return (header) => {
    if (known.has(header)) return true
    if (!isAllowed(header)) return false
    if (known.size >= rememberedHosts) known.clear()
    known.add(header)
    return true
  }
}

/** Origins whose pages may read answers; undefined: any. */
export const AllowedOrigins = Context.Reference<ReadonlySet<string> | undefined>("gateway/http/AllowedOrigins", {
  defaultValue: () => undefined
})

const foreign = failure(
  421,
  "This engine does not go by the name in the Host header. It goes by localhost, any IP address, and the names in HOST and PUBLIC_URL."
)
const ambiguous = failure(400, "The length of the request is given more than once")
const unknownCoding = failure(501, "The only supported transfer coding is chunked")

interface Refused {
  readonly reply: Reply
  /** Nothing that follows on the connection may be read as a request. */
  readonly closes: boolean
}

export const refusedByHead = (req: uws.HttpRequest, isOurs: ((header: string) => boolean) | undefined): Refused | undefined => {
  const coding = req.getHeader("transfer-encoding")
  if (coding !== "" && coding.toLowerCase() !== "chunked") return { reply: unknownCoding, closes: true }
  if ((coding !== "" || req.getHeader("content-length") !== "") && framings(req) > 1) return { reply: ambiguous, closes: true }
  return isOurs === undefined || isOurs(req.getHeader("host")) ? undefined : { reply: foreign, closes: false }
}

/** `getHeader` returns only one of several lines. */
const framings = (req: uws.HttpRequest): number => {
  let count = 0
  req.forEach((name) => {
    if (name === "content-length" || name === "transfer-encoding") count++
  })
  return count
}
