/** The voice of an agent, as its organization and its version choose it. */
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { complete } from "#core/provider/Credential.ts"
import { ModelError } from "./LanguageModel.ts"
import type { ServiceHost } from "./ServiceProvider.ts"
import type { ServiceRegistry } from "./ServiceRegistry.ts"
import type { TextToSpeech } from "./TextToSpeech.ts"
import { mute } from "./TextToSpeechProvider.ts"

export interface ChosenVoice {
  readonly speech: TextToSpeech
  /** Identifies the organization, its service and all settings, secrets included. Speech is never shared between voices with different keys. */
  readonly key: string
}

const missing = new ModelError({ reason: "refused", isRetryable: false, message: "This engine has no tts provider" })

/**
 * A configured voice that is unknown or no longer valid is replaced by the default: the agent should rather speak with another voice than not
 * at all.
 */
export const voiceOf = (
  registry: ServiceRegistry["Service"],
  organizationId: OrganizationId,
  tts: JsonObject,
  host: ServiceHost
): ChosenVoice => {
  const usual = registry.find("tts", registry.defaults.tts)
  const named = typeof tts["provider"] === "string" ? registry.find("tts", tts["provider"]) : undefined
  const isUsable = named !== undefined && (named !== usual || named.faultsOf(tts).length === 0)
  const provider = isUsable ? named : usual
  const config = isUsable ? tts : {}
  if (provider === undefined) return { speech: mute("none", missing), key: "" }
  const settings = Object.entries(complete(provider.fields, config)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    speech: provider.speaker(config, host),
    key: JSON.stringify([organizationId, provider.manifest.provider, settings])
  }
}
