/**
 * The stored form of an organization's speech and language services. Clients see two views of it: the ModelConfiguration, service by service,
 * and this document, whose mode says which services are in use. Both are read from and written to this document, so they cannot contradict each
 * other.
 */
import { Equal, Schema } from "effect"
import type { JsonObject } from "#core/Json.ts"
import { ConfigurationProblem, fieldRequired } from "#core/Problem.ts"
import { isAnothers, maskedMessage, stillMasked, unmasked } from "./ModelSecrets.ts"
import type { ServiceKind } from "./VoiceServices.ts"
import { type ModelConfiguration, noModels, withSecrets } from "./ModelConfiguration.ts"

type Services<Kind extends ServiceKind> = { readonly [One in Kind]: JsonObject | null }

/** Includes the secrets. Services of the unused mode are kept. */
export type ModelDocument = {
  readonly version: 2
  readonly mode: "dograh" | "byok"
  /** The models that the existing product hosts, with one key, voice, speed and language for all of them. */
  readonly dograh: JsonObject | null
  /** Services that each have their own key. */
  readonly byok: {
    readonly mode: "pipeline" | "realtime"
    readonly pipeline: Services<"llm" | "tts" | "stt" | "embeddings"> | null
    readonly realtime: Services<"realtime" | "llm" | "embeddings"> | null
  } | null
}

/** In bytes of JSON. */
export const maxModelDocumentSize = 65_536

export class ModelDocumentTooLarge extends Schema.TaggedError<ModelDocumentTooLarge>()("ModelDocumentTooLarge", {}) {}
export class ModelDocumentRefused extends Schema.TaggedError<ModelDocumentRefused>()("ModelDocumentRefused", {
  problems: Schema.Array(ConfigurationProblem)
}) {}

export const isTooLarge = (document: ModelDocument): boolean =>
  new TextEncoder().encode(JSON.stringify(document)).length > maxModelDocumentSize

/** The view of the document service by service. */
export const servicesOf = (document: ModelDocument | undefined): ModelConfiguration => {
  if (document === undefined) return noModels
  const { byok, dograh, mode } = document
  const realtime = byok?.realtime?.realtime ?? null
  if (mode === "dograh") return { ...hosted(dograh ?? {}), realtime, isRealtime: false }
  const isRealtime = byok?.mode === "realtime"
  const inUse = isRealtime ? byok.realtime : byok?.pipeline
  return {
    llm: inUse?.llm ?? null,
    tts: byok?.pipeline?.tts ?? null,
    stt: byok?.pipeline?.stt ?? null,
    embeddings: inUse?.embeddings ?? null,
    realtime,
    isRealtime
  }
}

/** The hosted models, in the form of single services. */
const hosted = ({ api_key, language, speed, voice }: JsonObject): Services<"llm" | "tts" | "stt" | "embeddings"> => {
  const service = { provider: "dograh", api_key, model: "default" }
  return {
    llm: service,
    tts: { ...service, voice, speed },
    stt: { ...service, language },
    embeddings: { ...service, model: "dograh_embedding_v1" }
  }
}

/** Changes the document so that `servicesOf` returns these services. */
export const withServices = (document: ModelDocument | undefined, services: ModelConfiguration): ModelDocument | undefined => {
  if (Equal.equals(services, servicesOf(document))) return document
  const { embeddings, isRealtime, llm, realtime, stt, tts } = services
  const mode = isRealtime ? "realtime" : "pipeline"
  const before = document?.byok ?? null
  // `llm` and `embeddings` of the unused mode are its own, unless the mode has just changed: then they were in use, and move to the new mode.
  const unused = before?.mode === mode ? (isRealtime ? before.pipeline : before.realtime) : null
  const [ofPipeline, ofRealtime] = isRealtime ? [unused, { embeddings, llm }] : [{ embeddings, llm }, unused]
  return {
    version: 2,
    mode: "byok",
    dograh: document?.dograh ?? null,
    byok: {
      mode,
      pipeline: unlessEmpty({ llm: ofPipeline?.llm ?? null, tts, stt, embeddings: ofPipeline?.embeddings ?? null }),
      realtime: unlessEmpty({ realtime, llm: ofRealtime?.llm ?? null, embeddings: ofRealtime?.embeddings ?? null })
    }
  }
}

const unlessEmpty = <Section extends object>(section: Section): Section | null =>
  Object.values(section).every((service) => service === null) ? null : section

/** What a client sent, with omitted or masked secrets filled in from the stored document if the provider is the same. */
export const withStoredSecrets = (sent: ModelDocument, before: ModelDocument | undefined): ModelDocument => {
  const known = servicesOf(before)
  const service = (kind: ServiceKind, given: JsonObject | null, stored: JsonObject | null | undefined): JsonObject | null =>
    given && withSecrets(given, [stored, known[kind]].find((one) => one && !isAnothers(given, one)) ?? {})
  const { byok, dograh } = sent
  const pipeline = byok?.pipeline && {
    llm: service("llm", byok.pipeline.llm, before?.byok?.pipeline?.llm),
    tts: service("tts", byok.pipeline.tts, before?.byok?.pipeline?.tts),
    stt: service("stt", byok.pipeline.stt, before?.byok?.pipeline?.stt),
    embeddings: service("embeddings", byok.pipeline.embeddings, before?.byok?.pipeline?.embeddings)
  }
  const realtime = byok?.realtime && {
    realtime: service("realtime", byok.realtime.realtime, before?.byok?.realtime?.realtime),
    llm: service("llm", byok.realtime.llm, before?.byok?.realtime?.llm),
    embeddings: service("embeddings", byok.realtime.embeddings, before?.byok?.realtime?.embeddings)
  }
  return {
    ...sent,
    dograh: dograh && unmasked(dograh, before?.dograh ?? {}),
    byok: byok && { ...byok, pipeline: pipeline ?? null, realtime: realtime ?? null }
  }
}

type Place = ReadonlyArray<string>

/** The places that the document's mode requires and that are empty. */
const missingFrom = ({ byok, dograh, mode }: ModelDocument): ReadonlyArray<Place> => {
  if (mode === "dograh") return dograh === null ? [["dograh"]] : []
  if (byok === null) return [["byok"]]
  const at = ["byok", byok.mode]
  const section = byok[byok.mode]
  if (section === null) return [at]
  return Object.entries(section).flatMap(([kind, service]) => (service === null && kind !== "embeddings" ? [[...at, kind]] : []))
}

/** Whether clients that read only documents can use it: a document that was written service by service may be incomplete. */
export const isComplete = (document: ModelDocument): boolean => missingFrom(document).length === 0

/** Says why a document that a client sent cannot be stored. */
export const problemsIn = (document: ModelDocument): ReadonlyArray<ConfigurationProblem> => [
  ...missingFrom(document).map((path) => ({ path, ...fieldRequired })),
  ...stillMasked(document).map(({ name, path }) => ({ path, message: maskedMessage(name) }))
]
