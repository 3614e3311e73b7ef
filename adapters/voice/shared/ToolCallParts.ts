/**
 * Puts tool calls together from their fragments. Servers disagree about how to send them: whole or in pieces, with an index, without one or with 0
 * for every call, with an id in each fragment or an empty one, with arguments as text or as an object.
 */
import { isDeepStrictEqual } from "node:util"
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelTool } from "#core/model/LanguageModel.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { argumentsIn, takesNothing } from "./Literal.ts"
import { keptMembers, withUnknown } from "./Members.ts"

interface Building {
  readonly index: number | undefined
  id: string
  name: string
  /** JSON, in pieces. */
  text: string
  /** Sent as an object instead. */
  whole: JsonObject | undefined
  /** Members that are not part of the protocol. */
  members: JsonObject
  /** The same of its function. */
  functionMembers: JsonObject
}

const knownOfCall = ["id", "index", "type", "function"]
const knownOfFunction = ["name", "arguments"]

export interface BuiltCall {
  /** Empty if none was sent. */
  readonly id: string
  readonly name: string
  /** Undefined: they are not an object. */
  readonly arguments: JsonObject | undefined
  readonly members: JsonObject | undefined
  /** Nothing is missing, even if the reply broke off after it. */
  readonly isComplete: boolean
}

export interface ToolCallParts {
  /** Takes the `tool_calls` of a delta or message. Returns false if they exceed a limit. */
  readonly push: (fragments: unknown) => boolean
  readonly calls: () => ReadonlyArray<BuiltCall>
}

const MOST_CALLS = 16
const MOST_CHARACTERS = 65_536

export const makeToolCallParts = (tools: ReadonlyArray<ModelTool>): ToolCallParts => {
  const isOffered = (name: string): boolean => tools.some((tool) => tool.name === name)
  const building: Array<Building> = []
  let characters = 0

  const add = (fragment: unknown): void => {
    const name = textAt(fragment, "function", "name") ?? ""
    const given = at(fragment, "function", "arguments")
    const index = at(fragment, "index")
    const id = textAt(fragment, "id") ?? ""
    const part = { id, name, index: typeof index === "number" ? index : undefined }
    let call = continued(building, part, isOffered)
    if (call === undefined) building.push((call = { ...part, ...empty }))
    if (call.id === "") call.id = id
    if (call.name !== name) call.name += name
    characters += name.length + (typeof given === "string" ? given.length : 0)
    if (typeof given === "string") call.text += given
    else if (isObject(given)) call.whole = given
    call.members = withUnknown(call.members, fragment, knownOfCall)
    call.functionMembers = withUnknown(call.functionMembers, at(fragment, "function"), knownOfFunction)
  }
  return {
    push: (fragments) => {
      for (const fragment of Array.isArray(fragments) ? fragments : []) add(fragment)
      return building.length <= MOST_CALLS && characters <= MOST_CHARACTERS
    },
    calls: () => withoutRepeats(building).map((call) => builtCall(call, tools))
  }
}

const empty = { name: "", text: "", whole: undefined, members: {}, functionMembers: {} }

/** Some servers leave special tokens or a namespace at the name, when they take calls out of the model's text. */
const bareName = (name: string): string =>
  name
    .replace(/<[|｜].*$/s, "")
    .replace(/^functions\./, "")
    .trim()

const builtCall = (call: Building, tools: ReadonlyArray<ModelTool>): BuiltCall => {
  const { functionMembers, id, members, text, whole } = call
  const tool = tools.find(({ name }) => name === call.name) ?? tools.find(({ name }) => name === bareName(call.name))
  const name = tool?.name ?? call.name
  const given = whole ?? argumentsIn(text)
  const all = Object.keys(functionMembers).length === 0 ? members : { ...members, function: functionMembers }
  // A function without parameters may come without arguments; those of others may have been lost.
  const isComplete = given !== undefined && (whole !== undefined || text.trim() !== "" || (tool !== undefined && takesNothing(tool)))
  return { id, name, arguments: given, members: keptMembers(all), isComplete }
}

/** Some servers send the finished calls once more at the end, with the same ids. */
const withoutRepeats = (building: ReadonlyArray<Building>): ReadonlyArray<Building> => {
  const isSame = (one: Building, other: Building): boolean =>
    one.id === other.id &&
    one.index === other.index &&
    one.name === other.name &&
    one.text === other.text &&
    isDeepStrictEqual(one.whole, other.whole)
  return building.filter((call, place) => call.id === "" || !building.slice(0, place).some((earlier) => isSame(earlier, call)))
}

/** The call that a fragment continues; undefined if it begins one. */
const continued = (
  building: ReadonlyArray<Building>,
  { id, index, name }: Pick<Building, "id" | "index" | "name">,
  isOffered: (name: string) => boolean
): Building | undefined => {
  const last = index === undefined ? building.at(-1) : building.findLast((call) => call.index === index)
  if (id !== "") {
    const same = building.findLast((call) => call.id === id)
    // Some servers repeat one id for every call of an answer.
    if (same !== undefined) return same.index === index && !isNext(same, name, isOffered) ? same : undefined
    // The id may come after the name, but then the name is not repeated.
    return last?.id === "" && name === "" ? last : undefined
  }
  return last !== undefined && isNext(last, name, isOffered) ? undefined : last
}

/** Whether a fragment with this name belongs to another call than the one being built, as far as the names tell. */
const isNext = (call: Building, name: string, isOffered: (name: string) => boolean): boolean => {
  if (name === "" || call.name === "") return false
  if (name !== call.name) return isOffered(call.name)
  return call.whole !== undefined || (call.text.trim() !== "" && argumentsIn(call.text) !== undefined)
}
