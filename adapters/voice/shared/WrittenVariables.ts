/** The variables in the answer of a model that answers in text although a call was requested. */
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelTool } from "#core/model/LanguageModel.ts"
import { Speakable, type Thinking } from "./Speakable.ts"

/** The object may still be wrapped in what would have been the call. */
const unwrapped = (object: JsonObject, { parameters }: ModelTool): JsonObject => {
  const properties = parameters["properties"]
  const isKnown = (one: JsonObject): boolean => isObject(properties) && Object.keys(one).some((name) => Object.hasOwn(properties, name))
  return isKnown(object) ? object : (Object.values(object).filter(isObject).find(isKnown) ?? object)
}

interface Read {
  /** Undefined if the text holds no object. */
  readonly variables: JsonObject | undefined
  /** See `Answer`. */
  readonly startsThinking: boolean
}

/** `isCut`: the text is not complete. */
export const variablesIn = (
  text: string,
  tool: ModelTool,
  { isCut, thinking }: { readonly thinking: Thinking; readonly isCut: boolean }
): Read => {
  // All of it can be read before it is judged, unless what follows is missing.
  const speakable = new Speakable(thinking === "never" && !isCut ? "perhaps" : thinking, new Map([[tool.name, tool]]))
  speakable.push(text)
  speakable.end(isCut)
  const [call] = speakable.calls
  const [object] = speakable.objects
  const variables = call?.arguments ?? (object === undefined ? undefined : unwrapped(object, tool))
  return { variables, startsThinking: speakable.startsThinking }
}
