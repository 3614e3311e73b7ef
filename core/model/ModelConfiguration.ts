/**
 * The speech and language services that an organization has configured, as its clients sent them: a service named here need not exist in the
 * engine, and its key need not be valid. They are stored in a ModelDocument.
 */
import { Schema } from "effect"
import { isObject, type JsonObject } from "#core/Json.ts"
import { isAnothers, isNamed, isSecret, stillMasked, unmasked } from "./ModelSecrets.ts"
import { type ServiceKind, serviceKinds, voiceServices } from "./VoiceServices.ts"

/** Includes the secrets. */
export type ModelConfiguration = { readonly [Kind in ServiceKind]: JsonObject | null } & {
  /** One model listens and speaks: `realtime` replaces `stt` and `tts`. */
  readonly isRealtime: boolean
}

/** Omitted fields stay unchanged; `{}` removes a service. */
export type ModelChanges = { readonly [Kind in ServiceKind]?: JsonObject | undefined } & { readonly isRealtime?: boolean | undefined }

/** A client sent a mask that stands for no stored secret, or for another provider's. */
export class ModelSecretMasked extends Schema.TaggedError<ModelSecretMasked>()("ModelSecretMasked", {
  kind: Schema.String,
  name: Schema.String
}) {}

const ModelProblem = Schema.Struct({ kind: Schema.Literals(serviceKinds), message: Schema.String })
type ModelProblem = typeof ModelProblem.Type
/** Services are configured that this engine does not have. */
export class ModelsMissing extends Schema.TaggedError<ModelsMissing>()("ModelsMissing", { problems: Schema.Array(ModelProblem) }) {}

export const noModels: ModelConfiguration = { llm: null, tts: null, stt: null, embeddings: null, realtime: null, isRealtime: false }

export const isEmpty = (configuration: ModelConfiguration): boolean =>
  !configuration.isRealtime && serviceKinds.every((kind) => configuration[kind] === null)

export const changed = (before: ModelConfiguration, changes: ModelChanges): ModelConfiguration => {
  const service = (kind: ServiceKind): JsonObject | null => {
    const sent = changes[kind]
    if (sent === undefined) return before[kind]
    return Object.keys(sent).length === 0 ? null : withSecrets(sent, before[kind] ?? {})
  }
  return {
    llm: service("llm"),
    tts: service("tts"),
    stt: service("stt"),
    embeddings: service("embeddings"),
    realtime: service("realtime"),
    isRealtime: changes.isRealtime ?? before.isRealtime
  }
}

/** A secret that is omitted or sent as its mask stays unchanged, unless the provider changed: the new one must not get it. */
export const withSecrets = (sent: JsonObject, stored: JsonObject): JsonObject => {
  if (isAnothers(sent, stored)) return sent
  const kept = Object.entries(stored).filter(([name]) => isSecret(name) && !isNamed(Object.hasOwn(sent, name) ? sent[name] : undefined))
  return { ...unmasked(sent, stored), ...Object.fromEntries(kept) }
}

/** Says why the configuration cannot be stored. */
export const faultOf = (configuration: ModelConfiguration): ModelSecretMasked | undefined => {
  for (const kind of serviceKinds) {
    const [masked] = stillMasked(configuration[kind] ?? {})
    if (masked !== undefined) return new ModelSecretMasked({ kind, name: masked.name })
  }
  return undefined
}

/** The services that are in use; the others are only stored. */
export const kindsInUse = ({ isRealtime }: ModelConfiguration): ReadonlyArray<ServiceKind> =>
  isRealtime ? ["llm", "realtime", "embeddings"] : ["llm", "tts", "stt", "embeddings"]

/** The configured services that cannot be used here. None has to be configured: agents speak with the engine's own voice. */
export const problemsOf = (configuration: ModelConfiguration): ReadonlyArray<ModelProblem> => {
  const problems = kindsInUse(configuration).flatMap((kind) => {
    const service = configuration[kind]
    const message = isObject(service) ? problemOf(kind, service) : undefined
    return message === undefined ? [] : [{ kind, message }]
  })
  const isSilent = configuration.isRealtime && configuration.realtime === null
  return isSilent ? [...problems, { kind: "realtime", message: "No realtime model is configured" }] : problems
}

const problemOf = (kind: ServiceKind, { provider, voice }: JsonObject): string | undefined => {
  if (typeof provider !== "string") return "No provider is set"
  const known = Object.hasOwn(voiceServices[kind], provider) ? voiceServices[kind][provider] : undefined
  if (known === undefined) return `This engine has no ${kind} provider '${provider}'`
  if (!isNamed(voice) || known.voices.length === 0 || known.voices.some((one) => one === voice)) return undefined
  return `${known.title} has only the voice '${known.voices.join("', '")}' here`
}
