/** Makes an example for a schema: its own, one by the name of a property or, failing both, the smallest value that fits. */
import Type, { type TSchema } from "typebox"
import { read } from "#gateway/request/validation.ts"

/** Examples for properties by name. */
const usual: Readonly<Record<string, unknown>> = {
  name: "Spring reminder",
  email: "ada@example.com",
  password: "correct horse battery",
  phone_number: "+15550100001",
  address: "+15550100001",
  country_code: "US",
  timezone: "Europe/Berlin",
  source_type: "csv",
  source_id: "campaigns/1/7d9f6a52-0c8e-4b1e-9d3b-2f6f0f3f8a10_list.csv",
  file_key: "campaigns/1/7d9f6a52-0c8e-4b1e-9d3b-2f6f0f3f8a10_list.csv",
  file_name: "list.csv",
  provider: "ari",
  url: "https://example.com/hooks",
  start_time: "09:00",
  end_time: "17:00",
  detail: "Campaign not found"
}
const texts = [
  "text",
  "2026-06-01T10:00:00.000Z",
  "7d9f6a52-0c8e-4b1e-9d3b-2f6f0f3f8a10",
  "+15550100001",
  "https://example.com/",
  "ada@example.com",
  "09:00",
  "csv",
  "a longer text, that is long enough"
]
const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-06-01T10:00:00.000Z",
  date: "2026-06-01",
  uuid: "7d9f6a52-0c8e-4b1e-9d3b-2f6f0f3f8a10",
  email: "ada@example.com",
  uri: "https://example.com/"
}

const fits = (schema: TSchema, value: unknown): boolean => {
  const found: Parameters<typeof read>[3] = []
  read(schema, value, [], found)
  return found.length === 0
}
const textAt = (schema: TSchema, name: string): string | undefined => {
  const value: unknown = Reflect.get(schema, name)
  return typeof value === "string" ? value : undefined
}
const numberAt = (schema: TSchema, name: string): number | undefined => {
  const value: unknown = Reflect.get(schema, name)
  return typeof value === "number" ? value : undefined
}

const textOf = (schema: TSchema, name: string): string => {
  const format = formats[textAt(schema, "format") ?? ""]
  if (format !== undefined) return format
  const dated = name.endsWith("_at") ? [formats["date-time"]] : []
  return [usual[name], ...dated, ...texts].filter((one) => typeof one === "string").find((one) => fits(schema, one)) ?? "text"
}

/** `name`: the name of the property that the example is for. */
export const exampleOf = (schema: TSchema, name = ""): unknown => {
  if ("examples" in schema && Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0]
  if ("default" in schema && schema.default !== null) return schema.default
  if (Type.IsObject(schema)) {
    const given = Object.entries(schema.properties).filter(([, one]) => !Type.IsOptional(one))
    return Object.fromEntries(given.map(([key, one]) => [key, exampleOf(one, key)]))
  }
  if (Type.IsString(schema)) return textOf(schema, name)
  if (Type.IsInteger(schema) || Type.IsNumber(schema)) return Math.max(1, numberAt(schema, "minimum") ?? 1)
  if (Type.IsBoolean(schema)) return true
  if (Type.IsArray(schema)) return (numberAt(schema, "maxItems") ?? 1) < 1 ? [] : [exampleOf(schema.items, name)]
  if (Type.IsUnion(schema)) return exampleOf(schema.anyOf.find((one) => !Type.IsNull(one)) ?? schema, name)
  if (Type.IsEnum(schema)) return schema.enum[0]
  if (Type.IsLiteral(schema)) return schema.const
  if (Type.IsNull(schema)) return null
  return {}
}

/** An example of a request. Optional ids of other resources are left out: a reader who sends the example unchanged has no such resources. */
export const requestExampleOf = (schema: TSchema): unknown => {
  if (!Type.IsObject(schema) || "examples" in schema) return exampleOf(schema)
  const isLeftOut = (name: string, one: TSchema) => name.endsWith("_id") && "default" in one && one.default === null
  const given = Object.entries(schema.properties).filter(([name, one]) => !isLeftOut(name, one))
  return exampleOf(Type.Object(Object.fromEntries(given)))
}
