/** Telephony configurations. `config` is the union of the fields of this engine's adapters, distinguished by `provider`. */
import Type, { type Static, type TSchema } from "typebox"
import type { TelephonyConfigId } from "#core/Id.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { absent, type CredentialField, patternOf } from "#core/provider/Credential.ts"
import type {
  NewTelephonyConfig,
  ProviderCredentials,
  TelephonyConfigChanges,
  TelephonyWarnings
} from "#core/telephony/TelephonyConfigs.ts"
import type { TelephonyConfig } from "#core/telephony/TelephonyConfig.ts"
import { clearable, id, instant, nullable, object, optional, orNull, orUndefined } from "#gateway/request/Field.ts"
import { normalForm } from "#gateway/request/validation.ts"

export const TelephonyConfigPath = Type.Object({ config_id: id<TelephonyConfigId>() })

/** Enough for an address, a name or a key in PEM. */
const longestField = 16_384

const fieldSchema = (field: CredentialField): TSchema => {
  const described = field.description === "" ? field.label : field.description
  const description = field.isManaged === true ? `Set by the engine: leave it out, or send it as it was read. ${described}` : described
  const pattern = patternOf(field)
  const rules = {
    ...(field.sensitive ? { format: "password" } : {}),
    ...(pattern === undefined ? {} : { pattern }),
    ...(field.choices === undefined ? {} : { enum: field.choices }),
    ...(field.normal === undefined ? {} : normalForm(field.normal))
  }
  const example = field.pattern === undefined || field.placeholder === "" ? {} : { examples: [field.placeholder] }
  const schemas: { readonly [Kind in CredentialField["type"]]: () => TSchema } = {
    text: () => Type.String({ maxLength: longestField, description, ...rules, ...example }),
    password: () => Type.String({ maxLength: longestField, description, ...rules }),
    textarea: () => Type.String({ maxLength: longestField, description, ...rules }),
    boolean: () => Type.Boolean({ description }),
    "string-array": () =>
      Type.Array(Type.String({ ...rules, ...example }), { description, ...(field.most === undefined ? {} : { maxItems: field.most }) })
  }
  const schema = schemas[field.type]()
  return field.required ? schema : optional(schema)
}

/** Numbers have their own routes; older clients still send them here. */
const isCredential = (name: string): boolean => name !== "provider" && name !== "from_numbers"

const variant = ({ fields, manifest }: Adapter) =>
  Type.Object(
    {
      provider: Type.Literal(manifest.provider),
      ...Object.fromEntries(
        Object.entries(fields)
          .filter(([name]) => isCredential(name))
          .map(([name, field]) => [name, fieldSchema(field)])
      )
    },
    { title: `TelephonyConfig_${manifest.provider}` }
  )

/** After validation, `provider` names an adapter, and the fields are that adapter's. */
type ProviderConfig = Readonly<Record<string, unknown>> & { readonly provider: string }

const configOf = (adapters: ReadonlyArray<Adapter>) =>
  Type.Unsafe<ProviderConfig>(Type.Union(adapters.map(variant), { discriminator: { propertyName: "provider" } }))
const name = Type.String({ minLength: 1, maxLength: 64 })
const maxConcurrentCalls = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: "How many calls may be up at once through this configuration, campaigns and single calls together."
})

export const createTelephonyConfig = (adapters: ReadonlyArray<Adapter>) =>
  Type.Object(
    {
      name,
      config: configOf(adapters),
      is_default_outbound: Type.Boolean({ default: false }),
      max_concurrent_calls: optional(maxConcurrentCalls)
    },
    { title: "CreateTelephonyConfig" }
  )

export const updateTelephonyConfig = (adapters: ReadonlyArray<Adapter>) =>
  Type.Object(
    { name: optional(name), config: optional(configOf(adapters)), max_concurrent_calls: clearable(maxConcurrentCalls) },
    {
      title: "UpdateTelephonyConfig",
      description:
        "Fields that are left out stay as they are. `config` is replaced as a whole, but a secret that is sent back in its masked form is kept. A `max_concurrent_calls` of null means no limit."
    }
  )

const credentialsOf = (adapters: ReadonlyArray<Adapter>, config: ProviderConfig): ProviderCredentials => {
  const fields = adapters.find(({ manifest }) => manifest.provider === config.provider)?.fields ?? {}
  return {
    provider: config.provider,
    credentials: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, config[name] ?? absent(field)]))
  }
}

export const newTelephonyConfigOf = (
  adapters: ReadonlyArray<Adapter>,
  body: Static<ReturnType<typeof createTelephonyConfig>>
): NewTelephonyConfig => ({
  ...credentialsOf(adapters, body.config),
  name: body.name,
  isDefaultOutbound: body.is_default_outbound,
  maxConcurrentCalls: orUndefined(body.max_concurrent_calls)
})

export const telephonyChangesOf = (
  adapters: ReadonlyArray<Adapter>,
  body: Static<ReturnType<typeof updateTelephonyConfig>>
): TelephonyConfigChanges => ({
  name: orUndefined(body.name),
  config: body.config === null ? undefined : credentialsOf(adapters, body.config),
  maxConcurrentCalls: body.max_concurrent_calls
})

const readiness = {
  is_ready_for_outbound: Type.Boolean(),
  outbound_blocked_reason: nullable(Type.String())
}
const readinessWire = ({ outboundBlockedReason }: TelephonyConfig) => ({
  is_ready_for_outbound: outboundBlockedReason === undefined,
  outbound_blocked_reason: orNull(outboundBlockedReason)
})

