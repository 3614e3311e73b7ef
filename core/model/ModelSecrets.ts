/**
 * The API keys of other services, which clients put into agents and configurations. Clients read them masked, and a mask that a client sends
 * back stands for the stored key, unless the provider beside it has changed: the new one must not get the key.
 */
import { mask } from "#core/provider/Credential.ts"
import { isObject, type JsonObject, withItems, withMembers } from "#core/Json.ts"
import { mostProblems } from "#core/Problem.ts"

const secretName = /(^|_)((api|access|secret|private|service|subscription)_?keys?|secrets?|passwords?|passphrase|token|credentials)$/
const providerName = /(^|_)provider$/
const addressName = /(^|_)(url|uri|endpoint|host|api_base)$/
/** A name may be of any length, but only this many characters at its start and end are examined. */
const longestWord = 64
/** The last letters of all names that match one of the patterns, to reject most others without them. */
const meaningfulEnd = /[sydnetrli]$/i
const snake = (name: string): string =>
  /[A-Z]/.test(name) ? name.replaceAll(/([a-z\d])(?=[A-Z])/g, "$1_").toLowerCase() : name.toLowerCase()

/** The meaning of a member name, read from its end. */
interface Meaning {
  readonly isSecret: boolean
  /** Whose provider it names. `""`: that of all secrets beside it. `qa`, from `qa_provider`: that of secrets whose names begin with `qa_`. */
  readonly providerOf: string | undefined
  /** The name is that of a URL or host that secrets are sent to. */
  readonly isAddress: boolean
}

// Cached, because the same few names recur at every node of every graph, and every time a graph is checked.
const meanings = new Map<string, Meaning>()
const meaningsKept = 20_000

const nothing: Meaning = { isSecret: false, providerOf: undefined, isAddress: false }

/** Returns `qa` for `qa_api_key`. */
const firstWordOf = (name: string): string => snake(name.slice(0, longestWord)).split("_", 1)[0] ?? ""

const meaningOf = (name: string): Meaning => {
  if (!meaningfulEnd.test(name.slice(-1))) return nothing
  const known = meanings.get(name)
  if (known !== undefined) return known
  const end = snake(name.slice(-longestWord))
  const providerOf = providerName.test(end) ? (end === "provider" ? "" : firstWordOf(name)) : undefined
  const meaning = { isSecret: secretName.test(end), providerOf, isAddress: addressName.test(end) }
  if (name.length > longestWord) return meaning
  if (meanings.size >= meaningsKept) meanings.clear()
  meanings.set(name, meaning)
  return meaning
}
export const isSecret = (name: string): boolean => meaningOf(name).isSecret
export const isAddressName = (name: string): boolean => meaningOf(name).isAddress

/** A placeholder that is filled in during a call is no secret, and an editor must be able to change it. */
export const isPlaceholder = (text: string): boolean => /^\s*\{\{[^{}]*\}\}\s*$/.test(text)
const maskOf = (value: string | number): string => (isPlaceholder(String(value)) ? String(value) : mask(String(value)))
const isHidden = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number"

/** The content as a client may read it. */
export const masked = (content: JsonObject): JsonObject =>
  withMembers(content, (name, value) => (isSecret(name) ? maskedSecret(value) : maskedPart(value)))

const maskedPart = (value: unknown): unknown => {
  if (Array.isArray(value)) return withItems(value, maskedPart)
  return isObject(value) ? masked(value) : value
}

/** A list holds several keys used in turn. Everything inside a secret is secret. */
const maskedSecret = (value: unknown): unknown => {
  if (isHidden(value)) return maskOf(value)
  if (Array.isArray(value)) return value.map(maskedSecret)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, maskedSecret(part)])) : value
}

const own = (stored: JsonObject, name: string): unknown => (Object.hasOwn(stored, name) ? stored[name] : undefined)

/** Clients that change something else omit the provider or send null. */
export const isNamed = (value: unknown): boolean => value !== undefined && value !== null

/** Whose provider or address has changed, in terms of `providerOf`. */
const changedProviders = (sent: JsonObject, stored: JsonObject): ReadonlySet<string> => {
  const changed = new Set<string>()
  let owners: ReadonlySet<string> | undefined
  for (const name of Object.keys(sent)) {
    const { isAddress, providerOf } = meaningOf(name)
    if ((providerOf === undefined && !isAddress) || !isNamed(sent[name]) || sent[name] === own(stored, name)) continue
    // The address belongs to the secrets that share its first word, or else to all secrets beside it.
    owners ??= secretOwners(stored)
    const firstWord = firstWordOf(name)
    changed.add(providerOf ?? (owners.has(firstWord) ? firstWord : ""))
  }
  return changed
}

const secretOwners = (stored: JsonObject): ReadonlySet<string> => new Set(Object.keys(stored).filter(isSecret).map(firstWordOf))

/** Whether `sent` names another provider or address than `stored`. */
export const isAnothers = (sent: JsonObject, stored: JsonObject): boolean => changedProviders(sent, stored).size > 0

