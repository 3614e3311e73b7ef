/**
 * Which requests are listened to at all, judged by their heads. A request that two servers may take for requests of different lengths is
 * refused with its connection: a proxy in front may have taken its rest for the request of somebody else. A request for another host is that
 * of a browser which was led here by a name of somebody else's (DNS rebinding): its page would pass for one of this engine.
 */
import { Context } from "effect"
import { isIP } from "node:net"
import type * as uws from "uWebSockets.js"
import { failure, type Reply } from "./Endpoint.ts"

/** Whether the engine goes by that name; undefined: by any. */
export const AllowedHosts = Context.Reference<((header: string) => boolean) | undefined>("gateway/http/AllowedHosts", {
  defaultValue: () => undefined
})

const withPort = /^(?:\[([0-9a-f:.]{2,45})\]|([^:[\]]{1,255}))(?::\d{0,5})?$/
const rememberedHosts = 100

/** An IP literal leads nowhere else, and `localhost` is resolved by no name server. */
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

/** Whose pages may read answers; undefined: anybody's. */
export const AllowedOrigins = Context.Reference<ReadonlySet<string> | undefined>("gateway/http/AllowedOrigins", {
  defaultValue: () => undefined
})

const foreign = failure(
  421,
  "This engine does not go by the name in the Host header. It goes by localhost, any IP address, and the names in HOST and PUBLIC_URL."
)
const ambiguous = failure(400, "The length of the request is given more than once")
const unknownCoding = failure(501, "No transfer coding but chunked is understood")

interface Refused {
  readonly reply: Reply
  /** What follows on the connection is nothing to listen to. */
  readonly closes: boolean
}

export const refusedByHead = (req: uws.HttpRequest, isOurs: ((header: string) => boolean) | undefined): Refused | undefined => {
  const coding = req.getHeader("transfer-encoding")
  if (coding !== "" && coding.toLowerCase() !== "chunked") return { reply: unknownCoding, closes: true }
  if ((coding !== "" || req.getHeader("content-length") !== "") && framings(req) > 1) return { reply: ambiguous, closes: true }
  return isOurs === undefined || isOurs(req.getHeader("host")) ? undefined : { reply: foreign, closes: false }
}

/** `getHeader` knows only one of several lines. */
const framings = (req: uws.HttpRequest): number => {
  let count = 0
  req.forEach((name) => {
    if (name === "content-length" || name === "transfer-encoding") count++
  })
  return count
}
