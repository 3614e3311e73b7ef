/** Answers requests that match no endpoint: the path is unknown, has no such method, or differs in its trailing slash. */
import { failure, type Method, type Reply } from "./Endpoint.ts"

export interface Place {
  readonly method: Method
  readonly path: string
}

type Stray =
  | { readonly _tag: "NotFound" }
  | { readonly _tag: "OtherMethod"; readonly allow: string }
  /** `path`: the path as it is declared. */
  | { readonly _tag: "OtherSpelling"; readonly path: string }

const segmentsOf = (path: string): ReadonlyArray<string> => path.split("/")

const matches = (pattern: ReadonlyArray<string>, path: ReadonlyArray<string>): boolean =>
  pattern.length === path.length && pattern.every((segment, at) => (segment.startsWith(":") ? path[at] !== "" : segment === path[at]))

/** Routes of the existing product that we do not have, but whose paths match one of ours with a parameter in place of a word. */
const absent: ReadonlyArray<Place> = [{ method: "post", path: "/api/v1/workflow-recordings/transcribe" }]
const isAbsent = (method: string, path: string): boolean => absent.some((place) => place.method === method && place.path === path)

/** `method` is in lower case. */
export const straysOf = (places: ReadonlyArray<Place>): ((method: string, path: string) => Stray) => {
  const patterns = places.map(({ method, path }) => ({ method, segments: segmentsOf(path) }))
  const methodsAt = (path: string): ReadonlyArray<Method> => {
    const segments = segmentsOf(path)
    return patterns.filter((pattern) => matches(pattern.segments, segments)).map(({ method }) => method)
  }
  return (method, path) => {
    if (isAbsent(method, path)) return { _tag: "NotFound" }
    const methods = methodsAt(path)
    if (methods.length > 0) return { _tag: "OtherMethod", allow: allowOf(methods) }
    const other = path.endsWith("/") ? path.slice(0, -1) : `${path}/`
    return methodsAt(other).length > 0 ? { _tag: "OtherSpelling", path: other } : { _tag: "NotFound" }
  }
}

/** Every GET route also answers HEAD. */
const allowOf = (methods: ReadonlyArray<Method>): string =>
  [...new Set(methods.flatMap((method) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()])))].sort().join(", ")

const preflightSeconds = 600

interface StrayRequest {
  /** In lower case. */
  readonly method: string
  readonly path: string
  readonly query: string
  /** The headers that a browser wants to send: `Access-Control-Request-Headers`. */
  readonly wanted: string
}

/** Unless a browser's preflight succeeds, the page sees a failed fetch and not even our 404: preflights of unknown paths succeed too. */
const isPreflight = ({ method, path }: StrayRequest): boolean => method === "options" && path.startsWith(apiPath)
const apiPath = "/api/v1/"
const anyMethod = "DELETE, GET, HEAD, PATCH, POST, PUT"

export const strayReply = (stray: Stray, request: StrayRequest): Reply => {
  const { method, query, wanted } = request
  if (stray._tag !== "OtherMethod" && isPreflight(request)) return preflight(anyMethod, wanted)
  if (stray._tag === "NotFound") return failure(404, "Not Found")
  if (stray._tag === "OtherSpelling") {
    return withHeader(failure(307, "Temporary Redirect"), "location", query === "" ? stray.path : `${stray.path}?${query}`)
  }
  if (method === "options") return preflight(stray.allow, wanted)
  return withHeader(failure(405, "Method Not Allowed"), "allow", stray.allow)
}

const withHeader = (reply: Reply, name: string, value: string): Reply => ({ ...reply, headers: [...reply.headers, [name, value]] })

/** With a body, because only the body of an answer shows whether the client takes it: see `Answers`. */
const preflight = (allow: string, wanted: string): Reply => ({
  status: 200,
  headers: [
    ["content-type", "text/plain"],
    ["allow", allow],
    ["access-control-allow-methods", allow],
    ["access-control-max-age", String(preflightSeconds)],
    ...(wanted === "" ? [] : [["access-control-allow-headers", wanted] as const])
  ],
  body: "OK"
})
