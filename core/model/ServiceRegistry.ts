/** The speech and language services of this engine, by kind and provider name. They are fixed at start-up. */
import { Context, Effect, Layer } from "effect"
import type { EndOfTurnProvider } from "./EndOfTurnProvider.ts"
import { ModelError } from "./LanguageModel.ts"
import { defineLanguageModel, type LanguageModelProvider } from "./ModelProvider.ts"
import { deaf, defineRecognizer, type RecognizerProvider } from "./RecognizerProvider.ts"
import type { ServiceProvider } from "./ServiceProvider.ts"
import type { TextToSpeechProvider } from "./TextToSpeechProvider.ts"
import type { RegisteredKind } from "./VoiceServices.ts"

interface Providers {
  readonly llm: LanguageModelProvider
  readonly stt: RecognizerProvider
  readonly tts: TextToSpeechProvider
  readonly embeddings: ServiceProvider<"embeddings">
  readonly realtime: ServiceProvider<"realtime">
  readonly end_of_turn: EndOfTurnProvider
}
export type AnyServiceProvider = Providers[RegisteredKind]

type DefaultKind = "llm" | "stt" | "tts"
/** Providers for agents that choose none. The first of each kind that the engine has is used. */
export type UsualProviders = { readonly [Kind in DefaultKind]: ReadonlyArray<string> }

export class ServiceRegistry extends Context.Service<
  ServiceRegistry,
  {
    /** Sorted by provider name. */
    readonly all: (kind: RegisteredKind) => ReadonlyArray<ServiceProvider>
    readonly find: <Kind extends RegisteredKind>(kind: Kind, provider: string) => Providers[Kind] | undefined
    /** The providers for an agent that chooses none. */
    readonly defaults: { readonly [Kind in DefaultKind]: string }
  }
>()("core/model/ServiceRegistry") {
  /** Adds the provider `none` for language models and recognizers. */
  static readonly layerOf = (providers: ReadonlyArray<AnyServiceProvider>, usual: UsualProviders) =>
    Layer.sync(ServiceRegistry, () => registryOf(providers, usual))
}

/** The provider of a kind of service that is not used at all. */
export const none = "none"
const nothing = new ModelError({ reason: "refused", isRetryable: false, message: "none is configured" })

const noModel = defineLanguageModel({
  manifest: {
    contract: 1,
    kind: "llm",
    provider: none,
    title: "None",
    description: "No model: agents say their greeting, and record what is answered."
  },
  fields: {},
  open: () => Effect.fail(nothing)
})
const noRecognizer = defineRecognizer({
  manifest: {
    contract: 1,
    kind: "stt",
    provider: none,
    title: "None",
    description: "No recognition: agents understand the keys that are pressed."
  },
  fields: {},
  recognizer: () => deaf(none, nothing)
})

const registryOf = (given: ReadonlyArray<AnyServiceProvider>, usual: UsualProviders): ServiceRegistry["Service"] => {
  const providers = [...given, noModel, noRecognizer].sort((a, b) => (a.manifest.provider < b.manifest.provider ? -1 : 1))
  const all = (kind: RegisteredKind) => providers.filter(({ manifest }) => manifest.kind === kind)
  const find = <Kind extends RegisteredKind>(kind: Kind, provider: string) =>
    // The cast holds because the kind in the manifest says which it is.
    all(kind).find(({ manifest }) => manifest.provider === provider) as Providers[Kind] | undefined
  const first = (kind: DefaultKind) => usual[kind].find((name) => find(kind, name) !== undefined) ?? none
  return { all, find, defaults: { llm: first("llm"), tts: first("tts"), stt: first("stt") } }
}
