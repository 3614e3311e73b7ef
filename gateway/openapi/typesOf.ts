/** Generates the TypeScript types of the API from its OpenAPI document: what clients compile against is what is checked. */
import type { OpenApi, Operation } from "#gateway/openapi/openapi.ts"
import type { JsonSchema } from "#gateway/openapi/openapiSchema.ts"

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null && !Array.isArray(value)
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const nameOf = (ref: string): string => (ref.split("/").at(-1) ?? "").replaceAll(/\W/g, "_")
const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))
const commentOf = (schema: JsonSchema): string =>
  typeof schema["description"] === "string" ? `/** ${schema["description"].replaceAll("*/", "* /")} */ ` : ""

const union = (types: ReadonlyArray<string>): string => (types.length === 0 ? "unknown" : [...new Set(types)].join(" | "))

const typeOf = (schema: unknown): string => {
  if (!isSchema(schema)) return "unknown"
  if (typeof schema["$ref"] === "string") return nameOf(schema["$ref"])
  if ("const" in schema) return JSON.stringify(schema["const"])
  if ("enum" in schema) return union(listOf(schema["enum"]).map((one) => JSON.stringify(one)))
  if ("anyOf" in schema) return union(listOf(schema["anyOf"]).map(typeOf))
  if ("allOf" in schema) return listOf(schema["allOf"]).map(typeOf).join(" & ")
  switch (schema["type"]) {
    case "string":
      return schema["format"] === "binary" ? "Blob" : "string"
    case "integer":
    case "number":
      return "number"
    case "boolean":
      return "boolean"
    case "null":
      return "null"
    case "array":
      return `ReadonlyArray<${typeOf(schema["items"])}>`
    case "object":
      return objectOf(schema)
    default:
      return "unknown"
  }
}

const objectOf = (schema: JsonSchema): string => {
  const { additionalProperties, patternProperties, properties, required } = schema
  if (isSchema(properties) && Object.keys(properties).length > 0) {
    const names = listOf(required)
    const members = Object.entries(properties).map(([name, one]) => {
      const comment = isSchema(one) ? commentOf(one) : ""
      return `${comment}readonly ${keyOf(name)}${names.includes(name) ? "" : "?"}: ${typeOf(one)}`
    })
    return `{ ${members.join("; ")} }`
  }
  const [values = additionalProperties] = isSchema(patternProperties) ? Object.values(patternProperties) : []
  return `{ readonly [name: string]: ${typeOf(values)} }`
}

const parametersOf = ({ parameters }: Operation, place: string): string => {
  const own = parameters.filter((one) => one["in"] === place)
  const members = own.map(
    (one) => `${commentOf(one)}readonly ${keyOf(String(one["name"]))}${one["required"] === true ? "" : "?"}: ${typeOf(one["schema"])}`
  )
  return `{ ${members.join("; ")} }`
}

const contentOf = (content: Operation["responses"][string]["content"]): string =>
  content === undefined
    ? "undefined"
    : union(Object.entries(content).map(([type, { schema }]) => (type.startsWith("text/") ? "string" : typeOf(schema))))

const operationOf = (method: string, path: string, operation: Operation): string => {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"))
  const bad = Object.keys(operation.responses).filter((status) => status >= "400")
  const members = [
    `readonly method: ${JSON.stringify(method.toUpperCase())}`,
    `readonly path: ${JSON.stringify(path)}`,
    `readonly params: ${parametersOf(operation, "path")}`,
    `readonly query: ${parametersOf(operation, "query")}`,
    `readonly headers: ${parametersOf(operation, "header")}`,
    `readonly body: ${contentOf(operation.requestBody?.content)}`,
    `readonly answer: ${union(good.map(([, { content }]) => contentOf(content)))}`,
    `readonly errors: ${union(bad)}`
  ]
  return `  /** ${operation.summary} */\n  readonly ${operation.operationId}: {\n    ${members.join("\n    ")}\n  }`
}

/** A module of types: one for each shape, and `Operations` by the names of the operations. */
export const typesOf = (document: OpenApi): string => {
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `${commentOf(schema) === "" ? "" : `${commentOf(schema).trim()}\n`}export type ${nameOf(name)} = ${typeOf(schema)}\n`
  )
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(method, path, operation))
  )
  return ["// Generated from the routes. Do not edit.\n", ...shapes, `export interface Operations {\n${operations.join("\n")}\n}\n`].join(
    "\n"
  )
}
