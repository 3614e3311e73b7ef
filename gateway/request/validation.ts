/**
 * Validates what a client sent against a TypeBox schema, and lists every violation in the words that clients of this API know. One pass checks,
 * converts (numeric text becomes a number, `yes` becomes true), fills in defaults and drops undeclared keys, so that a handler gets exactly
 * `Static` of the schema: a property with a `default` may be left out of the request, and is always present here.
 */
import Type, {
  type TArray,
  type TArrayOptions,
  type TObject,
  type TRecord,
  type TSchema,
  type TString,
  type TStringOptions,
  type TUnion
} from "typebox"
import { type Normal, normalOf } from "#core/provider/Normal.ts"
import { type Location, missing, type Violation, valueError } from "./Violation.ts"
import { isInteger, isNumber, readBoolean, readInteger, readNumber } from "./scalar.ts"

/** More violations would not help the client. Beyond this, lists and records are not read any further. */
const mostViolations = 100

/** Returns the converted `input`; the result must not be used if `found` has grown. */
export const read = (schema: TSchema, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  const before = found.length
  const value = readShape(schema, input, loc, found)
  // A custom rule may rely on the shape, so it runs only if the shape is right.
  if (found.length > before || !Type.IsRefine(schema)) return value
  for (const { check, error } of schema["~refine"]) {
    if (!check(value)) found.push(valueError(loc, input, error(value)))
  }
  return value
}

const isString = (schema: TSchema): schema is TString & TStringOptions => Type.IsString(schema)
const isArray = (schema: TSchema): schema is TArray & TArrayOptions => Type.IsArray(schema)

const readShape = (schema: TSchema, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  if (Type.IsObject(schema)) return readObject(schema, input, loc, found)
  if (isString(schema)) return readString(schema, input, loc, found)
  if (isInteger(schema)) return readInteger(schema, input, loc, found)
  if (isNumber(schema)) return readNumber(schema, input, loc, found)
  if (Type.IsBoolean(schema)) return readBoolean(input, loc, found)
  if (isArray(schema)) return readList(schema, input, loc, found)
  if (Type.IsRecord(schema)) return readRecord(schema, input, loc, found)
  if (Type.IsUnion(schema)) return readUnion(schema, input, loc, found)
  if (Type.IsEnum(schema)) return readOneOf(schema.enum, input, loc, found)
  if (Type.IsLiteral(schema)) return readOneOf([schema.const], input, loc, found)
  return input
}

const isPlain = (input: unknown): input is Readonly<Record<string, unknown>> =>
  typeof input === "object" && input !== null && !Array.isArray(input)

const defaultOf = (schema: TSchema): { readonly value: unknown } | undefined =>
  "default" in schema ? { value: schema.default } : undefined

const readObject = (schema: TObject, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  if (!isPlain(input)) {
    const msg = "Input should be a valid dictionary or object to extract fields from"
    found.push({ type: "model_attributes_type", loc, msg, input })
    return undefined
  }
  const entries: Array<readonly [string, unknown]> = []
  for (const [name, property] of Object.entries(schema.properties)) {
    if (Object.hasOwn(input, name)) {
      entries.push([name, read(property, input[name], [...loc, name], found)])
      continue
    }
    const preset = defaultOf(property)
    if (preset !== undefined) entries.push([name, preset.value instanceof Object ? structuredClone(preset.value) : preset.value])
    else if (!Type.IsOptional(property)) found.push(missing([...loc, name], input))
  }
  // Not assigned key by key: one named `__proto__` would set the prototype.
  return Object.fromEntries(entries)
}

const patterns = new Map<string, RegExp>()
const patternOf = (source: string): RegExp => {
  const known = patterns.get(source)
  if (known !== undefined) return known
  // An unanchored pattern with a leading `.*` is tried from each character to the end of the text. Without the `.*` it matches the same texts.
  const compiled = new RegExp(source.replace(/^\.\*/, ""), "u")
  patterns.set(source, compiled)
  return compiled
}

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

/** Schema options for a text that is normalized before it is checked. */
export const normalForm = (normal: Normal) => ({ [normalMark]: normal })
const normalMark = "~normal"

const readString = (schema: TString & TStringOptions, given: unknown, loc: Location, found: Array<Violation>): unknown => {
  const fail = (type: string, msg: string, ctx: Readonly<Record<string, unknown>>) => found.push({ type, loc, msg, input: given, ctx })
  if (typeof given !== "string") {
    found.push({ type: "string_type", loc, msg: "Input should be a valid string", input: given })
    return undefined
  }
  // The mark holds what `normalForm` put there.
  const input = normalMark in schema ? normalOf(schema[normalMark] as Normal, given) : given
  const { maxLength, minLength, pattern } = schema
  if (minLength !== undefined && characters(input, minLength) < minLength) {
    fail("string_too_short", `String should have at least ${plural(minLength, "character")}`, { min_length: minLength })
  } else if (maxLength !== undefined && characters(input, maxLength + 1) > maxLength) {
    fail("string_too_long", `String should have at most ${plural(maxLength, "character")}`, { max_length: maxLength })
  } else if (typeof pattern === "string" && !patternOf(pattern).test(input)) {
    fail("string_pattern_mismatch", `String should match pattern '${pattern}'`, { pattern })
  }
  return input
}

