/** A webhook node as read from a definition. The definitions of calls may never have been validated, so nothing is taken for granted. */
import { isObject, type JsonObject } from "#core/Json.ts"

export const webhookMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
export type WebhookMethod = (typeof webhookMethods)[number]

export interface WebhookNode {
  readonly id: string
  readonly name: string
  /** Undefined: unsupported method. */
  readonly method: WebhookMethod | undefined
  /** Used verbatim, not as a template. Empty when there is none. */
  readonly url: string
  readonly credentialUuid: string | undefined
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** A template: any JSON value. */
  readonly payload: unknown
}

const textIn = (part: JsonObject, name: string): string => {
  const value = part[name]
  return typeof value === "string" ? value : ""
}

const methodOf = (given: unknown): WebhookMethod | undefined =>
  given === undefined || given === null || given === "" ? "POST" : webhookMethods.find((method) => method === given)

const headersOf = (rows: unknown): WebhookNode["headers"] =>
  (Array.isArray(rows) ? rows : [])
    .filter(isObject)
    .map((row) => [textIn(row, "key").trim(), textIn(row, "value")] as const)
    .filter(([name, value]) => name !== "" && value !== "")

/** `node` is an element of a definition's nodes. */
export const webhookNodeOf = (node: unknown): WebhookNode | undefined => {
  if (!isObject(node) || node["type"] !== "webhook") return undefined
  const data = isObject(node["data"]) ? node["data"] : {}
  const credential = textIn(data, "credential_uuid").trim()
  return {
    id: textIn(node, "id"),
    name: textIn(data, "name"),
    method: methodOf(data["http_method"]),
    url: textIn(data, "endpoint_url").trim(),
    credentialUuid: credential === "" ? undefined : credential,
    headers: headersOf(data["custom_headers"]),
    payload: data["payload_template"] ?? {}
  }
}
