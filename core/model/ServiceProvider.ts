/**
 * What all speech and language services have in common as they are registered: what they are called, the fields of their configuration, and what is
 * wrong with one that a client sends. What opens a service is different for each kind.
 */
import type { Egress } from "#core/egress/Egress.ts"
import type { JsonObject } from "#core/Json.ts"
import { type Fault, fault, fieldRequired } from "#core/Problem.ts"
import { type ConfigOf, complete, type CredentialField, type CredentialFields } from "#core/provider/Credential.ts"
import type { RegisteredKind } from "./VoiceServices.ts"

export interface ServiceManifest<Kind extends RegisteredKind = RegisteredKind> {
  readonly contract: 1
  readonly kind: Kind
  /** `[a-z0-9_]`, unique among the providers of its kind; what a configuration says under `provider`. */
  readonly provider: string
  readonly title: string
  readonly description: string
  /** ISO 639 codes of the languages that it speaks or understands. Left out: it may be any. */
  readonly languages?: ReadonlyArray<string>
}

/** What a provider is given of the engine. */
export interface ServiceHost {
  /** What it may connect to on behalf of the organization that configured it. */
  readonly egress: Egress
}

interface FieldFault extends Fault {
  readonly field: string
}

export interface ServiceProvider<Kind extends RegisteredKind = RegisteredKind> {
  readonly manifest: ServiceManifest<Kind>
  readonly fields: CredentialFields
  /** Why a configuration cannot be used; empty when it can. It may lack fields, and have members that are no fields. */
  readonly faultsOf: (config: JsonObject) => ReadonlyArray<FieldFault>
}

export interface ServiceDefinition<Kind extends RegisteredKind, Fields extends CredentialFields> {
  readonly manifest: ServiceManifest<Kind>
  readonly fields: Fields
  /** What is wrong with a configuration whose fields are each of the right type and form. */
  readonly check?: (config: ConfigOf<Fields>) => ReadonlyArray<FieldFault>
}

/** The configuration with all fields, or what is wrong with the one that was stored or sent. */
export const readConfig = <Fields extends CredentialFields>(
  { check, fields }: Pick<ServiceDefinition<RegisteredKind, Fields>, "check" | "fields">,
  given: JsonObject
): { readonly config: ConfigOf<Fields>; readonly faults: ReadonlyArray<FieldFault> } => {
  const values = complete(fields, valuesOf(fields, given))
  const unfit = Object.entries(fields).flatMap(([name, field]) => {
    const found = faultOf(field, values[name])
    return found === undefined ? [] : [{ field: name, ...found }]
  })
  // The cast holds where there are no faults: every field has been checked.
  const config = values as ConfigOf<Fields>
  return { config, faults: unfit.length > 0 ? unfit : (check?.(config) ?? []) }
}

/** A service without anything to open: its kind says who uses it. */
export const defineService = <const Kind extends RegisteredKind, const Fields extends CredentialFields>(
  definition: ServiceDefinition<Kind, Fields>
): ServiceProvider<Kind> => ({
  manifest: definition.manifest,
  fields: definition.fields,
  faultsOf: (given) => readConfig(definition, given).faults
})

/** Clients send a number in place of its text, several keys in place of one, null for what is not set. */
const valuesOf = (fields: CredentialFields, given: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const sent = Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined
      const value = field.sensitive && Array.isArray(sent) ? sent[0] : sent
      return [name, typeof value === "number" && field.type === "text" ? String(value) : value]
    })
  )

const faultOf = (field: CredentialField, value: unknown): Fault | undefined => {
  if (field.type === "boolean") return typeof value === "boolean" ? undefined : fault("Input should be a valid boolean")
  if (field.type !== "string-array") return textFault(field, value)
  if (!Array.isArray(value)) return fault("Input should be a valid list")
  if (field.required && value.length === 0) return fieldRequired
  return value.map((one: unknown) => textFault(field, one)).find((found) => found !== undefined)
}

const textFault = ({ choices, pattern, required }: CredentialField, value: unknown): Fault | undefined => {
  if (typeof value !== "string") return fault("Input should be a valid string")
  if (value.trim() === "") return required ? fieldRequired : undefined
  if (choices !== undefined && !choices.includes(value)) return fault(`Input should be ${choices.map((one) => `'${one}'`).join(" or ")}`)
  return pattern === undefined || new RegExp(pattern).test(value) ? undefined : fault(`String should match pattern '${pattern}'`)
}
