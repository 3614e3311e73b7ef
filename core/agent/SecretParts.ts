/** Takes the secrets out of a JSON document, leaving a null in place of each, and puts them back. */
import { isSecretName } from "#core/credential/secretHeader.ts"
import { isObject, type JsonObject, withItems, withMembers } from "#core/Json.ts"
import { isPlaceholder, isSecret } from "#core/model/ModelSecrets.ts"

export interface SecretPart {
  /** The path from the document's root. */
  readonly at: ReadonlyArray<string | number>
  readonly value: unknown
}

interface TakenApart<Document> {
  readonly rest: Document
  readonly secrets: ReadonlyArray<SecretPart>
}

/** A longer text is not treated as a URL. */
const longestAddress = 8192
const keyParameters = ["key", "sig", "signature", "auth", "code"]

/** Whether a text is a URL with a password, or with a query parameter that names a secret. */
const isSecretAddress = (text: string): boolean => {
  if (text.length > longestAddress || !/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(text)) return false
  if (/^[^/?#]*:\/\/[^/?#\s]*@/.test(text.trimStart())) return true
  return [...text.matchAll(/[?&]([^?=&#\s]+)=[^&#\s]/g)].some(
    ([, name = ""]) => isSecret(name) || isSecretName(name) || keyParameters.includes(name.toLowerCase())
  )
}

/** Placeholders that are filled in during a call are no secrets, and neither are booleans. */
const isWorthHiding = (value: unknown): boolean => {
  if (typeof value === "string") return value !== "" && !isPlaceholder(value)
  return typeof value === "number" || (typeof value === "object" && value !== null && Object.keys(value).length > 0)
}

/** Whether a list row, `{key, value}` or `{name, value}`, holds a secret header; headers in an object go by their member name. */
const isSecretRow = (part: JsonObject): boolean =>
  [part["key"], part["name"]].some((name) => typeof name === "string" && (isSecretName(name) || isSecret(name)))
const isHeaders = (name: string | number | undefined): boolean => typeof name === "string" && /headers$/i.test(name)

export const takenApart = <Document extends JsonObject>(document: Document): TakenApart<Document> => {
  const secrets: Array<SecretPart> = []
  const at: Array<string | number> = []
  const taken = (value: unknown): null => {
    secrets.push({ at: [...at], value })
    return null
  }
  const isTaken = (name: string, value: unknown, within: JsonObject, isHeader: boolean): boolean =>
    isWorthHiding(value) &&
    (isSecret(name) || (name === "value" && isSecretRow(within)) || (isHeader && typeof value === "string" && isSecretName(name)))
  const without = (value: unknown): unknown => {
    if (typeof value === "string") return isSecretAddress(value) ? taken(value) : value
    if (Array.isArray(value)) return withItems(value, (one, index) => below(index, () => without(one)))
    if (!isObject(value)) return value
    const isHeader = isHeaders(at.at(-1))
    return withMembers(value, (name, part) => below(name, () => (isTaken(name, part, value, isHeader) ? taken(part) : without(part))))
  }
  const below = (name: string | number, part: () => unknown): unknown => {
    at.push(name)
    const rest = part()
    at.pop()
    return rest
  }
  // The cast holds because the members stay, and a null replaces only values that are not known to be more than JSON.
  return { rest: without(document) as Document, secrets }
}

/** A part in its stored form. The common prefix with the previous part's path is stored once, because a name may be as long as the document. */
export interface WrittenPart extends SecretPart {
  /** How many elements of the previous part's path come first; undefined: none. */
  readonly same?: number
}

export const written = (secrets: ReadonlyArray<SecretPart>): ReadonlyArray<WrittenPart> =>
  secrets.map(({ at, value }, index) => {
    const before = secrets[index - 1]?.at ?? []
    const differs = at.findIndex((name, depth) => name !== before[depth])
    const same = differs === -1 ? at.length : differs
    return same === 0 ? { at, value } : { same, at: at.slice(same), value }
  })

export const unwritten = (parts: ReadonlyArray<WrittenPart>): ReadonlyArray<SecretPart> => {
  let before: SecretPart["at"] = []
  return parts.map(({ at, same = 0, value }) => {
    before = [...before.slice(0, same), ...at]
    return { at: before, value }
  })
}

/** Writes into `rest`, so the caller must own it. */
export const putTogether = <Document>(rest: Document, secrets: ReadonlyArray<SecretPart>): Document => {
  for (const { at, value } of secrets) {
    const parent = at.slice(0, -1).reduce<unknown>((part, name) => (part instanceof Object ? Reflect.get(part, name) : undefined), rest)
    const last = at.at(-1)
    if (parent instanceof Object && last !== undefined)
      Object.defineProperty(parent, last, { value, configurable: true, enumerable: true, writable: true })
  }
  return rest
}
