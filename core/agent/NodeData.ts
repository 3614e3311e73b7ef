/** Checks a node's data against the properties of its type. Null means absent; members that the type does not name are ignored. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { type Fault, fieldRequired, gathered } from "#core/Problem.ts"
import type { NodeType, Property, PropertyKind } from "./NodeType.ts"

interface DataProblem extends Fault {
  /** The path from the node's data; empty for the node as a whole. */
  readonly path: ReadonlyArray<string | number>
}

export const dataProblems = (type: NodeType, data: JsonObject): ReadonlyArray<DataProblem> => {
  const isOff = type.switch !== undefined && data[type.switch] === false
  return type.properties.flatMap((property) => {
    const value = data[property.name]
    if (property.name === "prompt" && type.promptedAs !== undefined && isBlank(value)) {
      return [{ path: [], message: `Value error, prompt is required for ${type.promptedAs} nodes` }]
    }
    return propertyProblems(isOff && property.name !== "name" ? { ...property, required: undefined } : property, value).map((problem) => ({
      ...problem,
      path: [property.name, ...problem.path]
    }))
  })
}

const isBlank = (value: unknown): boolean => value === undefined || value === null || (typeof value === "string" && value.trim() === "")

type Asked = Omit<Property, "required"> & { readonly required?: true | undefined }

const propertyProblems = (property: Asked, value: unknown): ReadonlyArray<DataProblem> => {
  if (value === undefined || value === null) return property.required ? [{ path: [], ...fieldRequired }] : []
  if (value === "") return property.required ? here("String should have at least 1 character") : []
  return readers[property.kind](property, value)
}

const here = (message: string): ReadonlyArray<DataProblem> => [{ path: [], message }]

type Reader = (property: Asked, value: unknown) => ReadonlyArray<DataProblem>

const text: Reader = ({ maxLength, pattern }, value) => {
  if (typeof value !== "string") return here("Input should be a valid string")
  if (maxLength !== undefined && value.length > maxLength) return here(`String should have at most ${maxLength} characters`)
  return pattern === undefined || new RegExp(pattern).test(value) ? [] : here(`String should match pattern '${pattern}'`)
}

const number: Reader = ({ max, min }, value) => {
  if (typeof value !== "number") return here("Input should be a valid number")
  if (min !== undefined && value < min) return here(`Input should be greater than or equal to ${min}`)
  return max !== undefined && value > max ? here(`Input should be less than or equal to ${max}`) : []
}

const boolean: Reader = (_, value) => (typeof value === "boolean" ? [] : here("Input should be a valid boolean"))

const option: Reader = ({ options = [] }, value) =>
  options.some((one) => one.value === value)
    ? []
    : here(
        `Input should be ${options
          .map((one) => `'${one.value}'`)
          .join(", ")
          .replace(/, ([^,]*)$/, " or $1")}`
      )

const each =
  (reader: Reader): Reader =>
  (property, value) =>
    Array.isArray(value)
      ? gathered(value, (one: unknown, index) => reader(property, one).map((problem) => ({ ...problem, path: [index, ...problem.path] })))
      : here("Input should be a valid list")

const row: Reader = ({ properties = [] }, value) =>
  isObject(value)
    ? properties.flatMap((property) =>
        propertyProblems(property, value[property.name]).map((problem) => ({ ...problem, path: [property.name, ...problem.path] }))
      )
    : here("Input should be a valid dictionary")

const readers: { readonly [Kind in PropertyKind]: Reader } = {
  string: text,
  mention_textarea: text,
  url: text,
  recording_ref: text,
  credential_ref: text,
  number,
  boolean,
  options: option,
  multi_options: each(option),
  fixed_collection: each(row),
  json: () => [],
  tool_refs: each(text),
  document_refs: each(text)
}
