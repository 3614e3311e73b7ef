/**
 * Finds what is wrong with services that a client sends: an unknown provider, an invalid field, an address that the organization may not use,
 * or an unsupported language.
 */
import { type Egress, refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { type ConfigurationProblem, fieldRequired } from "#core/Problem.ts"
import { addressesIn } from "#core/provider/Credential.ts"
import type { ModelChanges, ModelConfiguration } from "./ModelConfiguration.ts"
import type { ModelDocument } from "./ModelDocument.ts"
import {
  choiceOf,
  chosenKinds,
  ownDocument,
  ownDocumentName,
  ownLanguage,
  ownService,
  ownServicesName,
  type ServiceChoice
} from "./ServiceChoice.ts"
import type { ServiceManifest } from "./ServiceProvider.ts"
import type { ServiceRegistry } from "./ServiceRegistry.ts"
import { type RegisteredKind, type ServiceKind, serviceKinds } from "./VoiceServices.ts"

type Problems = ReadonlyArray<ConfigurationProblem>
type Path = ReadonlyArray<string>

/** What services are checked against. */
export interface ServiceRules {
  readonly registry: ServiceRegistry["Service"]
  /** If undefined, addresses are not checked. */
  readonly egress: Egress | undefined
}

const below = (at: Path, problems: Problems): Problems => problems.map(({ path, ...rest }) => ({ ...rest, path: [...at, ...path] }))

/** The paths of the problems start at the service. */
const problemsWith = ({ egress, registry }: ServiceRules, kind: RegisteredKind, service: JsonObject): Problems => {
  const { language, provider } = service
  if (typeof provider !== "string") return [{ path: ["provider"], ...fieldRequired }]
  const known = registry.find(kind, provider)
  if (known === undefined) return [{ path: ["provider"], message: unknownProvider(registry, kind, provider) }]
  const faults = known.faultsOf(service).map(({ field, ...rest }) => ({ path: [field], ...rest }))
  const refused = addressesIn(known.fields, service).filter(([, url]) => egress !== undefined && refusesUrl(egress, url))
  const foreign = typeof language === "string" ? lackOf(known.manifest, language) : undefined
  return [
    ...faults,
    ...refused.map(([field]) => ({ path: [field], message: refusedWords })),
    ...(foreign === undefined ? [] : [{ path: ["language"], message: foreign }])
  ]
}

const unknownProvider = (registry: ServiceRegistry["Service"], kind: RegisteredKind, provider: string): string => {
  const names = registry.all(kind).map(({ manifest }) => manifest.provider)
  const has = names.length === 0 ? "" : `, only ${names.join(", ")}`
  return `This engine has no ${kind} provider '${provider}'${has}`
}

/** `en` for `en-US`. Undefined for values such as `multi`, which tell a service to detect the language. */
const primaryOf = (language: string): string | undefined => /^([a-z]{2,3})(?:[-_]|$)/i.exec(language.trim())?.[1]?.toLowerCase()

/** Why the service cannot be used in a language. Undefined if it can, as far as the engine knows. */
const lackOf = ({ languages, title }: ServiceManifest, language: string): string | undefined => {
  const primary = primaryOf(language)
  if (languages === undefined || primary === undefined || languages.includes(primary)) return undefined
  return `${title} has no '${language}', only ${languages.join(", ")}`
}

/** In words. Undefined if the engine has the provider, or none is named. */
const unknownIn = ({ registry }: ServiceRules, kind: RegisteredKind, { provider }: JsonObject): string | undefined =>
  typeof provider !== "string" || registry.find(kind, provider) !== undefined ? undefined : unknownProvider(registry, kind, provider)

/** A service that the engine does not have is kept for one that has it, and only warned of. */
const problemsWithKnown = (rules: ServiceRules, kind: RegisteredKind, service: JsonObject): Problems =>
  unknownIn(rules, kind, service) === undefined ? problemsWith(rules, kind, service) : []

/** The services that the engine does not have, in words. The others can be used. */
export const warningsOf = (rules: ServiceRules, configuration: ModelConfiguration): ReadonlyArray<string> =>
  serviceKinds.flatMap((kind) => {
    const service = configuration[kind]
    const message = service === null ? undefined : unknownIn(rules, kind, service)
    return message === undefined ? [] : [`${kind}: ${message}`]
  })

const languageProblems = (registry: ServiceRegistry["Service"], choice: ServiceChoice, at: Path): Problems => {
  const lacks = chosenKinds.flatMap((kind) => {
    const { provider } = choice[kind]
    const known = typeof provider === "string" ? registry.find(kind, provider) : undefined
    return (known && lackOf(known.manifest, choice.language)) ?? []
  })
  return lacks.slice(0, 1).map((message) => ({ path: at, message }))
}

/** The problems of what an organization would have after its changes. Services that it does not change are not checked again. */
export const problemsWithChanges = (rules: ServiceRules, sent: ModelChanges, after: ModelConfiguration): Problems => {
  const changed = serviceKinds.filter((kind) => sent[kind] !== undefined)
  const problems = changed.flatMap((kind) => {
    const service = after[kind]
    return service === null ? [] : below([kind], problemsWithKnown(rules, kind, service))
  })
  return problems.length > 0 || !changed.some((kind) => kind === "tts" || kind === "stt")
    ? problems
    : languageProblems(rules.registry, choiceOf(rules.registry, after, {}), ["stt", "language"])
}

/** The problems of all services in an organization's document, including those that its mode does not use. */
export const problemsWithDocument = (rules: ServiceRules, document: ModelDocument): Problems =>
  problemsInside(document, (kind, service) => problemsWithKnown(rules, kind, service))

const problemsInside = ({ byok, mode }: ModelDocument, problemsOf: (kind: ServiceKind, service: JsonObject) => Problems): Problems => {
  if (mode === "dograh") return [{ path: ["mode"], message: "This engine hosts no models: use the mode 'byok'" }]
  return (["pipeline", "realtime"] as const).flatMap((section) =>
    Object.entries(byok?.[section] ?? {}).flatMap(([kind, service]) =>
      // The cast holds because the members of both sections are kinds of services.
      service === null ? [] : below(["byok", section, kind], problemsOf(kind as ServiceKind, service))
    )
  )
}

/** The problems of the services that an agent chooses for itself. */
export const problemsWithOwn = (rules: ServiceRules, organization: ModelConfiguration, configurations: JsonObject): Problems => {
  const document = ownDocument(configurations)
  const problems = [
    ...(document === undefined
      ? []
      : below(
          [ownDocumentName],
          problemsInside(document, (kind, service) => problemsWith(rules, kind, service))
        )),
    ...chosenKinds.flatMap((kind) => {
      const isOwn = ownService(configurations, kind) !== undefined
      const service = isOwn ? choiceOf(rules.registry, organization, configurations)[kind] : undefined
      return isObject(service) ? below([ownServicesName, kind], problemsWith(rules, kind, service)) : []
    })
  ]
  const isPlain = document === undefined && chosenKinds.every((kind) => ownService(configurations, kind) === undefined)
  const language = ownLanguage(configurations)
  if (problems.length > 0 || (isPlain && language === undefined)) return problems
  const at = language === undefined ? [document === undefined ? ownServicesName : ownDocumentName] : ["embedded", "language"]
  return languageProblems(rules.registry, choiceOf(rules.registry, organization, configurations), at)
}

/** The first problem of a service that is in use, in words. */
export const problemOf = (rules: ServiceRules, kind: ServiceKind, service: JsonObject): string | undefined => {
  const [first] = problemsWith(rules, kind, service)
  if (first === undefined) return undefined
  if (first.path[0] !== "provider") return `${first.path.join(".")}: ${first.message}`
  return first.isMissing === true ? "No provider is set" : first.message
}