const SetupChecklist = Type.Object(
  {
    ready_for_outbound: Type.Boolean(),
    outbound_blocked_reason: nullable(Type.String()),
    steps: Type.Array(
      Type.Object({
        key: Type.String(),
        title: Type.String(),
        description: Type.String({ description: "What to do; it may hold an address to enter at the provider." }),
        complete: Type.Boolean(),
        blocks_outbound: Type.Boolean({ description: "No call goes out until it is complete." })
      })
    )
  },
  { title: "TelephonySetupChecklist" }
)
const setupChecklist = (config: TelephonyConfig): Static<typeof SetupChecklist> => ({
  ready_for_outbound: config.outboundBlockedReason === undefined,
  outbound_blocked_reason: orNull(config.outboundBlockedReason),
  steps: config.setup.map(({ blocksOutbound, description, isComplete, key, title }) => ({
    key,
    title,
    description,
    complete: isComplete,
    blocks_outbound: blocksOutbound
  }))
})

/** To the existing product's web interface, a list that is there has been set, even without an item. */
const isUnset = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0

export const TelephonyConfigWire = Type.Object(
  {
    id: id<TelephonyConfigId>(),
    name: Type.String(),
    provider: Type.String(),
    is_default_outbound: Type.Boolean(),
    max_concurrent_calls: nullable(Type.Integer()),
    ...readiness,
    setup_checklist: SetupChecklist,
    credentials: object("Secrets are masked. A list without items is left out."),
    created_at: instant(),
    updated_at: instant()
  },
  { title: "TelephonyConfig" }
)

export const telephonyConfigWire = (config: TelephonyConfig): Static<typeof TelephonyConfigWire> => ({
  id: config.id,
  name: config.name,
  provider: config.provider,
  is_default_outbound: config.isDefaultOutbound,
  max_concurrent_calls: orNull(config.maxConcurrentCalls),
  ...readinessWire(config),
  setup_checklist: setupChecklist(config),
  credentials: Object.fromEntries(Object.entries(config.credentials).filter(([name, value]) => isCredential(name) && !isUnset(value))),
  created_at: config.createdAt.toISOString(),
  updated_at: config.updatedAt.toISOString()
})

const TelephonyConfigListItem = Type.Object(
  {
    id: id<TelephonyConfigId>(),
    name: Type.String(),
    provider: Type.String(),
    is_default_outbound: Type.Boolean(),
    phone_number_count: Type.Integer({ description: "Active numbers." }),
    max_concurrent_calls: nullable(Type.Integer()),
    ...readiness,
    created_at: instant(),
    updated_at: instant()
  },
  { title: "TelephonyConfigListItem" }
)
export const TelephonyConfigList = Type.Object({ configurations: Type.Array(TelephonyConfigListItem) }, { title: "TelephonyConfigList" })

export const telephonyConfigListItem = (config: TelephonyConfig): Static<typeof TelephonyConfigListItem> => ({
  id: config.id,
  name: config.name,
  provider: config.provider,
  is_default_outbound: config.isDefaultOutbound,
  phone_number_count: config.phoneNumberCount,
  max_concurrent_calls: orNull(config.maxConcurrentCalls),
  ...readinessWire(config),
  created_at: config.createdAt.toISOString(),
  updated_at: config.updatedAt.toISOString()
})

export const TelephonyConfigDeleted = Type.Object({ message: Type.String() }, { title: "TelephonyConfigDeleted" })

export const TelephonyConfigWarnings = Type.Object(
  {
    telnyx_missing_webhook_public_key_count: Type.Integer(),
    vonage_missing_signature_secret_count: Type.Integer()
  },
  {
    title: "TelephonyConfigWarnings",
    description: "How many configurations lack the key or secret with which their provider's callbacks are verified."
  }
)

export const warningsWire = ({ telnyxKeys, vonageSecrets }: TelephonyWarnings): Static<typeof TelephonyConfigWarnings> => ({
  telnyx_missing_webhook_public_key_count: telnyxKeys,
  vonage_missing_signature_secret_count: vonageSecrets
})

const ProviderField = Type.Object(
  {
    name: Type.String(),
    label: Type.String(),
    type: Type.Enum(["text", "password", "textarea", "boolean", "string-array", "readonly"]),
    required: Type.Boolean(),
    sensitive: Type.Boolean(),
    description: Type.String(),
    placeholder: Type.String()
  },
  { title: "ProviderField" }
)
const Provider = Type.Object(
  {
    provider: Type.String(),
    display_name: Type.String(),
    docs_url: Type.String(),
    longest_ring_seconds: nullable(
      Type.Integer({ description: "The longest that the provider lets a phone ring: calls ring no longer, even if `RING_TIMEOUT` does." })
    ),
    longest_call_seconds: nullable(
      Type.Integer({ description: "The longest that the provider lets a call last: calls end by then, even if the agent may talk longer." })
    ),
    fields: Type.Array(ProviderField)
  },
  { title: "Provider" }
)
export const ProviderList = Type.Object({ providers: Type.Array(Provider) }, { title: "ProviderList" })

export const providerWire = ({ fields, manifest }: Adapter): Static<typeof Provider> => ({
  provider: manifest.provider,
  display_name: manifest.displayName,
  docs_url: manifest.docsUrl,
  longest_ring_seconds: orNull(manifest.longestRingSeconds),
  longest_call_seconds: orNull(manifest.longestCallSeconds),
  fields: Object.entries(fields).map(([name, { description, isManaged, label, placeholder, required, sensitive, type }]) => ({
    name,
    label,
    type: isManaged === true ? "readonly" : type,
    required,
    sensitive,
    description,
    placeholder
  }))
})
