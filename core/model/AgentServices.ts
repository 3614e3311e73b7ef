/** The services that an agent speaks with, chosen by its organization and its version. They are looked up when a call or text chat is planned. */
import { Context, Effect, Layer } from "effect"
import { EgressPolicy } from "#core/egress/Egress.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { type ChosenVoice, voiceOf } from "./ChosenVoice.ts"
import type { OpenEndOfTurn } from "./EndOfTurnProvider.ts"
import { ModelError, type ModelNode, type OpenLanguageModel } from "./LanguageModel.ts"
import { OrganizationModels } from "./OrganizationModels.ts"
import { deaf } from "./RecognizerProvider.ts"
import { choiceOf, toldTo } from "./ServiceChoice.ts"
import type { ServiceHost } from "./ServiceProvider.ts"
import { none, ServiceRegistry } from "./ServiceRegistry.ts"
import type { SpeechToText } from "./SpeechToText.ts"

export interface ChosenServices {
  readonly model: OpenLanguageModel
  /** Undefined if there is no model, or no recognizer yet: the agent then says its greeting and collects the keys that are pressed. */
  readonly hearing: SpeechToText | undefined
  /** The recognizers that take over when that one fails, in this order. */
  readonly substitutes: ReadonlyArray<SpeechToText>
  /** What callees are likely to say at a node, as a grammar for recognizers that need one; see `RecognizerHints`. */
  readonly expected?: ((node: ModelNode) => string) | undefined
  readonly endOfTurn: OpenEndOfTurn
  readonly voice: ChosenVoice
  /** The language of the conversation: BCP 47. */
  readonly language: string
}

export class AgentServices extends Context.Service<
  AgentServices,
  {
    /** Takes the configurations of the agent's version. A service that cannot be used fails only when it is opened. */
    readonly chosenFor: (organizationId: OrganizationId, configurations: JsonObject) => Effect.Effect<ChosenServices>
  }
>()("core/model/AgentServices") {
  static readonly layer = Layer.effect(
    AgentServices,
    Effect.gen(function* () {
      const registry = yield* ServiceRegistry
      const organizations = yield* OrganizationModels
      const policy = yield* EgressPolicy
      return AgentServices.of({
        chosenFor: Effect.fnUntraced(function* (organizationId, configurations) {
          const choice = choiceOf(registry, yield* organizations.get(organizationId), configurations)
          const host: ServiceHost = { egress: yield* policy.trunksOf(organizationId) }
          return {
            model: modelOf(registry, choice.llm, host, configurations),
            // Without a model, nobody would answer the callee.
            hearing: choice.llm["provider"] === none ? undefined : recognizerOf(registry, choice.stt, host),
            substitutes: substitutesOf(registry, choice.stt, host),
            expected: registry.find("llm", nameOf(choice.llm))?.expected,
            endOfTurn: endOfTurnOf(registry, choice.end_of_turn, host),
            voice: voiceOf(registry, organizationId, choice.tts, host),
            language: choice.language
          }
        })
      })
    })
  ).pipe(Layer.provide(OrganizationModels.layer))
}

type Registry = ServiceRegistry["Service"]

const nameOf = ({ provider }: JsonObject): string => (typeof provider === "string" ? provider : "")
const missing = (kind: "llm" | "stt" | "end_of_turn", provider: string) =>
  new ModelError({ reason: "refused", isRetryable: false, message: `This engine has no ${kind} provider '${provider}'` })

const modelOf = (registry: Registry, llm: JsonObject, host: ServiceHost, configurations: JsonObject): OpenLanguageModel => {
  const provider = nameOf(llm)
  return registry.find("llm", provider)?.open(llm, host, toldTo(configurations, provider)) ?? Effect.fail(missing("llm", provider))
}

const endOfTurnOf = (registry: Registry, chosen: JsonObject, host: ServiceHost): OpenEndOfTurn =>
  registry.find("end_of_turn", nameOf(chosen))?.open(chosen, host) ?? Effect.fail(missing("end_of_turn", nameOf(chosen)))

/** What is used if nobody chooses a recognizer: it needs no key. */
const substitutesOf = (registry: Registry, stt: JsonObject, host: ServiceHost): ReadonlyArray<SpeechToText> => {
  const usual = registry.defaults.stt
  const chosen = nameOf(stt)
  const recognizer = chosen === usual || chosen === none ? undefined : recognizerOf(registry, { provider: usual }, host)
  return recognizer === undefined ? [] : [recognizer]
}

const recognizerOf = (registry: Registry, stt: JsonObject, host: ServiceHost): SpeechToText | undefined => {
  const provider = nameOf(stt)
  if (provider === none) return undefined
  // An agent that says so and accepts keys is better than one that understands nothing.
  if (registry.find("stt", provider)?.unready?.() !== undefined) return undefined
  return registry.find("stt", provider)?.recognizer(stt, host) ?? deaf(provider, missing("stt", provider))
}
