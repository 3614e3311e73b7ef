/** A provider of language models, as it is registered. */
import { Effect } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ConfigOf, CredentialFields } from "#core/provider/Credential.ts"
import { ModelError, type ModelNode, type OpenLanguageModel } from "./LanguageModel.ts"
import { defineService, readConfig, type ServiceDefinition, type ServiceHost, type ServiceProvider } from "./ServiceProvider.ts"
import type { RegisteredKind } from "./VoiceServices.ts"

export interface LanguageModelProvider extends ServiceProvider<"llm"> {
  /** The configuration as it is stored: with missing fields, and with members that are no fields. */
  readonly open: (config: JsonObject, host: ServiceHost) => OpenLanguageModel
  /** See `ChosenServices`. Undefined where the model takes any words. */
  readonly expected?: ((node: ModelNode) => string) | undefined
}

interface Definition<Fields extends CredentialFields> extends ServiceDefinition<"llm", Fields> {
  readonly open: (config: ConfigOf<Fields>, host: ServiceHost) => OpenLanguageModel
  readonly expected?: ((node: ModelNode) => string) | undefined
}

/** Ties the type of the configuration to the fields, and refuses one that does not fit them. */
export const defineLanguageModel = <const Fields extends CredentialFields>(definition: Definition<Fields>): LanguageModelProvider => ({
  ...defineService(definition),
  expected: definition.expected,
  open: (given, host) => serviceOf(definition, given, (config) => definition.open(config, host), Effect.fail)
})

const misconfigured = (field: string) =>
  new ModelError({ reason: "refused", isRetryable: false, message: `${field} is missing or not what it must be` })
/** What it threw may say anything, secrets included: only its kind is told. */
const faulty = (thrown: unknown) => {
  const kind = thrown instanceof Error ? thrown.name : typeof thrown
  return new ModelError({ reason: "broken", isRetryable: false, message: `its package has a fault: it threw a ${kind} when it was set up` })
}

/**
 * What a definition makes of a stored configuration. `instead`: a service that fails, of a configuration that does not fit the fields, and of a package
 * that throws: a call must not fail for it before it is made.
 */
export const serviceOf = <Kind extends RegisteredKind, Fields extends CredentialFields, A>(
  definition: ServiceDefinition<Kind, Fields>,
  given: JsonObject,
  make: (config: ConfigOf<Fields>) => A,
  instead: (why: ModelError) => A
): A => {
  try {
    const { config, faults } = readConfig(definition, given)
    return faults[0] === undefined ? make(config) : instead(misconfigured(faults[0].field))
  } catch (thrown) {
    return instead(faulty(thrown))
  }
}
