/** A tool that calls another service: the request, built from values of the model, the contact and the conversation, and the model's result. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { parseJson } from "#core/parseJson.ts"
import type { ModelTool } from "#core/model/LanguageModel.ts"
import { render, renderTypedJson } from "#core/agent/Template.ts"
import { type Headers, isSendable, oneLine } from "#core/webhook/RequestHeaders.ts"
import { renderUrl } from "./UrlTemplate.ts"

export interface HttpToolRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** JSON. */
  readonly body: string | undefined
  readonly credentialUuid: string | undefined
  readonly timeoutMillis: number
}

/** What the call knows besides the model's arguments. */
interface ToolContext {
  readonly initial: JsonObject
  readonly gathered: JsonObject
}

const parameterTypes = ["string", "number", "boolean", "object", "array"]
const bodyMethods = ["POST", "PUT", "PATCH"]
const longestBody = 65_536
const longestResult = 8000
const defaultTimeoutMillis = 5000
/** The callee is waiting on the line. */
const longestTimeoutMillis = 30_000

const rowsOf = (rows: unknown): ReadonlyArray<JsonObject> => (Array.isArray(rows) ? rows.filter(isObject) : [])
const nameOf = (row: JsonObject): string => (typeof row["name"] === "string" ? row["name"] : "")
const typeOf = (row: JsonObject): string => parameterTypes.find((type) => type === row["type"]) ?? "string"

/** The JSON Schema of what the model provides. */
export const parametersOf = (config: JsonObject): ModelTool["parameters"] => {
  const rows = rowsOf(config["parameters"]).filter((row) => nameOf(row) !== "")
  return {
    type: "object",
    properties: Object.fromEntries(
      rows.map((row) => [nameOf(row), { type: typeOf(row), description: typeof row["description"] === "string" ? row["description"] : "" }])
    ),
    required: rows.filter((row) => row["required"] !== false).map(nameOf)
  }
}

/** `error` is passed to the model. */
export const httpRequestOf = (
  config: JsonObject,
  given: JsonObject,
  context: ToolContext,
  now: number
): { readonly request: HttpToolRequest } | { readonly error: string } => {
  const roots = { initial_context: context.initial, gathered_context: context.gathered }
  const presets = presetsOf(config, { ...context.initial, ...context.gathered, ...roots }, now)
  if ("error" in presets) return presets
  const named = Object.fromEntries(
    rowsOf(config["parameters"]).flatMap((row) => (Object.hasOwn(given, nameOf(row)) ? [[nameOf(row), given[nameOf(row)]]] : []))
  )
  const missing = rowsOf(config["parameters"]).filter((row) => row["required"] !== false && isAbsent(named[nameOf(row)]))
  if (missing.length > 0) return { error: `Missing arguments: ${missing.map(nameOf).join(", ")}` }
  const root = { ...presets.values, ...context.initial, ...context.gathered, ...named, ...roots }
  const target = renderUrl(typeof config["url"] === "string" ? config["url"] : "", root)
  if ("error" in target) return target
  return requestTo(target.url, config, { ...presets.values, ...named }, root, now)
}

const requestTo = (address: string, config: JsonObject, values: JsonObject, root: JsonObject, now: number) => {
  const method = typeof config["method"] === "string" ? config["method"].toUpperCase() : "POST"
  const hasBody = bodyMethods.includes(method)
  const template: unknown = config["body_template"] ?? undefined
  const payload = hasBody && template !== undefined ? renderTypedJson(template, root, now, longestBody) : { value: values }
  const body = hasBody && payload !== undefined ? JSON.stringify(payload.value) : undefined
  if (payload === undefined || (body?.length ?? 0) > longestBody) return { error: "The request is too large" }
  const timeout = config["timeout_ms"]
  const credential = config["credential_uuid"]
  return {
    request: {
      method,
      url: hasBody ? address : withQuery(address, values),
      headers: [...headersOf(config["headers"]), ...(hasBody ? [["Content-Type", "application/json"] as const] : [])],
      body,
      credentialUuid: typeof credential === "string" && credential !== "" ? credential : undefined,
      timeoutMillis: typeof timeout === "number" && timeout >= 1 ? Math.min(timeout, longestTimeoutMillis) : defaultTimeoutMillis
    }
  }
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const withQuery = (address: string, values: JsonObject): string => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(values)) {
    if (!isAbsent(value)) url.searchParams.set(name, typeof value === "object" ? JSON.stringify(value) : String(value))
  }
  return url.href
}

const headersOf = (given: unknown): Headers =>
  isObject(given)
    ? Object.entries(given).flatMap(([name, value]) =>
        typeof value === "string" && isSendable(name) && name.toLowerCase() !== "content-type" ? [[name, oneLine(value)] as const] : []
      )
    : []

const presetsOf = (config: JsonObject, root: JsonObject, now: number): { readonly values: JsonObject } | { readonly error: string } => {
  const values: Array<readonly [string, unknown]> = []
  for (const row of rowsOf(config["preset_parameters"])) {
    const template = row["value_template"]
    const text = typeof template === "string" ? render(template, root, now) : ""
    const value = typed(text, typeOf(row))
    if (value !== undefined) values.push([nameOf(row), value])
    else if (row["required"] !== false) return { error: `There is no usable value for ${nameOf(row)}` }
  }
  return { values: Object.fromEntries(values) }
}

/** Undefined: the text is empty, or not a value of that type. */
const typed = (text: string, type: string): unknown => {
  if (text.trim() === "") return undefined
  if (type === "string") return text
  const value = parseJson(text)
  if (type === "object") return isObject(value) ? value : undefined
  if (type === "array") return Array.isArray(value) ? value : undefined
  return typeof value === type ? value : undefined
}

/** The response as the model sees it. The model decides what an error status means. */
export const resultOf = (status: number, body: string): JsonObject => {
  const answered = { status: "success", status_code: status }
  if (body.trim() === "") return { ...answered, data: "", note: "The answer is empty." }
  if (body.length > longestResult)
    return { ...answered, data: body.slice(0, longestResult), note: "The answer is longer; this is its beginning." }
  const data = parseJson(body)
  return data === undefined ? { ...answered, data: body, note: "The answer is no JSON." } : { ...answered, data }
}
