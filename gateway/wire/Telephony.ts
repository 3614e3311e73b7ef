/** Telephony configurations. Their `config` is a union of what the adapters of this engine ask for, told apart by `provider`. */
import Type, { type Static, type TSchema } from "typebox"
import type { TelephonyConfigId } from "#core/Id.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import type { CredentialField } from "#core/provider/Credential.ts"
import type { NewTelephonyConfig } from "#core/telephony/TelephonyConfigs.ts"
import type { TelephonyConfig } from "#core/telephony/TelephonyConfig.ts"
import { id, instant, object, optional } from "./Field.ts"

export const TelephonyConfigPath = Type.Object({ config_id: id<TelephonyConfigId>() })

const valueSchemas: { readonly [Kind in CredentialField["type"]]: () => TSchema } = {
  text: () => Type.String(),
  password: () => Type.String(),
  textarea: () => Type.String(),
  boolean: () => Type.Boolean(),
  "string-array": () => Type.Array(Type.String())
}

const absent = (field: CredentialField): unknown =>
  field.type === "boolean" ? false : field.type === "string-array" ? [] : (field.default ?? "")

const fieldSchema = (field: CredentialField): TSchema => {
  const schema = { ...valueSchemas[field.type](), description: field.description === "" ? field.label : field.description }
  return field.required ? schema : optional(schema)
}

/** Numbers have their own place; older clients still send them along. */
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

/** What passed the check has a `provider` that is one of the adapters', and that adapter's fields. */
type ProviderConfig = Readonly<Record<string, unknown>> & { readonly provider: string }

export const createTelephonyConfig = (adapters: ReadonlyArray<Adapter>) =>
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 64 }),
      config: Type.Unsafe<ProviderConfig>(Type.Union(adapters.map(variant), { discriminator: { propertyName: "provider" } })),
      is_default_outbound: Type.Boolean({ default: false })
    },
    { title: "CreateTelephonyConfig" }
  )

export const newTelephonyConfigOf = (
  adapters: ReadonlyArray<Adapter>,
  body: { readonly name: string; readonly config: ProviderConfig; readonly is_default_outbound: boolean }
): NewTelephonyConfig => {
  const fields = adapters.find(({ manifest }) => manifest.provider === body.config.provider)?.fields ?? {}
  return {
    name: body.name,
    provider: body.config.provider,
    credentials: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, body.config[name] ?? absent(field)])),
    isDefaultOutbound: body.is_default_outbound
  }
}

export const TelephonyConfigWire = Type.Object(
  {
    id: id<TelephonyConfigId>(),
    name: Type.String(),
    provider: Type.String(),
    is_default_outbound: Type.Boolean(),
    credentials: object("Secrets are masked."),
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
  credentials: Object.fromEntries(Object.entries(config.credentials).filter(([name]) => isCredential(name))),
  created_at: config.createdAt.toISOString(),
  updated_at: config.updatedAt.toISOString()
})

const TelephonyConfigListItem = Type.Object(
  {
    id: id<TelephonyConfigId>(),
    name: Type.String(),
    provider: Type.String(),
    is_default_outbound: Type.Boolean(),
    phone_number_count: Type.Integer(),
    created_at: instant(),
    updated_at: instant()
  },
  { title: "TelephonyConfigListItem" }
)
export const TelephonyConfigList = Type.Object({ configurations: Type.Array(TelephonyConfigListItem) }, { title: "TelephonyConfigList" })

export const telephonyConfigListItem = (config: TelephonyConfig): Static<typeof TelephonyConfigListItem> => {
  const numbers = config.credentials["from_numbers"]
  return {
    id: config.id,
    name: config.name,
    provider: config.provider,
    is_default_outbound: config.isDefaultOutbound,
    phone_number_count: Array.isArray(numbers) ? numbers.length : 0,
    created_at: config.createdAt.toISOString(),
    updated_at: config.updatedAt.toISOString()
  }
}

const ProviderField = Type.Object(
  {
    name: Type.String(),
    label: Type.String(),
    type: Type.Enum(["text", "password", "textarea", "boolean", "string-array"]),
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
    fields: Type.Array(ProviderField)
  },
  { title: "Provider" }
)
export const ProviderList = Type.Object({ providers: Type.Array(Provider) }, { title: "ProviderList" })

export const providerWire = ({ fields, manifest }: Adapter): Static<typeof Provider> => ({
  provider: manifest.provider,
  display_name: manifest.displayName,
  docs_url: manifest.docsUrl,
  fields: Object.entries(fields).map(([name, { description, label, placeholder, required, sensitive, type }]) => ({
    name,
    label,
    type,
    required,
    sensitive,
    description,
    placeholder
  }))
})
