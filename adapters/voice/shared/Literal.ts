/** Values and arguments as models write them in text: JSON, or Python's notation of the same. */
import { firstObject } from "#core/firstObject.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelTool } from "#core/model/LanguageModel.ts"
import { parse } from "#adapters/shared/Json.ts"

const pythonWords: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" }
/** Strings, Python's words, a comma before a closing bracket, the name of a keyword argument, and all that follows a quote that is never closed. */
const python = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b(?:True|False|None)\b|,(?=\s*[\])}])|(?<!\w)[A-Za-z_]\w*\s*=(?!=)|(["'].*)/gs

const jsonString = (quoted: string): string =>
  `"${quoted
    .slice(1, -1)
    .replaceAll("\\'", "'")
    .replaceAll(/(\\.)|"/gs, (_, escaped?: string) => escaped ?? '\\"')}"`

const inJson = (text: string): string =>
  text.replaceAll(python, (token, unclosed?: string) => {
    if (unclosed !== undefined || token.startsWith('"')) return token
    if (token.startsWith("'")) return jsonString(token)
    if (token === ",") return ""
    return pythonWords[token] ?? `${JSON.stringify(token.slice(0, -1).trim())}:`
  })

/** No model writes more in Python's notation, and reading it takes longer than reading JSON. */
const longestPython = 16_384

/** Undefined if it is neither JSON nor Python. */
export const literal = (text: string): unknown => parse(text) ?? (text.length > longestPython ? undefined : parse(inJson(text)))

/** Special tokens, fences and the names of formats, which leave nothing if a function without parameters is called. */
const wrapping = /<[|｜][^<>]*>|```\w*|\b(?:json|null|None)\b|[\s"'`]/g
/** How often arguments may have been made a string. */
const mostLayers = 3

/**
 * The arguments in what a service sends as such. Servers leave special tokens behind them, repeat them, quote them as a string, or fence them
 * as in a document: the first complete object counts. Undefined: there is none, although there is something.
 */
export const argumentsIn = (text: string, layers = mostLayers): JsonObject | undefined => {
  const value = parse(text)
  if (isObject(value)) return value
  const begin = text.indexOf('"')
  // A quotation mark before the first brace: the object is within a string.
  if (begin >= 0 && layers > 0 && !text.slice(0, begin).includes("{")) {
    const inner = parse(/^"(?:[^"\\]|\\.)*"/s.exec(text.slice(begin))?.[0] ?? "")
    const found = typeof inner === "string" && inner.includes("{") ? argumentsIn(inner, layers - 1) : undefined
    if (found !== undefined) return found
  }
  return firstObject(text, literal) ?? (text.replaceAll(wrapping, "") === "" ? {} : undefined)
}

const parametersOf = (tool: ModelTool | undefined): JsonObject => {
  const properties = tool?.parameters["properties"]
  return isObject(properties) ? properties : {}
}

export const takesNothing = (tool: ModelTool | undefined): boolean => Object.keys(parametersOf(tool)).length === 0

/** The arguments between the parentheses of a written call: one object, named ones, or values in the order of the parameters. */
export const writtenArguments = (text: string, tool: ModelTool | undefined): JsonObject | undefined => {
  if (text.trim() === "") return {}
  const named = literal(`{${text}}`)
  if (isObject(named)) return named
  const values = literal(`[${text}]`)
  if (!Array.isArray(values)) return undefined
  const [first] = values
  if (isObject(first)) return first
  const names = Object.keys(parametersOf(tool))
  return values.length > names.length ? undefined : Object.fromEntries(values.map((value, index) => [names[index] ?? "", value]))
}

/** A value that was written between tags, as the parameter's type wants it. */
export const taggedValue = (text: string, name: string, tool: ModelTool | undefined): unknown => {
  const parameter = parametersOf(tool)[name]
  const type = isObject(parameter) ? parameter["type"] : undefined
  return type === "string" || type === undefined ? text : (literal(text.trim()) ?? text)
}
