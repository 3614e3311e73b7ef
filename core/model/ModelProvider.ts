/** A provider of language models, as it is registered: what it is called, the fields of its configuration, and what opens a model. */
import { Effect } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import { type ConfigOf, complete, type CredentialFields } from "#core/provider/Credential.ts"
import { ModelError, type OpenLanguageModel } from "./LanguageModel.ts"

interface ModelManifest {
  readonly contract: 1
  readonly kind: "llm"
  /** `[a-z0-9_]`, unique among the providers of its kind; what a configuration says under `provider`. */
  readonly provider: string
  readonly title: string
  readonly description: string
}

/** What a provider is given of the engine. */
interface ModelHost {
  /** What it may connect to on behalf of the organization that configured it. */
  readonly egress: Egress
}

export interface LanguageModelProvider {
  readonly manifest: ModelManifest
  readonly fields: CredentialFields
  /** The configuration as it is stored: with missing fields, and with members that are no fields. */
  readonly open: (config: Readonly<Record<string, unknown>>, host: ModelHost) => OpenLanguageModel
}

interface Definition<Fields extends CredentialFields> extends Pick<LanguageModelProvider, "manifest"> {
  readonly fields: Fields
  readonly open: (config: ConfigOf<Fields>, host: ModelHost) => OpenLanguageModel
}

/** Ties the type of the configuration to the fields, and refuses one that does not fit them. */
export const defineLanguageModel = <const Fields extends CredentialFields>({
  fields,
  manifest,
  open
}: Definition<Fields>): LanguageModelProvider => ({
  manifest,
  fields,
  open: (given, host) => {
    const config = complete(fields, valuesOf(fields, given))
    const wrong = Object.keys(fields).find((name) => !fits(fields, name, config[name]))
    if (wrong !== undefined) {
      return Effect.fail(new ModelError({ reason: "refused", isRetryable: false, message: `${wrong} is missing or not what it must be` }))
    }
    // The cast holds because every field has been checked.
    return open(config as ConfigOf<Fields>, host)
  }
})

/** Configurations are stored as clients send them: a number in place of its text, several keys in place of one, null for what is not set. */
const valuesOf = (fields: CredentialFields, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const sent = Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined
      const value = field.sensitive && Array.isArray(sent) ? sent[0] : sent
      return [name, typeof value === "number" && field.type === "text" ? String(value) : value]
    })
  )

const fits = (fields: CredentialFields, name: string, value: unknown): boolean => {
  const field = fields[name]
  if (field?.type === "boolean") return typeof value === "boolean"
  const texts = field?.type === "string-array" ? value : [value]
  if (!Array.isArray(texts) || (field?.required === true && texts.every((text) => text === ""))) return false
  return texts.every((text) => typeof text === "string" && (field?.pattern === undefined || new RegExp(field.pattern).test(text)))
}