/** Lengths count code points: an emoji is one character. Counting stops at `enough`. */
const characters = (text: string, enough: number): number => {
  let count = 0
  for (const _ of text) if (++count >= enough) break
  return count
}

const readList = (schema: TArray & TArrayOptions, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  if (!Array.isArray(input)) {
    found.push({ type: "list_type", loc, msg: "Input should be a valid list", input })
    return undefined
  }
  const { maxItems, minItems } = schema
  const size = (type: string, bound: string, ctx: Readonly<Record<string, unknown>>) =>
    found.push({
      type,
      loc,
      msg: `List should have ${bound} after validation, not ${input.length}`,
      input,
      ctx: { field_type: "List", ...ctx, actual_length: input.length }
    })
  if (maxItems !== undefined && input.length > maxItems) {
    size("too_long", `at most ${plural(maxItems, "item")}`, { max_length: maxItems })
    return undefined
  }
  const before = found.length
  const items: Array<unknown> = []
  for (const [index, item] of input.entries()) {
    if (found.length >= mostViolations) return undefined
    items.push(read(schema.items, item, [...loc, index], found))
  }
  if (found.length === before && minItems !== undefined && items.length < minItems) {
    size("too_short", `at least ${plural(minItems, "item")}`, { min_length: minItems })
  }
  return items
}

const readRecord = (schema: TRecord, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  if (!isPlain(input)) {
    found.push({ type: "dict_type", loc, msg: "Input should be a valid dictionary", input })
    return undefined
  }
  const [values] = Object.values(schema.patternProperties)
  if (values === undefined || Type.IsUnknown(values)) return input
  const entries: Array<readonly [string, unknown]> = []
  for (const [name, value] of Object.entries(input)) {
    if (found.length >= mostViolations) return undefined
    entries.push([name, read(values, value, [...loc, name], found)])
  }
  return Object.fromEntries(entries)
}

const readOneOf = (allowed: ReadonlyArray<unknown>, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  if (allowed.includes(input)) return input
  const quoted = allowed.map((word) => (typeof word === "string" ? `'${word}'` : String(word)))
  const expected = quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`
  found.push({ type: "literal_error", loc, msg: `Input should be ${expected}`, input, ctx: { expected } })
  return undefined
}

/** The schema of one thing, or of several at once under the key `name`, which distinguishes the two. */
export const oneOrMany = <One extends TSchema, Many extends TSchema>(name: string, one: One, many: Many) =>
  Type.Union([one, many], { [manyMark]: name })
const manyMark = "x-many-under"

/**
 * A union is "this or null", or its variants are distinguished by a tag or by the presence of a key; any other kind would not allow helpful
 * error messages.
 */
const readUnion = (schema: TUnion, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  if (manyMark in schema && typeof schema[manyMark] === "string") {
    const isMany = isPlain(input) && Object.hasOwn(input, schema[manyMark])
    return read(schema.anyOf[isMany ? 1 : 0] ?? schema, input, loc, found)
  }
  const property = tagOf(schema)
  if (property !== undefined) return readTagged(schema, property, input, loc, found)
  if (input === null && schema.anyOf.some(Type.IsNull)) return null
  const variant = schema.anyOf.find((one) => !Type.IsNull(one))
  return variant === undefined ? input : read(variant, input, loc, found)
}

/** The property that distinguishes the variants of a union. */
export const tagOf = (schema: TSchema): string | undefined =>
  "discriminator" in schema && isPlain(schema.discriminator) && typeof schema.discriminator["propertyName"] === "string"
    ? schema.discriminator["propertyName"]
    : undefined

const readTagged = (schema: TUnion, property: string, input: unknown, loc: Location, found: Array<Violation>): unknown => {
  const discriminator = `'${property}'`
  if (!isPlain(input)) {
    const msg = "Input should be a valid dictionary or object to extract fields from"
    found.push({ type: "model_attributes_type", loc, msg, input })
    return undefined
  }
  if (!Object.hasOwn(input, property)) {
    const msg = `Unable to extract tag using discriminator ${discriminator}`
    found.push({ type: "union_tag_not_found", loc, msg, input, ctx: { discriminator } })
    return undefined
  }
  const variants = new Map<unknown, TSchema>()
  for (const one of schema.anyOf) {
    const tag = Type.IsObject(one) ? one.properties[property] : undefined
    if (tag !== undefined && Type.IsLiteral(tag)) variants.set(tag.const, one)
  }
  const given = input[property]
  // An object from the client may have a `toString` that is not a function.
  const tag = typeof given === "string" ? given : JSON.stringify(given)
  const chosen = variants.get(given)
  if (chosen !== undefined) return read(chosen, input, [...loc, tag], found)
  const expected = [...variants.keys()].map((known) => `'${String(known)}'`).join(", ")
  found.push({
    type: "union_tag_invalid",
    loc,
    msg: `Input tag '${tag}' found using ${discriminator} does not match any of the expected tags: ${expected}`,
    input,
    ctx: { discriminator, tag, expected_tags: expected }
  })
  return undefined
}
