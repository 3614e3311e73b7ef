/** The status and headers of an answer. */
import { STATUS_CODES } from "node:http"
import { jsonHeaders, type Reply } from "./Endpoint.ts"

interface Written {
  writeStatus(status: string): unknown
  writeHeader(name: string, value: string): unknown
}

/** Any origin may read answers, none may send a browser's own credentials along. */
const commonHeaders: ReadonlyArray<readonly [string, string]> = [
  ["access-control-allow-origin", "*"],
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

// All headers go out as further lines of the first: each call into the server costs as much as a whole route does.
export const writeHead = (res: Written, id: string, { headers, status }: Reply): void => {
  if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status] ?? ""}`)
  res.writeHeader("x-request-id", id + (headers === jsonHeaders ? jsonLines : linesOf(headers) + commonLines))
}
