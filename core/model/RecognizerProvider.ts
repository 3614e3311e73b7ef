/** The contract that a provider of recognizers is registered with. */
import { Effect } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ConfigOf, CredentialFields } from "#core/provider/Credential.ts"
import type { ModelError } from "./LanguageModel.ts"
import { serviceOf } from "./ModelProvider.ts"
import { defineService, type ServiceDefinition, type ServiceHost, type ServiceProvider } from "./ServiceProvider.ts"
import type { SpeechToText } from "./SpeechToText.ts"

export interface RecognizerProvider extends ServiceProvider<"stt"> {
  /** Takes the configuration as it is stored. A recognizer that cannot be used fails when it is opened. */
  readonly recognizer: (config: JsonObject, host: ServiceHost) => SpeechToText
  /** Why no recognizer of this provider can be opened at present, if that is known before one is; undefined if it can. */
  readonly unready?: (() => string | undefined) | undefined
}

interface Definition<Fields extends CredentialFields> extends ServiceDefinition<"stt", Fields> {
  readonly recognizer: (config: ConfigOf<Fields>, host: ServiceHost) => SpeechToText
  readonly unready?: RecognizerProvider["unready"]
}

/** Derives the type of `config` from the fields. A configuration that does not fit them yields a recognizer that cannot be opened. */
export const defineRecognizer = <const Fields extends CredentialFields>(definition: Definition<Fields>): RecognizerProvider => ({
  ...defineService(definition),
  unready: definition.unready,
  recognizer: (given, host) =>
    serviceOf(
      definition,
      given,
      (config) => definition.recognizer(config, host),
      (why) => deaf(definition.manifest.provider, why)
    )
})

/** A recognizer that fails with `why` when it is opened. */
export const deaf = (provider: string, why: ModelError): SpeechToText => ({
  provider,
  model: "",
  ownsTurns: false,
  open: () => Effect.fail(why)
})