/** What a client sent, with each mask replaced by the stored value at the same place, unless the provider has changed. */
export const unmasked = (sent: JsonObject, stored: JsonObject): JsonObject => restored(sent, stored, changedProviders)

/** `changes` returns whose secrets to withhold. */
const restored = (sent: JsonObject, stored: JsonObject, changes: typeof changedProviders): JsonObject => {
  if (Object.keys(stored).length === 0) return sent
  const others = changes(sent, stored)
  const isOthers = (name: string): boolean => others.size > 0 && (others.has("") || others.has(firstWordOf(name)))
  return withMembers(sent, (name, value) => {
    if (typeof value === "boolean" || value === null) return value
    const before = isOthers(name) ? undefined : own(stored, name)
    return isSecret(name) ? restoredSecret(value, before) : restoredPart(value, before, changes)
  })
}

const restoredPart = (sent: unknown, stored: unknown, changes: typeof changedProviders): unknown => {
  if (Array.isArray(sent)) {
    if (!Array.isArray(stored)) return sent
    const before = sameIn(stored)
    return withItems(sent, (part, index) => restoredPart(part, before(part, index), changes))
  }
  return isObject(sent) && isObject(stored) ? restored(sent, stored, changes) : sent
}

/** Nodes may have been reordered, so an element with an id is matched by its id. */
const sameIn = (stored: ReadonlyArray<unknown>) => {
  const byId = new Map<unknown, unknown>()
  for (const one of stored) if (isObject(one) && !byId.has(one["id"])) byId.set(one["id"], one)
  return (part: unknown, index: number): unknown => {
    const id = isObject(part) ? part["id"] : undefined
    return id === undefined ? stored[index] : byId.get(id)
  }
}

const restoredSecret = (sent: unknown, stored: unknown): unknown => {
  if (isObject(sent)) {
    const before = isObject(stored) ? stored : {}
    return Object.fromEntries(Object.entries(sent).map(([name, part]) => [name, restoredSecret(part, own(before, name))]))
  }
  const hidden = Map.groupBy((Array.isArray(stored) ? stored : [stored]).filter(isHidden).toReversed(), maskOf)
  // Two keys may have the same mask, so each stored key is used once, in order.
  const restoredOne = (shown: unknown) => (typeof shown === "string" ? hidden.get(shown)?.pop() : undefined) ?? shown
  if (!Array.isArray(sent)) return restoredOne(sent)
  const before = Array.isArray(stored) ? stored : []
  return sent.map((one: unknown, index) => (typeof one === "string" ? restoredOne(one) : restoredSecret(one, before[index])))
}

type Place = ReadonlyArray<string | number>

/** A secret that is still a mask. */
interface Masked {
  readonly name: string
  /** The path from the root of the content to the secret. */
  readonly path: Place
}

/** The first hundred secrets that are still masks: there is no stored value for them, or it is another provider's. */
export const stillMasked = (content: JsonObject): ReadonlyArray<Masked> => maskedIn(content, () => true)

/** Only masks whose path satisfies `counts`. */
const maskedIn = (content: JsonObject, counts: (path: Place) => boolean): ReadonlyArray<Masked> => {
  const found: Array<Masked> = []
  const at: Array<string | number> = []
  const look = (name: string | number, value: unknown): void => {
    at.push(name)
    if (typeof name === "number" || !isSecret(name)) lookWithin(value)
    else if (looksMasked(value) && counts(at)) found.push({ name, path: [...at] })
    at.pop()
  }
  const lookWithin = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    const isList = Array.isArray(value)
    for (const name of Object.keys(value)) {
      if (found.length >= mostProblems) return
      look(isList ? Number(name) : name, Reflect.get(value, name))
    }
  }
  lookWithin(content)
  return found
}

const looksMasked = (value: unknown): boolean => {
  if (typeof value === "string") return value.includes("***") || /^\*+[^*]{0,4}$/.test(value)
  return typeof value === "object" && value !== null && Object.values(value).some(looksMasked)
}

/** Like `unmasked`, and also returns the masks of stored secrets that were withheld from another provider. */
export const drawnFrom = (
  sent: JsonObject,
  stored: JsonObject
): { readonly content: JsonObject; readonly keptBack: ReadonlyArray<Masked> } => {
  const content = unmasked(sent, stored)
  if (stillMasked(content).length === 0) return { content, keptBack: [] }
  const nothing: ReadonlySet<string> = new Set()
  const anyway = restored(sent, stored, () => nothing)
  return { content, keptBack: maskedIn(content, (path) => !looksMasked(valueAt(anyway, path))) }
}

const valueAt = (content: unknown, path: Place): unknown =>
  path.reduce<unknown>((part, name) => (typeof part === "object" && part !== null ? Reflect.get(part, name) : undefined), content)

export const maskedMessage = (secret: string): string =>
  `The ${secret} appears to be masked. Please provide the actual value, not the masked value.`
