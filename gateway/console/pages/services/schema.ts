/** The settings of a service, of which the API gives the JSON Schema, as fields of a form. */
import type { Declared, Values } from "#gateway/console/base/Declared.tsx"

const isObject = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => (typeof value === "string" ? value : "")
const listOf = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])

const kindOf = ({ enum: choices, format, type }: Values): Declared["kind"] => {
  if (Array.isArray(choices)) return "choice"
  if (type === "boolean") return "check"
  if (type === "array") return "list"
  return format === "password" ? "secret" : "text"
}

const hintOf = ({ default: usual, description, enum: choices }: Values): string => {
  const isTold = typeof usual === "string" && !Array.isArray(choices)
  return [textOf(description), isTold ? `Empty: ${usual}` : ""].filter((part) => part !== "").join(". ")
}

/** `provider` is chosen apart. */
export const fieldsOf = (schema: Values): ReadonlyArray<Declared> => {
  const { properties, required } = schema
  const needed = listOf(required)
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]) =>
    name === "provider" || !isObject(property)
      ? []
      : [
          {
            name,
            label: textOf(property["title"]) || name,
            hint: hintOf(property),
            placeholder: listOf(property["examples"])[0] ?? "",
            isRequired: needed.includes(name),
            kind: kindOf(property),
            choices: listOf(property["enum"])
          }
        ]
  )
}

export const titleOf = ({ title }: Values, name: string): string => textOf(title) || name
export const aboutOf = ({ description }: Values): string => textOf(description)
