/** `/organizations/model-configurations/v2`: all speech and language services of the organization in one document. */
import Type, { type Static } from "typebox"
import { masked } from "#core/model/ModelSecrets.ts"
import { kindsInUse } from "#core/model/ModelConfiguration.ts"
import type { UserConfiguration } from "#core/model/ModelConfigurations.ts"
import { isComplete, maxModelDocumentSize } from "#core/model/ModelDocument.ts"
import type { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { nullable, object, optional, secretObject } from "#gateway/request/Field.ts"
import { ModelSource, sourceOf } from "./ModelSource.ts"
import { defaultProviders, modelWarnings, providers, schemasOf, shownConfiguration, shownConfigurationOf } from "./UserConfiguration.ts"

/** The limits of a request body: the document may take twice its size, depending on how its JSON is written. */
export const modelDocumentSize = { maxBytes: 2 * maxModelDocumentSize, maxValues: 2000 }

const hostedDefaults = { voice: "default", speed: 1, language: "multi" } as const

const HostedModels = Type.Object(
  {
    api_key: Type.String({ format: "password" }),
    voice: Type.String({ default: hostedDefaults.voice }),
    speed: Type.Number({ minimum: 0.5, maximum: 2, default: hostedDefaults.speed }),
    language: Type.String({ default: hostedDefaults.language })
  },
  {
    title: "HostedModels",
    description: "Models that the existing product hosts. This engine hosts none, and refuses the mode that would use them."
  }
)

const service = () => optional(secretObject("`provider`, and the settings that this provider takes."))
const PipelineModels = Type.Object(
  { llm: service(), tts: service(), stt: service(), embeddings: service() },
  { title: "PipelineModels", description: "In mode `pipeline`, all except `embeddings` are required." }
)
const RealtimeModels = Type.Object(
  { realtime: service(), llm: service(), embeddings: service() },
  { title: "RealtimeModels", description: "In mode `realtime`, all except `embeddings` are required." }
)

export const SetModelConfiguration = Type.Object(
  {
    version: Type.Literal(2, { default: 2 }),
    mode: Type.Enum(["dograh", "byok"], { description: "Which of the two below is used. That one is required." }),
    dograh: optional(HostedModels),
    byok: optional(
      Type.Object(
        {
          mode: Type.Enum(["pipeline", "realtime"], { description: "Which of the two below is used. That one is required." }),
          pipeline: optional(PipelineModels),
          realtime: optional(RealtimeModels)
        },
        { title: "OwnModels" }
      )
    )
  },
  {
    title: "SetModelConfiguration",
    description:
      "Replaces the whole configuration. A service's secret that is left out, or sent back in its masked form, is kept as long as its " +
      `\`provider\` stays the same. At most ${maxModelDocumentSize} bytes of JSON.`
  }
)

export const ModelConfigurationWire = Type.Object(
  {
    configuration: nullable(object("The configuration as it was sent, with masked secrets. Null: `source` says why.")),
    effective_configuration: Type.Object(shownConfiguration, {
      title: "EffectiveModelConfiguration",
      description:
        "The services that the configuration's mode uses. `/user/configurations/user/validate` says whether the engine supports them."
    }),
    source: ModelSource,
    warnings: modelWarnings()
  },
  { title: "ModelConfiguration" }
)

export const modelConfigurationWire = (configuration: UserConfiguration): Static<typeof ModelConfigurationWire> => {
  const { document, models } = configuration
  return {
    configuration: document === undefined || !isComplete(document) ? null : masked(document),
    effective_configuration: shownConfigurationOf(configuration, kindsInUse(models)),
    source: sourceOf(document),
    warnings: [...configuration.warnings]
  }
}

const nothing = <Item extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Number>>(item: Item) =>
  Type.Array(item, { maxItems: 0 })

export const ModelConfigurationDefaultsWire = Type.Object(
  {
    dograh: Type.Object(
      {
        voices: nothing(Type.String()),
        allow_custom_input: Type.Literal(false),
        speeds: nothing(Type.Number()),
        languages: nothing(Type.String()),
        multilingual_languages: nothing(Type.String()),
        defaults: Type.Object(
          { voice: Type.String(), speed: Type.Number(), language: Type.String() },
          { title: "HostedModelDefaults", description: "Stored for fields that are left out." }
        )
      },
      { title: "HostedModelChoices", description: "No choices: this engine hosts no models." }
    ),
    byok: Type.Object(
      {
        pipeline: Type.Object(
          { llm: providers(), tts: providers(), stt: providers(), embeddings: providers(), default_providers: defaultProviders() },
          { title: "PipelineModelChoices" }
        ),
        realtime: Type.Object(
          { realtime: providers(), llm: providers(), embeddings: providers(), default_providers: defaultProviders() },
          { title: "RealtimeModelChoices" }
        )
      },
      { title: "OwnModelChoices" }
    )
  },
  { title: "ModelConfigurationDefaults" }
)

export const modelConfigurationDefaults = (registry: ServiceRegistry["Service"]): Static<typeof ModelConfigurationDefaultsWire> => ({
  dograh: {
    voices: [],
    allow_custom_input: false,
    speeds: [],
    languages: [],
    multilingual_languages: [],
    defaults: hostedDefaults
  },
  byok: {
    pipeline: {
      llm: schemasOf(registry, "llm"),
      tts: schemasOf(registry, "tts"),
      stt: schemasOf(registry, "stt"),
      embeddings: schemasOf(registry, "embeddings"),
      default_providers: { ...registry.defaults }
    },
    realtime: {
      realtime: schemasOf(registry, "realtime"),
      llm: schemasOf(registry, "llm"),
      embeddings: schemasOf(registry, "embeddings"),
      default_providers: { ...registry.defaults }
    }
  }
})

export const ModelPricing = Type.Object(
  { platform_usage: Type.Null(), dograh_model: Type.Null() },
  {
    title: "ModelPricing",
    description: "Always null: this engine charges nothing. What services charge is in `/organizations/service-prices`."
  }
)
export const noPrices: Static<typeof ModelPricing> = { platform_usage: null, dograh_model: null }
