/**
 * Keys of other services that clients put into agents and into an organization's configurations. They leave the engine masked, and a mask
 * that comes back stands for what it hides: unless it comes back beside another provider, who must not get the key.
 */
import { mask } from "../provider/Credential.ts"
import { isObject, type JsonObject } from "./Agent.ts"

const secretName = /(^|_)((api|access|secret|private|service|subscription)_?keys?|secrets?|passwords?|passphrase|token|credentials)$/
const snake = (name: string): string => name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
export const isSecret = (name: string): boolean => secretName.test(snake(name))

/** What is filled in during a call hides nothing, and an editor must be able to change it. */
const isPlaceholder = (text: string): boolean => /^\s*\{\{[^{}]*\}\}\s*$/.test(text)
const maskOf = (value: string | number): string => (isPlaceholder(String(value)) ? String(value) : mask(String(value)))
const isHidden = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number"

/** As a client may read it. */
export const masked = (content: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, isSecret(name) ? maskedSecret(value) : maskedPart(value)]))

const maskedPart = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskedPart)
  return isObject(value) ? masked(value) : value
}

/** Several keys, to take turns, stand in a list. Whatever is inside of a secret is one too. */
const maskedSecret = (value: unknown): unknown => {
  if (isHidden(value)) return maskOf(value)
  if (Array.isArray(value)) return value.map(maskedSecret)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, maskedSecret(part)])) : value
}

const own = (stored: JsonObject, name: string): unknown => (Object.hasOwn(stored, name) ? stored[name] : undefined)

/** A provider is left out, or null, by those who change something else. */
export const isNamed = (value: unknown): boolean => value !== undefined && value !== null
const firstWord = (name: string): string => snake(name).split("_", 1)[0] ?? ""
const providerName = /(^|_)provider$/

/** Whose secrets are another's now. `""`: whatever is here. `qa`, by `qa_provider`: whatever begins with `qa_`. */
const changedProviders = (sent: JsonObject, stored: JsonObject): ReadonlySet<string> =>
  new Set(
    Object.keys(sent)
      .filter((name) => providerName.test(snake(name)) && isNamed(sent[name]) && sent[name] !== own(stored, name))
      .map((name) => (snake(name) === "provider" ? "" : firstWord(name)))
  )

/** Whether `sent` names another provider than `stored` does, if that names any. */
export const isAnothers = (sent: JsonObject, stored: JsonObject): boolean => changedProviders(sent, stored).has("")

/** What a client sent, with the masks in it replaced by what `stored` has at the same place, as far as the provider is the same. */
export const unmasked = (sent: JsonObject, stored: JsonObject): JsonObject => restored(sent, stored, changedProviders)

/** `changes`: whose secrets to keep back. */
const restored = (sent: JsonObject, stored: JsonObject, changes: typeof changedProviders): JsonObject => {
  const others = changes(sent, stored)
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const before = others.has("") || others.has(firstWord(name)) ? undefined : own(stored, name)
      return [name, isSecret(name) ? restoredSecret(value, before) : restoredPart(value, before, changes)]
    })
  )
}

const restoredPart = (sent: unknown, stored: unknown, changes: typeof changedProviders): unknown => {
  if (Array.isArray(sent)) {
    const before = Array.isArray(stored) ? stored : []
    return sent.map((part: unknown, index) => restoredPart(part, sameIn(before, part, index), changes))
  }
  return isObject(sent) && isObject(stored) ? restored(sent, stored, changes) : sent
}

/** Nodes may have changed their order: what has an id is found by it. */
const sameIn = (stored: ReadonlyArray<unknown>, part: unknown, index: number): unknown => {
  const id = isObject(part) ? part["id"] : undefined
  return id === undefined ? stored[index] : stored.find((one) => isObject(one) && one["id"] === id)
}

const restoredSecret = (sent: unknown, stored: unknown): unknown => {
  if (isObject(sent)) {
    const before = isObject(stored) ? stored : {}
    return Object.fromEntries(Object.entries(sent).map(([name, part]) => [name, restoredSecret(part, own(before, name))]))
  }
  // Two keys may look the same once masked: each of them is taken once.
  const left: Array<unknown> = Array.isArray(stored) ? [...stored] : [stored]
  const restoredOne = (shown: unknown) => {
    const at = left.findIndex((one) => isHidden(one) && maskOf(one) === shown)
    return at === -1 ? shown : left.splice(at, 1)[0]
  }
  if (!Array.isArray(sent)) return restoredOne(sent)
  const before = Array.isArray(stored) ? stored : []
  return sent.map((one: unknown, index) => (typeof one === "string" ? restoredOne(one) : restoredSecret(one, before[index])))
}

type Place = ReadonlyArray<string | number>

/** A secret that is a mask still. */
export interface Masked {
  readonly name: string
  /** From the root of what was looked through to the secret. */
  readonly path: Place
}

/** Secrets that are masks still: nothing was stored for them to stand for, or it is another provider's. */
export const stillMasked = (content: JsonObject, at: Place = []): ReadonlyArray<Masked> =>
  Object.entries(content).flatMap(([name, value]) => {
    const path = [...at, name]
    if (!isSecret(name)) return maskedWithin(value, path)
    return looksMasked(value) ? [{ name, path }] : []
  })

const maskedWithin = (value: unknown, at: Place): ReadonlyArray<Masked> => {
  if (Array.isArray(value)) return value.flatMap((part: unknown, index) => maskedWithin(part, [...at, index]))
  return isObject(value) ? stillMasked(value, at) : []
}

const looksMasked = (value: unknown): boolean => {
  if (typeof value === "string") return value.includes("***") || /^\*+[^*]{0,4}$/.test(value)
  return typeof value === "object" && value !== null && Object.values(value).some(looksMasked)
}

/** Masks in what a client sent that stand for secrets of `stored`, and were kept from another provider. */
export const keptBack = (sent: JsonObject, stored: JsonObject): ReadonlyArray<Masked> => {
  const found = stillMasked(unmasked(sent, stored))
  if (found.length === 0) return found
  const nothing: ReadonlySet<string> = new Set()
  const anyway = new Set(stillMasked(restored(sent, stored, () => nothing)).map(({ path }) => JSON.stringify(path)))
  return found.filter(({ path }) => !anyway.has(JSON.stringify(path)))
}

export const maskedMessage = (secret: string): string =>
  `The ${secret} appears to be masked. Please provide the actual value, not the masked value.`
