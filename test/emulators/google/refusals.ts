/** Why Google's service refuses a request; undefined if it does not. */
import { isObject, type Json } from "#test/emulators/shared/json.ts"

interface Part extends Json {
  readonly text?: unknown
  readonly functionCall?: Json
  readonly functionResponse?: Json
}
interface Content {
  readonly role?: unknown
  readonly parts?: ReadonlyArray<Part>
}
interface Declaration {
  readonly name?: unknown
  readonly parameters?: unknown
  readonly parametersJsonSchema?: unknown
}
export interface ContentsBody extends Json {
  readonly contents?: ReadonlyArray<Content>
  readonly tools?: ReadonlyArray<{ readonly functionDeclarations?: ReadonlyArray<Declaration> }>
  readonly systemInstruction?: Content
  readonly generationConfig?: Json
}

const known = ["cachedContent", "contents", "generationConfig", "safetySettings", "systemInstruction", "toolConfig", "tools"]

export const declarationsIn = ({ tools = [] }: ContentsBody): ReadonlyArray<Declaration> =>
  tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
const callsIn = (content: Content | undefined) => (content?.parts ?? []).filter(({ functionCall }) => functionCall !== undefined)
const responsesIn = (content: Content | undefined): ReadonlyArray<Json> =>
  (content?.parts ?? []).flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse]))

export const whyRefused = (body: ContentsBody | undefined, model: string): string | undefined => {
  if (body === undefined) return "Invalid JSON payload received."
  const stray = Object.keys(body).find((name) => !known.includes(name))
  if (stray !== undefined) return `Invalid JSON payload received. Unknown name "${stray}": Cannot find field.`
  const { contents } = body
  if (!Array.isArray(contents) || contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified"
  return whyContentsRefused(contents, model) ?? whyDeclarationsRefused(body) ?? whyThoughtRefused(body, model)
}

const isPart = (part: Part): boolean =>
  (typeof part.text === "string" && part.text !== "") || isObject(part.functionCall) || isObject(part.functionResponse)

const whyContentsRefused = (contents: ReadonlyArray<Content>, model: string): string | undefined => {
  for (const [index, content] of contents.entries()) {
    const { parts = [], role } = content
    if (role !== (index % 2 === 0 ? "user" : "model")) return "Please ensure that multiturn requests alternate between user and model."
    if (parts.length === 0 || !parts.every(isPart)) return `Unable to submit request because contents.parts must not be empty: ${index}`
    const why = whyCallsRefused(content, contents[index + 1], index, model) ?? whyResponsesRefused(contents[index - 1], content)
    if (why !== undefined) return why
  }
  return contents.at(-1)?.role === "user" ? undefined : "Please ensure that multiturn requests end with a user role."
}

const unequal =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."

const whyCallsRefused = (content: Content, next: Content | undefined, index: number, model: string): string | undefined => {
  const calls = callsIn(content)
  const [first] = calls
  if (first === undefined) return undefined
  const answered = responsesIn(next).map((one) => `${String(one["id"])} ${String(one["name"])}`)
  const made = calls.map(({ functionCall }) => `${String(functionCall?.["id"])} ${String(functionCall?.["name"])}`)
  if (made.join() !== answered.join()) return unequal
  if (calls.some(({ functionCall }) => !isObject(functionCall?.["args"]))) return "Invalid value at 'contents.parts.function_call.args'"
  return /^gemini-3/.test(model) && typeof first["thoughtSignature"] !== "string"
    ? `Function call is missing a thought_signature in functionCall parts. Function call \`${String(first.functionCall?.["name"])}\`, position ${index}.`
    : undefined
}

const whyResponsesRefused = (before: Content | undefined, content: Content): string | undefined => {
  const responses = responsesIn(content)
  if (responses.length > 0 && callsIn(before).length === 0)
    return "Please ensure that function response turn comes immediately after a function call turn."
  return responses.every((one) => isObject(one["response"])) ? undefined : "Invalid value at 'contents.parts.function_response.response'"
}

const isName = (name: unknown): boolean => typeof name === "string" && /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name)
const isSchema = (schema: unknown): boolean =>
  schema === undefined || (isObject(schema) && isObject(schema["properties"]) && Object.keys(schema["properties"]).length > 0)

const whyDeclarationsRefused = (body: ContentsBody): string | undefined => {
  const declarations = declarationsIn(body)
  if (body.tools !== undefined && declarations.length === 0) return "* GenerateContentRequest.tools[0].tool_type: required one_of"
  if (declarations.some(({ name }) => !isName(name))) return "function_declarations[0].name: Invalid function name."
  if (declarations.some(({ parameters, parametersJsonSchema }) => !isSchema(parameters) || !isSchema(parametersJsonSchema)))
    return "function_declarations[0].parameters.properties: should be non-empty for OBJECT type"
  const config = isObject(body["toolConfig"]) ? body["toolConfig"]["functionCallingConfig"] : undefined
  const allowed = isObject(config) && Array.isArray(config["allowedFunctionNames"]) ? config["allowedFunctionNames"] : []
  return allowed.every((name) => declarations.some((one) => one.name === name))
    ? undefined
    : "allowed_function_names should be a subset of the declared functions."
}

/** `eager` stands for models that cannot be kept from thinking. */
const whyThoughtRefused = ({ generationConfig }: ContentsBody, model: string): string | undefined => {
  const config = generationConfig?.["thinkingConfig"]
  if (!isObject(config)) return undefined
  if (model.includes("eager")) return "Thinking level MINIMAL is not supported for this model."
  const isNew = /^gemini-3/.test(model)
  if ("thinkingLevel" in config && !isNew) return "Thinking level is not supported for this model."
  return config["thinkingBudget"] === 0 && isNew ? "Budget 0 is invalid. This model only works in thinking mode." : undefined
}
