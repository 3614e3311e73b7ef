/** Checks answers against our own OpenAPI document with a third-party validator. What is not documented is not allowed. */
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type OpenApi, openApiOf } from "#gateway/openapi/openapi.ts"
import type { Route } from "#gateway/request/Route.ts"
import type { Answer } from "./gatewayTest.ts"

/** Returns undefined if the answer is as documented. */
export type Judge = (method: string, path: string, answer: Answer) => string | undefined

type Json = { readonly [Name in string]?: unknown }
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Objects with declared properties get no others. */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed)
  if (!isJson(value)) return value
  const parts = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closed(part)]))
  const isOpen =
    value["type"] !== "object" || !isJson(value["properties"]) || "additionalProperties" in value || "patternProperties" in value
  return isOpen ? parts : { ...parts, additionalProperties: false }
}

const segmentsOf = (path: string): ReadonlyArray<string> => path.split("/")
const matches = (wanted: ReadonlyArray<string>, given: ReadonlyArray<string>): boolean =>
  wanted.length === given.length && wanted.every((segment, at) => (segment.startsWith("{") ? given[at] !== "" : segment === given[at]))
/** Sorts first, of two matching paths, the one that has a word where the other has a parameter. */
const byPrecision = (one: string, other: string): number => {
  const mark = (path: string) =>
    segmentsOf(path)
      .map((segment) => (segment.startsWith("{") ? "1" : "0"))
      .join("")
  return mark(one) < mark(other) ? -1 : 1
}
const escaped = (part: string): string => part.replaceAll("~", "~0").replaceAll("/", "~1")

const json = "application/json"
/** The pointer to the schema of an answer in the document. */
const schemaAt = (pattern: string, name: string, status: string): string =>
  ["paths", pattern, name, "responses", status, "content", json, "schema"].map((part) => `/${escaped(part)}`).join("")

const require = createRequire(import.meta.url)
const cache = fileURLToPath(new URL("../../node_modules/.cache/validators", import.meta.url))
const hash = (...texts: ReadonlyArray<string>): string => createHash("sha1").update(texts.join("\0")).digest("hex").slice(0, 20)
/** This file determines how schemas are compiled, so it is part of the cache's key. */
const own = readFileSync(fileURLToPath(import.meta.url), "utf8")

/** Loaded only if something must be compiled. The casts hold because each is the type of the module that is loaded. */
const ajvOf = (schema: Json) => {
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js")
  const standaloneCode = require("ajv/dist/standalone") as typeof import("ajv/dist/standalone/index.js")
  const formats = require("ajv-formats") as typeof import("ajv-formats")
  const ajv: Ajv2020 = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, code: { source: true } })
  formats.default(ajv)
  ajv.addFormat("binary", true)
  ajv.addSchema({ $id: "api", ...schema })
  return (pointer: string) => {
    const validate = ajv.compile({ $ref: `api#${pointer}` })
    return { source: standaloneCode.default(ajv, validate), validate }
  }
}

/** Compiles a part of the document, or loads what another process has compiled from the same document, which saves most of a second each time. */
const compilerOf = ({ components, paths }: Pick<OpenApi, "components" | "paths">): ((pointer: string) => ValidateFunction) => {
  const folder = join(cache, hash(own, JSON.stringify({ components, paths })))
  let compiler: ReturnType<typeof ajvOf> | undefined
  return (pointer) => {
    const kept = join(folder, `${hash(pointer)}.cjs`)
    try {
      return require(kept)
    } catch {
      compiler ??= ajvOf({ components: closed(components), paths: closed(paths) })
      const compiled = compiler(pointer)
      // Written under another name first, because other processes may read it.
      const draft = `${kept}.${process.pid}`
      mkdirSync(folder, { recursive: true })
      writeFileSync(draft, compiled.source)
      renameSync(draft, kept)
      return compiled.validate
    }
  }
}

/**
 * `ready`: tags of operations whose answers are judged without delay from the first one on. For others, the first takes up to a tenth of a
 * second.
 */
export const judgeOf = (routes: ReadonlyArray<Route<unknown>>, ready: ReadonlyArray<string> = []): Judge => {
  const document = openApiOf(routes, "0.0.0")
  const compile = compilerOf(document)
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = (pointer: string): ValidateFunction => {
    const found = validators.get(pointer)
    if (found !== undefined) return found
    const compiled = compile(pointer)
    validators.set(pointer, compiled)
    return compiled
  }
  for (const [pattern, operations] of Object.entries(document.paths)) {
    for (const [name, { responses, tags }] of Object.entries(operations)) {
      if (tags.some((tag) => ready.includes(tag)) && responses["200"]?.content?.[json] !== undefined) {
        validatorOf(schemaAt(pattern, name, "200"))
      }
    }
  }
  const paths = Object.keys(document.paths)
    .sort(byPrecision)
    .map((pattern) => ({ pattern, segments: segmentsOf(pattern) }))
  return (method, path, answer) => {
    const [plain = path] = path.split("?")
    const name = method === "HEAD" ? "get" : method.toLowerCase()
    const given = segmentsOf(plain)
    const found = paths.find(({ pattern, segments }) => matches(segments, given) && document.paths[pattern]?.[name] !== undefined)
    // A browser's preflight.
    if (found === undefined && method === "OPTIONS" && answer.status === 200) return undefined
    if (found === undefined) return strayFault(validatorOf("/components/schemas/Error"), answer)
    return faultAt(document, validatorOf, { pattern: found.pattern, name, isHead: method === "HEAD" }, answer)
  }
}

const strayStatuses = [307, 404, 405]
const strayFault = (isError: ValidateFunction, answer: Answer): string | undefined => {
  if (!strayStatuses.includes(answer.status)) return `nobody takes it, and the status is ${answer.status}`
  return answer.text === "" || isError(answer.json) ? undefined : "its error has another shape"
}

interface Place {
  readonly pattern: string
  readonly name: string
  readonly isHead: boolean
}

const faultAt = (
  document: OpenApi,
  validatorOf: (pointer: string) => ValidateFunction,
  { isHead, name, pattern }: Place,
  answer: Answer
): string | undefined => {
  const documented = document.paths[pattern]?.[name]?.responses[answer.status]
  if (documented === undefined) return `${name} ${pattern} does not document ${answer.status}`
  if (answer.headers["link"] !== undefined && documented.headers?.["Link"] === undefined)
    return `${name} ${pattern} does not document a Link for ${answer.status}`
  if (isHead || documented.content === undefined) return undefined
  const [type = ""] = String(answer.headers["content-type"]).split(";")
  if (!(type in documented.content)) return `${name} ${pattern} does not document ${type} for ${answer.status}`
  if (type !== json) return undefined
  const validate = validatorOf(schemaAt(pattern, name, String(answer.status)))
  return validate(answer.json) ? undefined : `${name} ${pattern} ${answer.status}: ${JSON.stringify(validate.errors?.slice(0, 3))}`
}
