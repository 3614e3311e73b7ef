/** The secrets in a JSON document, taken out and put back. In the place of each stays a null. */
import { isSecretName } from "../event/NodeWebhookRequest.ts"
import { isObject, type JsonObject } from "./Agent.ts"
import { isPlaceholder, isSecret } from "./AgentSecrets.ts"

export interface SecretPart {
  /** From the document's root. */
  readonly at: ReadonlyArray<string | number>
  readonly value: unknown
}

export interface TakenApart<Document> {
  readonly rest: Document
  readonly secrets: ReadonlyArray<SecretPart>
}

/** Longer texts are no addresses. */
const longestAddress = 8192
const keyParameters = ["key", "sig", "signature", "auth", "code"]

/** An address with a password, or with a query that names a secret. */
const isSecretAddress = (text: string): boolean => {
  if (text.length > longestAddress || !/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(text)) return false
  if (/^[^/?#]*:\/\/[^/?#\s]*@/.test(text.trimStart())) return true
  return [...text.matchAll(/[?&]([^=&#\s]+)=[^&#\s]/g)].some(
    ([, name = ""]) => isSecret(name) || isSecretName(name) || keyParameters.includes(name.toLowerCase())
  )
}

/** What is filled in during a call hides nothing, and neither does a switch. */
const isWorthHiding = (value: unknown): boolean => {
  if (typeof value === "string") return value !== "" && !isPlaceholder(value)
  return typeof value === "number" || (typeof value === "object" && value !== null && Object.keys(value).length > 0)
}

/** A header stands in a list as `{key, value}` or `{name, value}`, or in an object by its name. */
const isSecretRow = (part: JsonObject): boolean =>
  [part["key"], part["name"]].some((name) => typeof name === "string" && (isSecretName(name) || isSecret(name)))
const isHeaders = (name: string | number | undefined): boolean => typeof name === "string" && /headers$/i.test(name)

export const takenApart = <Document extends JsonObject>(document: Document): TakenApart<Document> => {
  const secrets: Array<SecretPart> = []
  const isTaken = (name: string, value: unknown, within: JsonObject, at: SecretPart["at"]): boolean =>
    isWorthHiding(value) &&
    (isSecret(name) ||
      (name === "value" && isSecretRow(within)) ||
      (isHeaders(at.at(-1)) && typeof value === "string" && isSecretName(name)))
  const without = (value: unknown, at: SecretPart["at"]): unknown => {
    if (typeof value === "string" && isSecretAddress(value)) return taken(value, at)
    if (Array.isArray(value)) return value.map((one: unknown, index) => without(one, [...at, index]))
    if (!isObject(value)) return value
    const entries = Object.entries(value).map(([name, part]) => {
      const there = [...at, name]
      return [name, isTaken(name, part, value, at) ? taken(part, there) : without(part, there)]
    })
    return Object.fromEntries(entries)
  }
  const taken = (value: unknown, at: SecretPart["at"]): null => {
    secrets.push({ at, value })
    return null
  }
  // The same names, with nulls for texts and numbers of which nothing but JSON is known.
  return { rest: without(document, []) as Document, secrets }
}

/** Writes into `rest`, which must be the caller's alone, such as what was just read. */
export const putTogether = <Document>(rest: Document, secrets: ReadonlyArray<SecretPart>): Document => {
  for (const { at, value } of secrets) {
    const parent = at.slice(0, -1).reduce<unknown>((part, name) => (part instanceof Object ? Reflect.get(part, name) : undefined), rest)
    const last = at.at(-1)
    if (parent instanceof Object && last !== undefined)
      Object.defineProperty(parent, last, { value, configurable: true, enumerable: true, writable: true })
  }
  return rest
}
