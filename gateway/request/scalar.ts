/** Reads numbers and booleans as clients write them: `"12"` is 12, `12.0` is 12, `"yes"` and `1` are true. */
import Type, { type TInteger, type TNumber, type TSchema } from "typebox"
import type { Location, Violation } from "./Violation.ts"

interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}
export const isInteger = (schema: TSchema): schema is TInteger & Bounds => Type.IsInteger(schema)
export const isNumber = (schema: TSchema): schema is TNumber & Bounds => Type.IsNumber(schema)

const integerText = /^[+-]?\d+(?:_\d+)*(?:\.0*)?$/
// No two adjacent parts may match the same digits: on a long text, the regex would try every split between them.
const numberText = /^[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

export const readInteger = (schema: Bounds, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  const fail = (type: string, msg: string) => {
    found.push({ type, loc, msg, input })
    return undefined
  }
  if (typeof input === "string" && !integerText.test(input.trim())) {
    return fail("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
  }
  const value = numeric(input)
  if (value === undefined) return fail("int_type", "Input should be a valid integer")
  if (!Number.isFinite(value)) return fail("finite_number", "Input should be a finite number")
  if (!Number.isInteger(value)) return fail("int_from_float", "Input should be a valid integer, got a number with a fractional part")
  if (!Number.isSafeInteger(value)) return fail("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
  return withinBounds(schema, value, input, loc, found)
}

export const readNumber = (schema: Bounds, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  const fail = (type: string, msg: string) => {
    found.push({ type, loc, msg, input })
    return undefined
  }
  if (typeof input === "string" && !numberText.test(input.trim())) {
    return fail("float_parsing", "Input should be a valid number, unable to parse string as a number")
  }
  const value = numeric(input)
  if (value === undefined) return fail("float_type", "Input should be a valid number")
  if (!Number.isFinite(value)) return fail("finite_number", "Input should be a finite number")
  return withinBounds(schema, value, input, loc, found)
}

const numeric = (input: unknown): number | undefined => {
  if (typeof input === "number") return input
  if (typeof input === "boolean") return input ? 1 : 0
  return typeof input === "string" ? Number(input.trim().replaceAll("_", "")) : undefined
}

const withinBounds = (schema: Bounds, value: number, input: unknown, loc: Location, found: Array<Violation>): number => {
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum } = schema
  const fail = (type: string, words: string, ctx: Readonly<Record<string, unknown>>) =>
    found.push({ type, loc, msg: `Input should be ${words}`, input, ctx })
  if (maximum !== undefined && value > maximum) fail("less_than_equal", `less than or equal to ${maximum}`, { le: maximum })
  else if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    fail("less_than", `less than ${exclusiveMaximum}`, { lt: exclusiveMaximum })
  else if (minimum !== undefined && value < minimum) fail("greater_than_equal", `greater than or equal to ${minimum}`, { ge: minimum })
  else if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    fail("greater_than", `greater than ${exclusiveMinimum}`, { gt: exclusiveMinimum })
  return value
}

const truths = new Set(["true", "t", "yes", "y", "on", "1"])
const falsehoods = new Set(["false", "f", "no", "n", "off", "0"])

export const readBoolean = (input: unknown, loc: Location, found: Array<Violation>): unknown => {
  if (typeof input === "boolean") return input
  if (input === 1 || input === 0) return input === 1
  if (typeof input === "string") {
    const word = input.toLowerCase()
    if (truths.has(word)) return true
    if (falsehoods.has(word)) return false
  }
  if (typeof input === "string" || typeof input === "number") {
    found.push({ type: "bool_parsing", loc, msg: "Input should be a valid boolean, unable to interpret input", input })
  } else {
    found.push({ type: "bool_type", loc, msg: "Input should be a valid boolean", input })
  }
  return undefined
}
