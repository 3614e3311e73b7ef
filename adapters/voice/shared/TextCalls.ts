/**
 * Tool calls that a model has written as text, in whatever dialect it was trained on, because its server does not know the dialect. All dialects
 * come down to an object that names the tool, or to the tool's name followed by its arguments, so nothing else is looked for.
 *
 * Dialects: https://docs.vllm.ai/en/latest/features/tool_calling.html, https://github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md
 */
import { isObject, type JsonObject } from "#core/Json.ts"
import { valueEnd } from "#core/firstObject.ts"
import type { ModelRequest, ModelTool } from "#core/model/LanguageModel.ts"
import { argumentsIn, literal, taggedValue, takesNothing, writtenArguments } from "./Literal.ts"

export interface WrittenCall {
  readonly name: string
  readonly arguments: JsonObject
}

/** By name. Undefined: not on offer now, but the model knows it from elsewhere in the conversation. */
export type KnownTools = ReadonlyMap<string, ModelTool | undefined>

export const knownTools = ({ messages, node, tools }: ModelRequest): KnownTools =>
  new Map<string, ModelTool | undefined>([
    ...node.edges.map(({ tool }) => [tool, undefined] as const),
    ...messages.flatMap((message) => (message._tag === "Assistant" ? message.calls.map(({ name }) => [name, undefined] as const) : [])),
    ...tools.map((tool) => [tool.name, tool] as const)
  ])

const nameKeys = ["name", "function", "tool", "tool_name", "function_name", "recipient_name", "action"]
const argumentKeys = ["arguments", "parameters", "args", "params", "input", "action_input", "tool_input"]
const listKeys = ["tool_calls", "function_call", "tool_call", "calls"]
const bareName = (name: string): string => name.replace(/^(?:functions|default_api|tools)[.:]/, "")

/** The calls in an object that may be one, or be around several. */
export const callsOf = (value: unknown, known: KnownTools): ReadonlyArray<WrittenCall> => {
  if (Array.isArray(value)) return value.flatMap((item) => callsOf(item, known))
  if (!isObject(value)) return []
  const within = listKeys.map((key) => value[key]).find((list) => typeof list === "object" && list !== null)
  if (within !== undefined) return callsOf(within, known)
  const nested = value["function"]
  if (isObject(nested)) return callsOf(nested, known)
  const nameKey = nameKeys.find((key) => typeof value[key] === "string")
  const name = bareName(String(nameKey === undefined ? "" : value[nameKey]))
  if (nameKey !== undefined && known.has(name)) {
    const given = argumentsBeside(value, nameKey)
    return given === undefined ? [] : [{ name, arguments: given }]
  }
  const [only, ...others] = Object.keys(value)
  const given = only === undefined ? undefined : value[only]
  return only !== undefined && others.length === 0 && known.has(only) && isObject(given) ? [{ name: only, arguments: given }] : []
}

const argumentsBeside = (value: JsonObject, nameKey: string): JsonObject | undefined => {
  const key = argumentKeys.find((one) => Object.hasOwn(value, one))
  if (key === undefined)
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== nameKey && name !== "type" && name !== "id"))
  const given = value[key] ?? {}
  return isObject(given) ? given : typeof given === "string" ? argumentsIn(given) : undefined
}

const wordLetter = /[\w-]/
/** What dialects have between the name and the arguments: numbers, closing brackets, special tokens, fences. */
const between = /^(?::\d+)?(?:[>"'`\s]|\[ARGS\]|\[CALL_ID\]\w*|<[|｜][^<>]*>|\bjson\b)*/
const parameter = /<parameter(?:=|\s+name=)["']?([^<>"']+)(?:["'][^<>]*)?>\n?([\s\S]*?)\n?<\/parameter>/g
const keyAndValue = /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g
const closing = /<\/(?:function|invoke|tool_call)>/

interface Read {
  readonly call: WrittenCall | undefined
  readonly end: number
}

const taggedCall = (name: string, tool: ModelTool | undefined, segment: string): WrittenCall => ({
  name,
  arguments: Object.fromEntries(
    [...segment.matchAll(parameter), ...segment.matchAll(keyAndValue)].map(([, key = "", value = ""]) => [
      key.trim(),
      taggedValue(value, key.trim(), tool)
    ])
  )
})

/** The call whose tool is named right before `from`. */
const namedCall = (body: string, from: number, name: string, tool: ModelTool | undefined, isClosed: boolean): Read => {
  const opening = /^(?:\.call)?\(/.exec(body.slice(from))
  if (opening !== null) {
    const begin = from + opening[0].length
    const end = valueEnd(body, begin - 1)
    const given = end === undefined ? undefined : writtenArguments(body.slice(begin, end - 1), tool)
    return { call: given === undefined ? undefined : { name, arguments: given }, end: end ?? body.length }
  }
  const at = from + (between.exec(body.slice(from))?.[0].length ?? 0)
  if (body[at] === "{") {
    const end = valueEnd(body, at)
    const given = end === undefined ? undefined : literal(body.slice(at, end))
    return { call: isObject(given) ? { name, arguments: given } : undefined, end: end ?? body.length }
  }
  const rest = body.slice(at)
  if (/^<(?:parameter|arg_key)/.test(rest)) {
    const close = closing.exec(rest)
    const length = close?.index ?? rest.length
    // Without an end, the last parameters may be missing.
    return { call: close !== null || isClosed ? taggedCall(name, tool, rest.slice(0, length)) : undefined, end: at + length }
  }
  const isWhole = rest === "" ? isClosed || takesNothing(tool) : /^(?:<|\[|\]|,)/.test(rest)
  return { call: isWhole ? { name, arguments: {} } : undefined, end: at }
}

/** The complete calls of known tools in a text that is nothing but calls. `isClosed`: the model has written its end. */
export const callsIn = (text: string, known: KnownTools, isClosed: boolean): ReadonlyArray<WrittenCall> => {
  // DeepSeek's newest dialect puts its own name into each tag.
  const body = text.replaceAll(/[|｜]?DSML[|｜]/g, "")
  const names = [...known.keys()].toSorted((one, other) => other.length - one.length)
  const calls: Array<WrittenCall> = []
  let at = 0
  while (at < body.length) {
    if (body[at] === "{") {
      const end = valueEnd(body, at)
      if (end === undefined) break
      calls.push(...callsOf(literal(body.slice(at, end)), known))
      at = end
      continue
    }
    const isBegin = at === 0 || !wordLetter.test(body.charAt(at - 1))
    const name = isBegin ? names.find((one) => body.startsWith(one, at) && !wordLetter.test(body.charAt(at + one.length))) : undefined
    if (name === undefined) at++
    else {
      const { call, end } = namedCall(body, at + name.length, name, known.get(name), isClosed)
      if (call !== undefined) calls.push(call)
      at = end
    }
  }
  return calls
}
