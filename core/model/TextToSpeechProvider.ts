/** A provider of voices, as it is registered. */
import { Stream } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { ConfigOf, CredentialFields } from "#core/provider/Credential.ts"
import type { ModelError } from "./LanguageModel.ts"
import { serviceOf } from "./ModelProvider.ts"
import { defineService, type ServiceDefinition, type ServiceHost, type ServiceProvider } from "./ServiceProvider.ts"
import type { TextToSpeech } from "./TextToSpeech.ts"

export interface TextToSpeechProvider extends ServiceProvider<"tts"> {
  /** The configuration as it is stored. A voice that cannot be used fails when it is to speak. */
  readonly speaker: (config: JsonObject, host: ServiceHost) => TextToSpeech
}

interface Definition<Fields extends CredentialFields> extends ServiceDefinition<"tts", Fields> {
  readonly speaker: (config: ConfigOf<Fields>, host: ServiceHost) => TextToSpeech
}

/** Ties the type of the configuration to the fields, and refuses one that does not fit them. */
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

/** Says nothing, for this reason. */
export const mute = (provider: string, why: ModelError): TextToSpeech => ({
  provider,
  voice: "",
  format: { encoding: "mulaw", rate: 8000 },
  isCacheable: false,
  ownsQueue: true,
  atOnce: 1,
  speak: () => Stream.fail(why)
})
