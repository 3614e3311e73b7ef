/** What was said in a node, as variables: the request to the model, and its answer, read leniently but typed strictly. */
import { firstObject } from "#core/firstObject.ts"
import type { JsonObject } from "#core/Json.ts"
import type { ExtractedVariable, ModelTool } from "#core/model/LanguageModel.ts"
import { isStorable } from "#core/storable.ts"
import type { Extraction } from "./ConversationGraph.ts"

/** Keys of the gathered context that the engine writes. `call_disposition` is not one of them: agents may set their own. */
const reserved: ReadonlyArray<string> = [
  "answered_by",
  "call_id",
  "call_tags",
  "dtmf_digits",
  "error",
  "extracted_variables",
  "failure_class",
  "hangup_cause",
  "mapped_call_disposition",
  "nodes_visited",
  "provider",
  "trace_url",
  "voicemail_message",
  "__proto__"
]

const longestValue = 2000

const isAllowed = ({ name }: ExtractedVariable): boolean => !reserved.includes(name) && isStorable(name)

export const saveVariables = "save_variables"

export const extractionTool = ({ variables }: Extraction): ModelTool => ({
  name: saveVariables,
  description: "Saves what was learned in the conversation. A variable that was not said is left out.",
  parameters: {
    type: "object",
    properties: Object.fromEntries(
      variables.filter(isAllowed).map(({ name, prompt, type }) => [name, { type: [type, "null"], description: prompt }])
    ),
    required: []
  }
})

/** `guidance` is the node's own prompt, rendered. */
export const extractionInstructions = ({ variables }: Extraction, guidance: string): string =>
  [
    `Read the conversation and call ${saveVariables} with the variables that it holds. Take each value from what was said; never make one up. Leave ` +
      "out what was not said, or was taken back. If you cannot call a tool, return one JSON object and nothing else.",
    guidance,
    variables
      .filter(isAllowed)
      .map(({ name, prompt, type }) => `- ${name} (${type})${prompt === "" ? "" : `: ${prompt}`}`)
      .join("\n")
  ]
    .filter((part) => part.trim() !== "")
    .join("\n\n")

export interface Extracted {
  readonly values: JsonObject
  /** The names of variables whose value was not of their type. */
  readonly refused: ReadonlyArray<string>
}

/** `answer`: the arguments of the tool call, otherwise the model's text. Undefined: it contains no object. */
export const extractedFrom = ({ variables }: Extraction, answer: JsonObject | string): Extracted | undefined => {
  const given = typeof answer === "string" ? firstObject(answer) : answer
  if (given === undefined) return undefined
  const values: Array<readonly [string, unknown]> = []
  const refused: Array<string> = []
  for (const variable of variables.filter(isAllowed)) {
    const value = Object.hasOwn(given, variable.name) ? given[variable.name] : undefined
    if (value === undefined || value === null || value === "") continue
    const typed = readers[variable.type](value)
    if (typed === undefined) refused.push(variable.name)
    else values.push([variable.name, typed])
  }
  return { values: Object.fromEntries(values), refused }
}

type Reader = (value: unknown) => string | number | boolean | undefined
const readers: { readonly [Type in ExtractedVariable["type"]]: Reader } = {
  string: (value) => {
    const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value
    if (typeof text !== "string") return undefined
    const clean = text
      .toWellFormed()
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, longestValue)
    return clean === "" ? undefined : clean.toWellFormed()
  },
  number: (value) => {
    const number =
      typeof value === "string" && /^\s*[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?\s*$/.test(value)
        ? Number(value.replaceAll(",", ""))
        : value
    return typeof number === "number" && Number.isFinite(number) ? number : undefined
  },
  boolean: (value) => {
    if (typeof value === "boolean") return value
    const word = typeof value === "string" ? value.trim().toLowerCase() : ""
    if (word === "true" || word === "yes") return true
    return word === "false" || word === "no" ? false : undefined
  }
}
