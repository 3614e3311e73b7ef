/** Which services an agent uses: those of its organization, overridden by the choices of its own version. */
import { type JsonObject, partIn, textIn } from "#core/Json.ts"
import { kindsInUse, type ModelConfiguration } from "./ModelConfiguration.ts"
import { type ModelDocument, servicesOf } from "./ModelDocument.ts"
import { isAnothers, isNamed } from "./ModelSecrets.ts"
import type { ServiceRegistry } from "./ServiceRegistry.ts"
import type { RegisteredKind, ServiceKind } from "./VoiceServices.ts"

type Registry = ServiceRegistry["Service"]
export const chosenKinds = ["llm", "tts", "stt", "end_of_turn"] as const
type ChosenKind = (typeof chosenKinds)[number]

export type ServiceChoice = { readonly [Kind in ChosenKind]: JsonObject } & {
  /** BCP 47. */
  readonly language: string
}

const defaultLanguage = "en-US"

/** An agent's settings are stored as clients send them, so the section may lack kinds. */
const sectionOf = <Kind extends ServiceKind>(section: JsonObject | undefined, kinds: ReadonlyArray<Kind>) =>
  section === undefined
    ? null
    : // The cast holds because each of the kinds gets a member.
      (Object.fromEntries(kinds.map((kind) => [kind, partIn(section, kind) ?? null])) as { readonly [One in Kind]: JsonObject | null })

/** The member of an agent's settings with the configuration that replaces all of its organization's services. */
export const ownDocumentName = "model_configuration_v2_override"
export const ownDocument = (configurations: JsonObject): ModelDocument | undefined => {
  const given = partIn(configurations, ownDocumentName)
  if (given === undefined) return undefined
  const byok = partIn(given, "byok")
  return {
    version: 2,
    mode: given["mode"] === "dograh" ? "dograh" : "byok",
    dograh: partIn(given, "dograh") ?? null,
    byok:
      byok === undefined
        ? null
        : {
            mode: byok["mode"] === "realtime" ? "realtime" : "pipeline",
            pipeline: sectionOf(partIn(byok, "pipeline"), ["llm", "tts", "stt", "embeddings"]),
            realtime: sectionOf(partIn(byok, "realtime"), ["realtime", "llm", "embeddings"])
          }
  }
}

/** The member of an agent's settings with single services that replace those of its organization. */
export const ownServicesName = "model_overrides"
export const ownService = (configurations: JsonObject, kind: RegisteredKind): JsonObject | undefined =>
  partIn(partIn(configurations, ownServicesName), kind)

/**
 * Settings that the agent's own service omits are taken from `base`, secrets included, but only for the same provider at the same address:
 * somebody who may edit an agent must not be able to send the organization's secrets elsewhere.
 */
const overlaid = (base: JsonObject, own: JsonObject | undefined): JsonObject => {
  if (own === undefined) return base
  if (isAnothers(own, base)) return own
  return { ...base, ...Object.fromEntries(Object.entries(own).filter(([, value]) => isNamed(value))) }
}

/** What an agent's author tells a provider of language models, in a form that only the provider knows. */
export const toldTo = (configurations: JsonObject, provider: string): JsonObject => partIn(configurations, provider) ?? {}

/** The language in the agent's own settings: stored with what the built-in model is told, whichever model the agent uses. */
export const ownLanguage = (configurations: JsonObject): string | undefined => textIn(partIn(configurations, "embedded"), "language")

export const choiceOf = (registry: Registry, organization: ModelConfiguration, configurations: JsonObject): ServiceChoice => {
  const document = ownDocument(configurations)
  const general = document === undefined ? organization : servicesOf(document)
  const inUse = kindsInUse(general)
  const service = (kind: Exclude<ChosenKind, "end_of_turn">) =>
    overlaid((inUse.includes(kind) ? general[kind] : null) ?? { provider: registry.defaults[kind] }, ownService(configurations, kind))
  const stt = service("stt")
  return {
    llm: service("llm"),
    tts: service("tts"),
    stt,
    end_of_turn: overlaid({ provider: "rules" }, ownService(configurations, "end_of_turn")),
    language: ownLanguage(configurations) ?? textIn(stt, "language") ?? defaultLanguage
  }
}
