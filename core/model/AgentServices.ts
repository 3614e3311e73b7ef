/** The services that an agent speaks with, as its organization and its version choose them. Found when a call or a text chat is planned. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { OpenLanguageModel } from "./LanguageModel.ts"
import type { SpeechToText } from "./SpeechToText.ts"

export interface ChosenServices {
  readonly model: OpenLanguageModel
  /** Undefined: the agent cannot hear, so it says its greeting and collects the keys. */
  readonly hearing: SpeechToText | undefined
}

export class AgentServices extends Context.Service<
  AgentServices,
  {
    /** `configurations`: of the agent's version. What cannot be used fails only when it is opened. */
    readonly chosenFor: (organizationId: OrganizationId, configurations: JsonObject) => Effect.Effect<ChosenServices>
  }
>()("core/model/AgentServices") {}
