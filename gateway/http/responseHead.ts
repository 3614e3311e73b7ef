/** The status and headers of an answer. */
import { STATUS_CODES } from "node:http"
import { jsonHeaders, type Reply } from "./Endpoint.ts"

interface Written {
  writeStatus(status: string): unknown
  writeHeader(name: string, value: string): unknown
}

/** No origin may send a browser's own credentials along. */
const commonHeaders: ReadonlyArray<readonly [string, string]> = [
  ["access-control-expose-headers", "x-request-id, content-disposition, link"],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["cache-control", "no-store"]
]
const linesOf = (headers: Reply["headers"]): string => headers.map(([name, value]) => `\r\n${name}: ${value}`).join("")
const commonLines = linesOf(commonHeaders)
/** Of JSON, which nobody shows in a frame, and from which no link leads on. */
const jsonLines = linesOf([...jsonHeaders, ...commonHeaders.filter(([name]) => name !== "x-frame-options" && name !== "referrer-policy")])

/** `origin`: of the page that asks; empty without one. */
export type HeadWriter = (res: Written, id: string, reply: Reply, origin: string) => void

const anyOrigin = linesOf([["access-control-allow-origin", "*"]])
const noOrigin = linesOf([["vary", "origin"]])

/** `origins`: whose pages may read answers; undefined: anybody's. */
export const headWriterFor = (origins: ReadonlySet<string> | undefined): HeadWriter => {
  const readerLines = (origin: string): string => {
    if (origins === undefined) return anyOrigin
    return origins.has(origin) ? `${noOrigin}${linesOf([["access-control-allow-origin", origin]])}` : noOrigin
  }
  // All headers go out as further lines of the first: each call into the server costs as much as a whole route does.
  return (res, id, { headers, status }, origin) => {
    if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status] ?? ""}`)
    res.writeHeader("x-request-id", id + readerLines(origin) + (headers === jsonHeaders ? jsonLines : linesOf(headers) + commonLines))
  }
}
