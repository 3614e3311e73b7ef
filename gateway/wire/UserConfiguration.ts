/** `/user/configurations`: the speech and language services of the organization, and the available choices. */
import Type, { type Static } from "typebox"
import { masked } from "#core/model/ModelSecrets.ts"
import { configurationDefaults } from "#core/agent/ConfigurationDefaults.ts"
import type { UserConfiguration, UserConfigurationChanges } from "#core/model/ModelConfigurations.ts"
import { maxModelDocumentSize } from "#core/model/ModelDocument.ts"
import type { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { type ServiceKind, serviceKinds } from "#core/model/VoiceServices.ts"
import { nullable, object, optional, orUndefined, secretObject } from "#gateway/request/Field.ts"
import { TestPhoneNumber, TimeZone } from "./Organization.ts"
import { serviceSchema } from "./ServiceSchema.ts"

const service = () => optional(secretObject("`{}` takes the service away."))

export const SetUserConfiguration = Type.Object(
  {
    llm: service(),
    tts: service(),
    stt: service(),
    embeddings: service(),
    realtime: service(),
    is_realtime: optional(Type.Boolean()),
    test_phone_number: optional(TestPhoneNumber),
    timezone: optional(TimeZone)
  },
  {
    title: "SetUserConfiguration",
    description:
      "Fields that are left out or null stay as they are. A service is replaced as a whole, but its secret, if left out or sent back in its " +
      `masked form, is kept as long as its \`provider\` stays the same. At most ${maxModelDocumentSize} bytes of JSON for all services together.`
  }
)

export const changesOf = (body: Static<typeof SetUserConfiguration>): UserConfigurationChanges => ({
  models: {
    llm: orUndefined(body.llm),
    tts: orUndefined(body.tts),
    stt: orUndefined(body.stt),
    embeddings: orUndefined(body.embeddings),
    realtime: orUndefined(body.realtime),
    isRealtime: orUndefined(body.is_realtime)
  },
  preferences: {
    ...(body.test_phone_number === null ? {} : { testPhoneNumber: body.test_phone_number }),
    ...(body.timezone === null ? {} : { timezone: body.timezone })
  }
})

const shownService = () => nullable(object("As it was sent, with secrets masked."))

/** The part of the configuration that both routes show. */
export const shownConfiguration = {
  llm: shownService(),
  tts: shownService(),
  stt: shownService(),
  embeddings: shownService(),
  realtime: shownService(),
  is_realtime: Type.Boolean(),
  test_phone_number: nullable(Type.String({ description: "From the organization's preferences." })),
  timezone: nullable(Type.String({ description: "From the organization's preferences." }))
}
const ShownConfiguration = Type.Object(shownConfiguration)

export const shownConfigurationOf = (
  { models, preferences }: UserConfiguration,
  kinds: ReadonlyArray<ServiceKind>
): Static<typeof ShownConfiguration> => {
  const shown = (kind: ServiceKind) => (kinds.includes(kind) && models[kind] !== null ? masked(models[kind]) : null)
  return {
    llm: shown("llm"),
    tts: shown("tts"),
    stt: shown("stt"),
    embeddings: shown("embeddings"),
    realtime: shown("realtime"),
    is_realtime: models.isRealtime,
    test_phone_number: preferences.testPhoneNumber,
    timezone: preferences.timezone
  }
}

export const modelWarnings = () =>
  Type.Array(Type.String(), { description: "The services that this engine does not have: they are kept, and calls do without them." })

export const UserConfigurationWire = Type.Object(
  {
    ...shownConfiguration,
    organization_pricing: Type.Null({ description: "Always null: this engine charges nothing." }),
    warnings: modelWarnings()
  },
  { title: "UserConfiguration" }
)

export const userConfigurationWire = (configuration: UserConfiguration): Static<typeof UserConfigurationWire> => ({
  ...shownConfigurationOf(configuration, serviceKinds),
  organization_pricing: null,
  warnings: [...configuration.warnings]
})

export const providers = () =>
  Type.Unsafe<Readonly<Record<string, Readonly<Record<string, unknown>>>>>(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      description: "The JSON Schema of each provider's settings, by the provider's name. Empty: this engine has no provider of that kind."
    })
  )

export const defaultProviders = () => Type.Unsafe<Readonly<Record<string, string>>>(Type.Record(Type.String(), Type.String()))
export const UserConfigurationDefaultsWire = Type.Object(
  {
    llm: providers(),
    tts: providers(),
    stt: providers(),
    embeddings: providers(),
    realtime: providers(),
    default_providers: defaultProviders(),
    workflow_configurations: object(
      "The settings of an agent that sets none. Calls use `max_call_duration`; the others are kept for clients that read them."
    )
  },
  { title: "UserConfigurationDefaults" }
)

type Registry = ServiceRegistry["Service"]

/** The schemas of all providers of a kind, by name. */
export const schemasOf = (registry: Registry, kind: ServiceKind) =>
  Object.fromEntries(registry.all(kind).map((provider) => [provider.manifest.provider, serviceSchema(provider)]))

export const userConfigurationDefaults = (registry: Registry): Static<typeof UserConfigurationDefaultsWire> => ({
  llm: schemasOf(registry, "llm"),
  tts: schemasOf(registry, "tts"),
  stt: schemasOf(registry, "stt"),
  embeddings: schemasOf(registry, "embeddings"),
  realtime: schemasOf(registry, "realtime"),
  default_providers: { ...registry.defaults },
  workflow_configurations: configurationDefaults
})

export const ValidateQuery = Type.Object({
  validity_ttl_seconds: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 60,
    description: "Accepted and ignored: each request is checked."
  })
})

export const ModelStatus = Type.Object(
  {
    status: Type.Array(Type.Object({ model: Type.Enum(["all", ...serviceKinds]), message: Type.String() }, { title: "ModelStatusEntry" }))
  },
  { title: "ModelStatus" }
)

/** In the words that existing clients expect. */
export const allWell: Static<typeof ModelStatus> = { status: [{ model: "all", message: "ok" }] }
