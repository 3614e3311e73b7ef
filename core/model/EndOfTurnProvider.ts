/** The contract that a provider of end-of-turn models is registered with. */
import { Effect, type Scope } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ConfigOf, CredentialFields } from "#core/provider/Credential.ts"
import type { EndOfTurn } from "./EndOfTurn.ts"
import type { ModelError } from "./LanguageModel.ts"
import { serviceOf } from "./ModelProvider.ts"
import { defineService, type ServiceDefinition, type ServiceHost, type ServiceProvider } from "./ServiceProvider.ts"

/** Opens the model for one call, within the call's scope. */
export type OpenEndOfTurn = Effect.Effect<EndOfTurn, ModelError, Scope.Scope>

export interface EndOfTurnProvider extends ServiceProvider<"end_of_turn"> {
  /** Takes the configuration as it is stored. */
  readonly open: (config: JsonObject, host: ServiceHost) => OpenEndOfTurn
}

interface Definition<Fields extends CredentialFields> extends ServiceDefinition<"end_of_turn", Fields> {
  readonly open: (config: ConfigOf<Fields>, host: ServiceHost) => OpenEndOfTurn
}

/** Derives the type of `config` from the fields. A configuration that does not fit them is refused when the model is opened. */
export const defineEndOfTurn = <const Fields extends CredentialFields>(definition: Definition<Fields>): EndOfTurnProvider => ({
  ...defineService(definition),
  open: (given, host) => serviceOf(definition, given, (config) => definition.open(config, host), Effect.fail)
})
