/** The contract that a provider of language models is registered with. */
import { Effect } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ConfigOf, CredentialFields } from "#core/provider/Credential.ts"
import { ModelError, type ModelNode, type OpenLanguageModel } from "./LanguageModel.ts"
import { openWithRetries } from "./ModelRetries.ts"
import { defineService, keysIn, readConfig, type ServiceDefinition, type ServiceHost, type ServiceProvider } from "./ServiceProvider.ts"
import type { RegisteredKind } from "./VoiceServices.ts"

export interface LanguageModelProvider extends ServiceProvider<"llm"> {
  /**
   * Takes the configuration as it is stored: fields may be missing, and there may be members that are not fields. `told`: what the agent's author tells
   * the provider, as stored: the member of the agent's configurations that has the provider's name.
   */
  readonly open: (config: JsonObject, host: ServiceHost, told?: JsonObject) => OpenLanguageModel
  /** See `ChosenServices`. Undefined if the model accepts any words. */
  readonly expected?: ((node: ModelNode) => string) | undefined
}

interface Definition<Fields extends CredentialFields> extends ServiceDefinition<"llm", Fields> {
  readonly open: (config: ConfigOf<Fields>, host: ServiceHost, told: JsonObject) => OpenLanguageModel
  readonly expected?: ((node: ModelNode) => string) | undefined
}

/** Derives the type of `config` from the fields. A configuration that does not fit them is refused when the model is opened. */
export const defineLanguageModel = <const Fields extends CredentialFields>(definition: Definition<Fields>): LanguageModelProvider => ({
  ...defineService(definition),
  expected: definition.expected,
  open: (given, host, told = {}) => {
    const open = (key: number) => serviceWithKey(definition, given, key, (config) => definition.open(config, host, told), Effect.fail)
    // What needs no key is no service that could refuse.
    const isHosted = Object.values(definition.fields).some(({ sensitive }) => sensitive)
    return isHosted ? openWithRetries(keysIn(definition.fields, given), () => nextKey(definition), open) : open(0)
  }
})

const misconfigured = (field: string) =>
  new ModelError({ reason: "refused", isRetryable: false, message: `${field} is missing or not what it must be` })
/** An exception may contain anything, secrets included, so only its kind is reported. */
const faulty = (thrown: unknown) => {
  const kind = thrown instanceof Error ? thrown.name : typeof thrown
  return new ModelError({ reason: "broken", isRetryable: false, message: `its package has a fault: it threw a ${kind} when it was set up` })
}

/** How often each service has been opened, so that its keys take turns. */
const openings = new WeakMap<object, number>()
const nextKey = (definition: object): number => {
  const key = openings.get(definition) ?? 0
  openings.set(definition, (key + 1) % Number.MAX_SAFE_INTEGER)
  return key
}

/**
 * The service for a stored configuration; of several keys, each opening uses the next. If the configuration does not fit the fields, or the package
 * throws, the result is a service from `instead`, which fails when it is used: this must not prevent the call from being placed.
 */
export const serviceOf = <Kind extends RegisteredKind, Fields extends CredentialFields, A>(
  definition: ServiceDefinition<Kind, Fields>,
  given: JsonObject,
  make: (config: ConfigOf<Fields>) => A,
  instead: (why: ModelError) => A
): A => serviceWithKey(definition, given, keysIn(definition.fields, given) > 1 ? nextKey(definition) : 0, make, instead)

const serviceWithKey = <Kind extends RegisteredKind, Fields extends CredentialFields, A>(
  definition: ServiceDefinition<Kind, Fields>,
  given: JsonObject,
  key: number,
  make: (config: ConfigOf<Fields>) => A,
  instead: (why: ModelError) => A
): A => {
  try {
    const { config, faults } = readConfig(definition, given, key)
    return faults[0] === undefined ? make(config) : instead(misconfigured(faults[0].field))
  } catch (thrown) {
    return instead(faulty(thrown))
  }
}
