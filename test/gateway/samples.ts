/** Values for the schemas of routes: the smallest valid one, and generated ones that are valid, almost valid, or not valid at all. */
import fc from "fast-check"
import Type, { type TObject, type TSchema } from "typebox"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import { read } from "#gateway/request/validation.ts"
import type { Violation } from "#gateway/request/Violation.ts"
import { graph } from "./apiTest.ts"
import type { Answer } from "./gatewayTest.ts"

/** Values that no well-meaning client would send. */
export const hostileValues: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  2 ** 31,
  Number.MAX_SAFE_INTEGER,
  "",
  "0",
  "x",
  "é😀",
  "a\u0000b",
  "\ud800",
  "'; DROP TABLE runs; --",
  "x".repeat(20_000),
  [],
  [null],
  [[]],
  {},
  { a: null },
  { constructor: { prototype: 1 } },
  [{ id: 1 }, 5],
  { nodes: null },
  { nodes: [null], edges: [{}] },
  { nodes: [{ id: 1 }], edges: {} },
  { nodes: {}, edges: "x" }
]
export const hostileWords = ["0", "-1", "1.5", "99999999999", "x", "%00", "%ff", "..%2f..%2fetc", "null", "1e3", "%20", "9".repeat(400)]

/** The value that a property of this name must have for its request to make sense. */
const known: Readonly<Record<string, unknown>> = {
  workflow_definition: graph,
  config: { provider: "ari", ari_endpoint: "http://127.0.0.1", app_name: "a", app_password: "password1" },
  phone_number: "+15550100001",
  source_type: "csv",
  source_id: "campaigns/1/00000000-0000-4000-8000-000000000000_a.csv",
  url: "https://example.org/hook",
  address: "+15550100009"
}
const texts = [
  "a",
  "csv",
  "active",
  "+15550100001",
  "a@example.org",
  "https://example.org/",
  "00000000-0000-4000-8000-000000000000",
  "2026-01-01T00:00:00Z",
  "2026-01-01",
  "09:00",
  "UTC",
  "US",
  "a".repeat(12),
  "a".repeat(40)
]

export const violationsOf = (schema: TSchema, value: unknown, place = "body"): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  read(schema, value, [place], found)
  return found
}
const fits = (schema: TSchema, value: unknown): boolean => violationsOf(schema, value).length === 0

const numberAt = (schema: TSchema, name: string): number | undefined => {
  const bound: unknown = Reflect.get(schema, name)
  return typeof bound === "number" ? bound : undefined
}
const isRequired = (schema: TSchema): boolean => !("default" in schema) && !Type.IsOptional(schema)

const variantsOf = (schema: TSchema): ReadonlyArray<TSchema> =>
  Type.IsUnion(schema) ? schema.anyOf.filter((one) => !Type.IsNull(one)) : []

/** `text` is used wherever any text is valid. */
export const sampleOf = (schema: TSchema, text = "a"): unknown => {
  if (Type.IsObject(schema)) {
    return Object.fromEntries(
      Object.entries(schema.properties)
        .filter(([, one]) => isRequired(one))
        .map(([name, one]) => [name, name in known && fits(one, known[name]) ? known[name] : sampleOf(one, text)])
    )
  }
  if (Type.IsString(schema)) return [text, ...texts].find((one) => fits(schema, one)) ?? text
  if (Type.IsInteger(schema) || Type.IsNumber(schema)) return Math.max(1, numberAt(schema, "minimum") ?? 1)
  if (Type.IsBoolean(schema)) return true
  if (Type.IsArray(schema)) return Array.from({ length: numberAt(schema, "minItems") ?? 0 }, () => sampleOf(schema.items, text))
  if (Type.IsUnion(schema)) return sampleOf(variantsOf(schema)[0] ?? schema, text)
  if (Type.IsEnum(schema)) return schema.enum[0]
  if (Type.IsLiteral(schema)) return schema.const
  return {}
}

/** Null for each property. */
export const nullsFor = (schema: TObject): unknown => Object.fromEntries(Object.keys(schema.properties).map((name) => [name, null]))

/** Generates mostly valid values for the schema. */
export const arbitraryOf = (schema: TSchema): fc.Arbitrary<unknown> => {
  const sample = fc.constant(sampleOf(schema))
  const shaped = shapedAs(schema)
  return fc.oneof(
    { weight: 6, arbitrary: shaped },
    { weight: 3, arbitrary: sample },
    { weight: 1, arbitrary: fc.constantFrom(...hostileValues) }
  )
}

const shapedAs = (schema: TSchema): fc.Arbitrary<unknown> => {
  if (Type.IsObject(schema)) {
    const names = Object.entries(schema.properties).filter(([, one]) => isRequired(one))
    const parts = Object.entries(schema.properties).map(([name, one]) => {
      const right = name in known ? [{ weight: 3, arbitrary: fc.constant(known[name]) }] : []
      return [name, fc.oneof({ weight: 1, arbitrary: arbitraryOf(one) }, ...right)]
    })
    const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(parts)
    return fc.record(model, { requiredKeys: names.map(([name]) => name) })
  }
  if (Type.IsString(schema)) return fc.oneof(fc.constantFrom(...texts), fc.string({ unit: "grapheme", maxLength: 20 }))
  if (Type.IsInteger(schema)) return fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer())
  if (Type.IsNumber(schema)) return fc.double({ noNaN: true, noDefaultInfinity: true })
  if (Type.IsBoolean(schema)) return fc.boolean()
  if (Type.IsArray(schema)) return fc.array(arbitraryOf(schema.items), { maxLength: 3 })
  if (Type.IsUnion(schema)) return fc.oneof(...variantsOf(schema).map(arbitraryOf), fc.constant(null))
  if (Type.IsEnum(schema)) return fc.constantFrom<unknown>(...schema.enum)
  if (Type.IsLiteral(schema)) return fc.constant(schema.const)
  return fc.jsonValue({ maxDepth: 3 })
}

/** Routes whose answers come to an end. */
export const endingRoutes = apiRoutes([ari]).filter(
  ({ success }) => !(success._tag === "Content" && success.mediaTypes.includes("text/event-stream"))
)
/** Nothing is broken, and every refusal says why. */
export const isSound = ({ json, status }: Answer): boolean =>
  status < 500 && (status < 400 || (typeof json === "object" && json !== null && "detail" in json))
