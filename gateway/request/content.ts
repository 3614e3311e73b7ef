/** Answers with pages and files. A file can be requested in part, as audio players do. */
import { Stream } from "effect"
import { type Asked, failure, type Reply } from "#gateway/http/Endpoint.ts"
import { Lasting, takesGzip } from "./Lasting.ts"
import type { Content } from "./Route.ts"

/** `asked`: the request's headers, by lower-case name. */
export const contentReply = (content: Content, asked: Asked["headers"]): Reply => {
  const headers = [["content-type", content.mediaType] as const, ...(content.headers ?? []), ...disposition(content)]
  const { body } = content
  if (typeof body === "string") return { status: 200, headers, body }
  if (body instanceof Lasting) return lastingReply(body, headers, takesGzip(asked["accept-encoding"]))
  if (Stream.isStream(body)) return { status: 200, headers, body: { bytes: undefined, stream: body, ...endlessOf(content) } }
  const { range } = asked
  const part = range === undefined ? undefined : partOf(range, body.bytes)
  if (part === "unsatisfiable") {
    const reply = failure(416, "The requested range is not satisfiable")
    return { ...reply, headers: [...reply.headers, ["content-range", `bytes */${body.bytes}`]] }
  }
  const { from, until } = part ?? { from: 0, until: body.bytes }
  return {
    status: part === undefined ? 200 : 206,
    headers: [
      ...headers,
      ["accept-ranges", "bytes"],
      ...(part === undefined ? [] : [["content-range", `bytes ${from}-${until - 1}/${body.bytes}`] as const])
    ],
    body: { bytes: until - from, stream: body.read(from, until) }
  }
}

const lastingReply = ({ gzipped, plain }: Lasting, headers: Reply["headers"], isCompressed: boolean): Reply => ({
  status: 200,
  headers: [...headers, ["vary", "accept-encoding"], ...(isCompressed ? [["content-encoding", "gzip"] as const] : [])],
  body: isCompressed ? gzipped : plain
})

const endlessOf = ({ endless }: Content) => (endless === undefined ? {} : { endless })

const disposition = ({ fileName }: Content): ReadonlyArray<readonly [string, string]> =>
  fileName === undefined ? [] : [["content-disposition", `attachment; filename="${fileName.replace(/[^A-Za-z0-9._-]/g, "_")}"`]]

const singleRange = /^bytes=(\d{1,15})?-(\d{1,15})?$/

/** Undefined: the whole file, which is also the answer to a range that we do not understand. */
const partOf = (range: string, bytes: number): { readonly from: number; readonly until: number } | "unsatisfiable" | undefined => {
  const [whole, first, last] = singleRange.exec(range) ?? []
  if (whole === undefined || (first === undefined && last === undefined)) return undefined
  const from = first === undefined ? Math.max(0, bytes - Number(last)) : Number(first)
  const until = first === undefined || last === undefined ? bytes : Math.min(bytes, Number(last) + 1)
  return from < until ? { from, until } : "unsatisfiable"
}
