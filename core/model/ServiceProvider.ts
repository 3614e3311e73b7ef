/**
 * What the registrations of all speech and language services have in common: a manifest, the fields of their configuration, and its validation.
 * How a service is opened differs by kind.
 */
import { Effect } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import type { JsonObject } from "#core/Json.ts"
import { type Fault, fault, fieldRequired } from "#core/Problem.ts"
import { type ConfigOf, complete, type CredentialField, type CredentialFields } from "#core/provider/Credential.ts"
import type { ModelError } from "./LanguageModel.ts"
import type { RegisteredKind } from "./VoiceServices.ts"

export interface ServiceManifest<Kind extends RegisteredKind = RegisteredKind> {
  readonly contract: 1
  readonly kind: Kind
  /** `[a-z0-9_]`, unique among the providers of its kind. Configurations refer to it as `provider`. */
  readonly provider: string
  readonly title: string
  readonly description: string
  /** ISO 639 codes of the languages that the service speaks or understands. If omitted, it may be any. */
  readonly languages?: ReadonlyArray<string>
}

/** What the engine gives to a provider. */
export interface ServiceHost {
  /** What the provider may connect to on behalf of the organization that configured it. */
  readonly egress: Egress
}

interface FieldFault extends Fault {
  readonly field: string
}

export interface ServiceProvider<Kind extends RegisteredKind = RegisteredKind> {
  readonly manifest: ServiceManifest<Kind>
  readonly fields: CredentialFields
  /** Why a configuration cannot be used; empty if it can. Fields may be missing, and there may be members that are not fields. */
  readonly faultsOf: (config: JsonObject) => ReadonlyArray<FieldFault>
  /**
   * Tries all keys of a configuration without faults, and fails with what the service says against one of them. Undefined if that cannot be told before
   * the service is used.
   */
  readonly probe?: ((config: JsonObject, host: ServiceHost) => Effect.Effect<void, ModelError>) | undefined
}

export interface ServiceDefinition<Kind extends RegisteredKind, Fields extends CredentialFields> {
  readonly manifest: ServiceManifest<Kind>
  readonly fields: Fields
  /** The faults of a configuration whose fields all have the right type and form. */
  readonly check?: (config: ConfigOf<Fields>) => ReadonlyArray<FieldFault>
  /** Tries the key of such a configuration. Must change nothing at the service, and cost nothing. */
  readonly probe?: ((config: ConfigOf<Fields>, host: ServiceHost) => Effect.Effect<void, ModelError>) | undefined
}

/** How many keys there are: a list holds several, of which one is used at a time. */
export const keysIn = (fields: CredentialFields, given: JsonObject): number => {
  const lists = Object.keys(fields).flatMap((name) => {
    const sent = fields[name]?.sensitive === true && Object.hasOwn(given, name) ? given[name] : undefined
    return Array.isArray(sent) ? [sent.length] : []
  })
  return Math.max(1, ...lists)
}

/** The configuration with all fields filled in, and the faults of what was stored or sent. `key`: which one to use, from 0. */
export const readConfig = <Fields extends CredentialFields>(
  { check, fields }: Pick<ServiceDefinition<RegisteredKind, Fields>, "check" | "fields">,
  given: JsonObject,
  key: number
): { readonly config: ConfigOf<Fields>; readonly faults: ReadonlyArray<FieldFault> } => {
  const values = complete(fields, valuesOf(fields, given, key))
  const unfit = Object.entries(fields).flatMap(([name, field]) => {
    const found = faultOf(field, values[name])
    return found === undefined ? [] : [{ field: name, ...found }]
  })
  // The cast holds where there are no faults: every field has been checked.
  const config = values as ConfigOf<Fields>
  return { config, faults: unfit.length > 0 ? unfit : (check?.(config) ?? []) }
}

/** Registers a service without a way to open it; the definitions of the single kinds add that. */
export const defineService = <const Kind extends RegisteredKind, const Fields extends CredentialFields>(
  definition: ServiceDefinition<Kind, Fields>
): ServiceProvider<Kind> => {
  const { fields, manifest, probe } = definition
  const eachKey = (given: JsonObject) => Array.from({ length: keysIn(fields, given) }, (_, key) => readConfig(definition, given, key))
  return {
    manifest,
    fields,
    faultsOf: (given) => eachKey(given).find(({ faults }) => faults.length > 0)?.faults ?? [],
    probe: probe && ((given, host) => Effect.forEach(eachKey(given), ({ config }) => probe(config, host), { discard: true }))
  }
}

/** Clients may send a number instead of text, several keys instead of one, and null for an unset field. */
const valuesOf = (fields: CredentialFields, given: JsonObject, key: number): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const sent = Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined
      const value = field.sensitive && Array.isArray(sent) ? sent[key % sent.length] : sent
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
