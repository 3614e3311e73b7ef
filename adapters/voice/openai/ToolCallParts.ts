/**
 * Puts tool calls together from their fragments. Servers disagree about how to send them: whole or in pieces, with an index, without one or with 0
 * for every call, with an id in each fragment or an empty one, with arguments as text or as an object.
 */
import { isObject, type JsonObject } from "#core/Json.ts"
import { at, parse, textAt } from "#adapters/shared/Json.ts"

interface Building {
  readonly index: number | undefined
  id: string
  name: string
  /** JSON, in pieces. */
  text: string
  /** Sent as an object instead. */
  whole: JsonObject | undefined
}

export interface BuiltCall {
  /** Empty if none was sent. */
  readonly id: string
  readonly name: string
  /** Undefined: they are not an object. */
  readonly arguments: JsonObject | undefined
}

interface ToolCallParts {
  /** Takes the `tool_calls` of a delta or message. Returns false if they exceed a limit. */
  readonly push: (fragments: unknown) => boolean
  readonly calls: () => ReadonlyArray<BuiltCall>
}

const MOST_CALLS = 16
const MOST_CHARACTERS = 65_536

export const makeToolCallParts = (isOffered: (name: string) => boolean): ToolCallParts => {
  const building: Array<Building> = []
  let characters = 0

  const add = (fragment: unknown): void => {
    const name = textAt(fragment, "function", "name") ?? ""
    const given = at(fragment, "function", "arguments")
    const index = at(fragment, "index")
    const id = textAt(fragment, "id") ?? ""
    const part = { id, name, index: typeof index === "number" ? index : undefined }
    let call = continued(building, part, isOffered)
    if (call === undefined) building.push((call = { ...part, name: "", text: "", whole: undefined }))
    if (call.id === "") call.id = id
    if (call.name !== name) call.name += name
    characters += name.length + (typeof given === "string" ? given.length : 0)
    if (typeof given === "string") call.text += given
    else if (isObject(given)) call.whole = given
  }
  return {
    push: (fragments) => {
      for (const fragment of Array.isArray(fragments) ? fragments : []) add(fragment)
      return building.length <= MOST_CALLS && characters <= MOST_CHARACTERS
    },
    calls: () => building.map((call) => ({ id: call.id, name: call.name, arguments: argumentsOf(call) }))
  }
}

const argumentsOf = ({ text, whole }: Building): JsonObject | undefined => {
  if (whole !== undefined) return whole
  // A function without parameters may come without arguments.
  if (text.trim() === "") return {}
  const parsed = parse(text)
  if (isObject(parsed)) return parsed
  return parsed === null ? {} : undefined
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
  return call.whole !== undefined || isObject(parse(call.text))
}
