/** What in a model's text looks like a tool call without any mark around it: an object, a call in a programming language, an element. */
import { valueEnd } from "#core/firstObject.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { argumentsIn, literal, taggedValue, writtenArguments } from "./Literal.ts"
import { markAt } from "./Markup.ts"
import { callsOf, type KnownTools, type WrittenCall } from "./TextCalls.ts"

export interface Code {
  readonly length: number
  readonly calls: ReadonlyArray<WrittenCall>
  /** The object, or the first of several. */
  readonly object?: JsonObject
  /** Only the fence around a marked call. */
  readonly isFence?: true
}

/** Code whose brackets have yet to be closed. */
export interface OpenCode {
  readonly opensAt: number
}

type Found = Code | OpenCode | "wait" | undefined

const moved = (found: Found, by: number): Found => {
  if (typeof found !== "object") return found
  return "opensAt" in found ? { opensAt: found.opensAt + by } : { ...found, length: found.length + by }
}

const objectBegin = /^\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|'(?:[^'\\]|\\.)*'\s*:|\})/s
/** No name of a member is longer. */
const longestKey = 128
const partOfObjectBegin = /^\{\s*(?:"(?:[^"\\]|\\.)*\\?(?:"\s*)?|'(?:[^'\\]|\\.)*\\?(?:'\s*)?)?$/s
const listBegin = /^\[\s*(?=\{)/
const partOfListBegin = /^\[\s*$/
/** Names that models put before that of a function. */
const prefixes = ["", "functions.", "default_api.", "tools.", "print(", "print(default_api."]

/** Phi puts it before a list of calls. */
const listPrefix = "functools["

export interface CodeReader {
  /** The code at the beginning of the text; "wait" if more text may make it code. `isWord`: a word begins here. */
  readonly at: (text: string, isWord: boolean) => Found
}

export const makeCodeReader = (known: KnownTools): CodeReader => {
  const openings = [...known.keys()].flatMap((name) => prefixes.map((prefix) => ({ name, text: `${prefix}${name}(` })))
  const letters = new Set([listPrefix, ...openings.map(({ text }) => text)].map((text) => text.charAt(0)))

  const objectAt = (text: string): Found => {
    const begin = text.slice(0, longestKey)
    if (!objectBegin.test(begin)) return text.length < longestKey && partOfObjectBegin.test(begin) ? "wait" : undefined
    return readValue(text)
  }
  const readValue = (text: string): Found => {
    const end = valueEnd(text, 0)
    return end === undefined ? { opensAt: 0 } : readCode(text.slice(0, end))
  }
  const readCode = (text: string): Code => {
    const value = literal(text)
    const first: unknown = Array.isArray(value) ? value[0] : value
    return { length: text.length, calls: callsOf(value, known), ...(isObject(first) ? { object: first } : {}) }
  }
  const listAt = (text: string): Found => {
    if (partOfListBegin.test(text)) return "wait"
    const opening = listBegin.exec(text)?.[0]
    if (opening === undefined) return callListAt(text)
    const object = objectAt(text.slice(opening.length))
    return typeof object === "object" ? readValue(text) : object
  }
  /** `[first(), second(day="Friday")]`, as Llama writes them. */
  const callListAt = (text: string): Found => {
    const begin = /^\[\s*/.exec(text)?.[0].length ?? 0
    return moved(callAt(text.slice(begin)), begin)
  }
  const callAt = (text: string): Found => {
    const opening = openings.find((one) => text.startsWith(one.text))
    if (opening === undefined) return [{ text: listPrefix }, ...openings].some((one) => one.text.startsWith(text)) ? "wait" : undefined
    const begin = opening.text.length
    const end = valueEnd(text, begin - 1)
    if (end === undefined) return { opensAt: begin - 1 }
    const given = writtenArguments(text.slice(begin, end - 1), known.get(opening.name))
    return { length: end, calls: given === undefined ? [] : [{ name: opening.name, arguments: given }] }
  }
  const prefixedListAt = (text: string): Found => {
    const begin = listPrefix.length - 1
    return moved(listAt(text.slice(begin)), begin)
  }
  const fencedAt = (text: string): Found => {
    const fence = /^(?:```[a-z_]*\s*|`{1,2}(?!`))/i.exec(text)?.[0] ?? ""
    if (fence === "" || fence === text) return "wait"
    const rest = text.slice(fence.length)
    const marked = rest.startsWith("<") ? markAt(rest) : undefined
    if (marked === "wait") return "wait"
    if (marked?.mark._tag === "Calls") return { length: fence.length, calls: [], isFence: true }
    return moved(begun(rest, true), fence.length)
  }
  const begun = (text: string, isWord: boolean): Found => {
    const [letter = ""] = text
    if (letter === "<") return taggedAt(text, known)
    if (letter === "{") return objectAt(text)
    if (letter === "[") return listAt(text)
    if (!isWord || !letters.has(letter)) return undefined
    // Not within another list, or each of a thousand prefixes would be read up to the last one.
    return text.startsWith(listPrefix) ? prefixedListAt(text) : callAt(text)
  }
  return { at: (text, isWord) => (text.startsWith("`") ? fencedAt(text) : begun(text, isWord)) }
}

const element = /<([\w-]+)>([\s\S]*?)<\/\1>/g

/** A tool's name as a tag, with its arguments as an object or as tags within. */
const taggedAt = (text: string, known: KnownTools): Found => {
  const [begin, name = ""] = /^<([\w-]*)/.exec(text) ?? [text]
  if (begin === text) return [...known.keys()].some((one) => one.startsWith(name)) ? "wait" : undefined
  if (!known.has(name)) return undefined
  const opening = /^\s*(\/?)>/.exec(text.slice(begin.length))
  if (opening === null) return /^\s*\/?$/.test(text.slice(begin.length)) ? "wait" : undefined
  const from = begin.length + opening[0].length
  if (opening[1] === "/") return { length: from, calls: [{ name, arguments: {} }] }
  const closing = `</${name}>`
  const until = text.indexOf(closing, from)
  if (until < 0) return "wait"
  const inner = text.slice(from, until)
  const elements = [...inner.matchAll(element)].map(
    ([, key = "", value = ""]) => [key, taggedValue(value.trim(), key, known.get(name))] as const
  )
  const given = elements.length > 0 ? Object.fromEntries(elements) : argumentsIn(inner)
  return { length: until + closing.length, calls: given === undefined ? [] : [{ name, arguments: given }] }
}

/** Whether a text that has ended is the beginning of code: too much of one to be anything else. */
export const isCutCode = (text: string): boolean => /^(?:\[\s*)?\{\s*["'}]|^```|^<[\w-]+\s*\/?>|[\w.]\(/.test(text)
