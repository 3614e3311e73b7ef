/** Keys of other services that clients put into agents. They leave the engine masked, and a mask that comes back stands for what it hides. */
import { mask } from "../provider/Credential.ts"
import { isObject, type JsonObject } from "./Agent.ts"

const isSecret = (name: string): boolean => name === "api_key" || name.endsWith("_api_key")

/** As a client may read it. */
export const masked = (content: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, isSecret(name) ? maskedSecret(value) : maskedPart(value)]))

const maskedPart = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskedPart)
  return isObject(value) ? masked(value) : value
}

/** Several keys, to take turns, stand in a list. */
const maskedSecret = (value: unknown): unknown => {
  if (typeof value === "string") return mask(value)
  return Array.isArray(value) ? value.map(maskedSecret) : maskedPart(value)
}

/** What a client sent, with the masks in it replaced by what `stored` has at the same place. */
export const unmasked = (sent: JsonObject, stored: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const before = Object.hasOwn(stored, name) ? stored[name] : undefined
      return [name, isSecret(name) ? unmaskedSecret(value, before) : unmaskedPart(value, before)]
    })
  )

const unmaskedPart = (sent: unknown, stored: unknown): unknown => {
  if (Array.isArray(sent)) {
    const before = Array.isArray(stored) ? stored : []
    return sent.map((part: unknown, index) => unmaskedPart(part, sameIn(before, part, index)))
  }
  return isObject(sent) && isObject(stored) ? unmasked(sent, stored) : sent
}

/** Nodes may have changed their order: what has an id is found by it. */
const sameIn = (stored: ReadonlyArray<unknown>, part: unknown, index: number): unknown => {
  const id = isObject(part) ? part["id"] : undefined
  return id === undefined ? stored[index] : stored.find((one) => isObject(one) && one["id"] === id)
}

const unmaskedSecret = (sent: unknown, stored: unknown): unknown => {
  const before: ReadonlyArray<unknown> = Array.isArray(stored) ? stored : [stored]
  if (typeof sent === "string") return before.find((one) => typeof one === "string" && mask(one) === sent) ?? sent
  return Array.isArray(sent) ? sent.map((one) => unmaskedSecret(one, stored)) : unmaskedPart(sent, stored)
}
