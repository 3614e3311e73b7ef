/** Speech and language services for tests: the built-in ones, and some that require a key and do not really exist. */
import { Effect } from "effect"
import { builtInServices, usualServices } from "#adapters/services.ts"
import { fliteProvider } from "#adapters/voice/flite/flite.ts"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import type { ChosenServices } from "#core/model/AgentServices.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { deaf, defineRecognizer } from "#core/model/RecognizerProvider.ts"
import { defineService } from "#core/model/ServiceProvider.ts"
import { type AnyServiceProvider, ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import type { TextToSpeech } from "#core/model/TextToSpeech.ts"
import { defineTextToSpeech, mute } from "#core/model/TextToSpeechProvider.ts"
import type { ServiceKind } from "#core/model/VoiceServices.ts"
import { optionalText } from "#core/provider/Credential.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import { type FliteVoice, fliteVoices } from "#runtime/voice/FliteWasm.ts"
import { webhooksOf } from "./egress.ts"

const manifestOf = <const Kind extends ServiceKind>(kind: Kind, provider: string) => ({
  contract: 1 as const,
  kind,
  provider,
  title: provider,
  description: ""
})
const fields = { api_key: optionalText({ label: "Key", sensitive: true }), language: optionalText({ label: "Language" }) }
const nowhere = new ModelError({ reason: "unreachable", isRetryable: false, message: "it exists nowhere" })

/** A voice for tests in which something else makes the speech. */
const unmade = (voice: FliteVoice): TextToSpeech => ({ ...mute("flite", nowhere), voice, isCacheable: true })

const testServices: ReadonlyArray<AnyServiceProvider> = [
  ...builtInServices,
  fliteProvider({ all: fliteVoices, usual: "slt", speaker: unmade }),
  ...["earshot", "gladia"].map((provider) =>
    defineRecognizer({ manifest: manifestOf("stt", provider), fields, recognizer: () => deaf(provider, nowhere) })
  ),
  defineTextToSpeech({ manifest: manifestOf("tts", "polyglot"), fields, speaker: () => mute("polyglot", nowhere) }),
  ...["one", "openai"].map((provider) => defineService({ manifest: manifestOf("embeddings", provider), fields })),
  ...["live", "openai", "two"].map((provider) => defineService({ manifest: manifestOf("realtime", provider), fields }))
]
export const servicesLayer = ServiceRegistry.layerOf(testServices, usualServices)
export const servicesWith = (...more: ReadonlyArray<AnyServiceProvider>) =>
  ServiceRegistry.layerOf([...testServices, ...more], usualServices)

/** The services of an agent without a recognizer. */
export const deafServices: ChosenServices = {
  model: embedded.open({}, { egress: webhooksOf({ privateWebhooks: false }) }),
  hearing: undefined,
  substitutes: [],
  endOfTurn: Effect.succeed(endOfTurnRules),
  voice: { speech: unmade("slt"), key: "slt" },
  language: "en-US"
}
