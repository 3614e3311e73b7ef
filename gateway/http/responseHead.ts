/** The status and headers of an answer. */
import { STATUS_CODES } from "node:http"
import { jsonHeaders, type Reply } from "./Endpoint.ts"

interface Written {
  writeStatus(status: string): unknown
  writeHeader(name: string, value: string): unknown
}

/** Without `access-control-allow-credentials`, no page can send a browser's own credentials along. */
const commonHeaders: ReadonlyArray<readonly [string, string]> = [
  ["access-control-expose-headers", "x-request-id, content-disposition, link"],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["cache-control", "no-store"]
]
const linesOf = (headers: Reply["headers"]): string => headers.map(([name, value]) => `\r\n${name}: ${value}`).join("")
const commonLines = linesOf(commonHeaders)
/** JSON is not shown in frames and has no links to follow, so it goes without those two headers. */
const jsonLines = linesOf([...jsonHeaders, ...commonHeaders.filter(([name]) => name !== "x-frame-options" && name !== "referrer-policy")])

/** `origin`: that of the page which sent the request; empty without one. */
export type HeadWriter = (res: Written, id: string, reply: Reply, origin: string) => void

const anyOrigin = linesOf([["access-control-allow-origin", "*"]])
const noOrigin = linesOf([["vary", "origin"]])

/** `origins`: those whose pages may read answers; undefined: any. */
export const headWriterFor = (origins: ReadonlySet<string> | undefined): HeadWriter => {
  const readerLines = (origin: string): string => {
    if (origins === undefined) return anyOrigin
    return origins.has(origin) ? `${noOrigin}${linesOf([["access-control-allow-origin", origin]])}` : noOrigin
  }
  // All headers are written as further lines of the first one: each call into uWebSockets costs as much as a whole route.
  return (res, id, { headers, status }, origin) => {
    if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status] ?? ""}`)
    res.writeHeader("x-request-id", id + readerLines(origin) + (headers === jsonHeaders ? jsonLines : linesOf(headers) + commonLines))
  }
}
