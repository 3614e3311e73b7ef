/** The settings of a speech or language service as a JSON Schema, made from the fields of its provider. */
import { absent, type CredentialField } from "#core/provider/Credential.ts"
import type { ServiceProvider } from "#core/model/ServiceProvider.ts"

type JsonSchema = Readonly<Record<string, unknown>>

const textSchema = ({ choices, pattern, placeholder, sensitive }: CredentialField): JsonSchema => ({
  type: "string",
  ...(sensitive ? { format: "password" } : {}),
  ...(pattern === undefined ? {} : { pattern }),
  ...(choices === undefined ? {} : { enum: choices }),
  ...(placeholder === "" ? {} : { examples: [placeholder] })
})

const typeOf = (field: CredentialField): JsonSchema => {
  if (field.type === "boolean") return { type: "boolean" }
  return field.type === "string-array" ? { type: "array", items: textSchema(field) } : textSchema(field)
}

const fieldSchema = (field: CredentialField): JsonSchema => {
  const value = absent(field)
  const hasDefault = !field.required && (typeof value !== "string" || value !== "")
  return {
    title: field.label,
    ...(field.description === "" ? {} : { description: field.description }),
    ...typeOf(field),
    ...(hasDefault ? { default: value } : {})
  }
}

export const serviceSchema = ({ fields, manifest }: ServiceProvider): JsonSchema => ({
  title: manifest.title,
  description: manifest.description,
  type: "object",
  properties: {
    provider: { type: "string", const: manifest.provider, default: manifest.provider },
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]))
  },
  required: ["provider", ...Object.keys(fields).filter((name) => fields[name]?.required === true)]
})
