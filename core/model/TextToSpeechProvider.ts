/** The contract that a provider of voices is registered with. */
import { Stream } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ConfigOf, CredentialFields } from "#core/provider/Credential.ts"
import type { ModelError } from "./LanguageModel.ts"
import { serviceOf } from "./ModelProvider.ts"
import { defineService, type ServiceDefinition, type ServiceHost, type ServiceProvider } from "./ServiceProvider.ts"
import type { TextToSpeech } from "./TextToSpeech.ts"

export interface TextToSpeechProvider extends ServiceProvider<"tts"> {
  /** Takes the configuration as it is stored. A voice that cannot be used fails when it is asked to speak. */
  readonly speaker: (config: JsonObject, host: ServiceHost) => TextToSpeech
}

interface Definition<Fields extends CredentialFields> extends ServiceDefinition<"tts", Fields> {
  readonly speaker: (config: ConfigOf<Fields>, host: ServiceHost) => TextToSpeech
}

/** Derives the type of `config` from the fields. A configuration that does not fit them yields a voice that cannot speak. */
export const defineTextToSpeech = <const Fields extends CredentialFields>(definition: Definition<Fields>): TextToSpeechProvider => ({
  ...defineService(definition),
  speaker: (given, host) =>
    serviceOf(
      definition,
      given,
      (config) => definition.speaker(config, host),
      (why) => mute(definition.manifest.provider, why)
    )
})

/** A voice that fails with `why` when it is asked to speak. */
export const mute = (provider: string, why: ModelError): TextToSpeech => ({
  provider,
  voice: "",
  format: { encoding: "mulaw", rate: 8000 },
  isCacheable: false,
  ownsQueue: true,
  atOnce: 1,
  speak: () => Stream.fail(why)
})
