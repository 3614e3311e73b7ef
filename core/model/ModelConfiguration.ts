/**
 * The speech and language services that an organization has configured, as its clients sent them. The engine may no longer have a service that was
 * stored earlier, and the key may no longer be valid. They are stored in a `ModelDocument`.
 */
import { Schema } from "effect"
import type { JsonObject } from "#core/Json.ts"
import { isAnothers, isNamed, isSecret, stillMasked, unmasked } from "./ModelSecrets.ts"
import { type ServiceKind, serviceKinds } from "./VoiceServices.ts"

/** Includes the secrets. */
export type ModelConfiguration = { readonly [Kind in ServiceKind]: JsonObject | null } & {
  /** Whether a single model listens and speaks: `realtime` then replaces `stt` and `tts`. */
  readonly isRealtime: boolean
}

/** Omitted fields stay unchanged; `{}` removes a service. */
export type ModelChanges = { readonly [Kind in ServiceKind]?: JsonObject | undefined } & { readonly isRealtime?: boolean | undefined }

/** A client sent a mask for which no secret is stored, or only another provider's. */
export class ModelSecretMasked extends Schema.TaggedError<ModelSecretMasked>()("ModelSecretMasked", {
  kind: Schema.String,
  name: Schema.String
}) {}

const ModelProblem = Schema.Struct({ kind: Schema.Literals(serviceKinds), message: Schema.String })
type ModelProblem = typeof ModelProblem.Type
/** The configuration names services that this engine does not have. */
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

/** An omitted or masked secret stays unchanged, unless the provider has changed, because the new one must not get it. */
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

/** The configured services that cannot be used here, as `problemWith` finds. Services may be missing: the engine has some of its own. */
export const problemsOf = (
  configuration: ModelConfiguration,
  problemWith: (kind: ServiceKind, service: JsonObject) => string | undefined
): ReadonlyArray<ModelProblem> => {
  const problems = kindsInUse(configuration).flatMap((kind) => {
    const service = configuration[kind]
    const message = service === null ? undefined : problemWith(kind, service)
    return message === undefined ? [] : [{ kind, message }]
  })
  const isSilent = configuration.isRealtime && configuration.realtime === null
  return isSilent ? [...problems, { kind: "realtime", message: "No realtime model is configured" }] : problems
}
