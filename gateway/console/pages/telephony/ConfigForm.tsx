/** The settings of a telephony configuration: its provider's fields, as the API lists them. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { type Declared, DeclaredFacts, DeclaredFields, enteredValues, type Values } from "#gateway/console/base/Declared.tsx"
import { CheckField, ChoiceField, entered, enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Shown } from "#gateway/console/base/Parts.tsx"
import { Permitted } from "#gateway/console/base/Permitted.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { go } from "#gateway/console/base/router.ts"
import type { Config, Provider, Providers } from "./types.ts"

const kinds: Readonly<Record<Provider["fields"][number]["type"], Declared["kind"]>> = {
  text: "text",
  password: "secret",
  textarea: "area",
  boolean: "check",
  "string-array": "list",
  readonly: "fixed"
}
// Only older clients send numbers with the configuration.
const isShown = ({ name }: { readonly name: string }) => name !== "from_numbers"

const declaredBy = ({ fields }: Provider): ReadonlyArray<Declared> =>
  fields.filter(isShown).map(({ description, label, name, placeholder, required, sensitive, type }) => ({
    name,
    label,
    hint: description,
    placeholder,
    isRequired: required,
    kind: sensitive && type === "text" ? "secret" : kinds[type]
  }))

const limitHint = "How many calls may be up at once through this configuration. Empty: no limit of its own"

interface OwnProps {
  readonly provider: Provider
  readonly config?: Config
}
const belowOf = ({ provider }: Provider) => `config.${provider}`

const OwnFields = ({ config, provider }: OwnProps) => (
  <>
    <TextField name="name" label="Name" isRequired value={config?.name} />
    <DeclaredFields fields={declaredBy(provider)} below={belowOf(provider)} values={config?.credentials ?? {}} />
    <TextField
      name="max_concurrent_calls"
      label="Calls at once (optional)"
      type="number"
      min={1}
      hint={limitHint}
      value={config?.max_concurrent_calls}
    />
    {provider.docs_url === "" ? null : (
      <p class="note">
        <a href={provider.docs_url} target="_blank" rel="noreferrer">
          {provider.display_name}: where to find these
        </a>
      </p>
    )}
  </>
)

const bodyOf = (form: FormData, provider: Provider, values: Values) => ({
  name: entered(form, "name"),
  config: { ...enteredValues(form, { fields: declaredBy(provider), below: belowOf(provider), values }), provider: provider.provider },
  max_concurrent_calls: enteredNumber(form, "max_concurrent_calls") ?? null
})

const Added = ({ providers }: Providers) => {
  const chosen = useSignal(providers[0]?.provider ?? "")
  const provider = providers.find((one) => one.provider === chosen.value)
  const add = async (form: FormData) => {
    if (provider === undefined) return
    const body = { ...bodyOf(form, provider, {}), is_default_outbound: form.has("is_default_outbound") }
    const { id } = await ask<Config>("POST", "/organizations/telephony-configs", body)
    go(`telephony/${id}`)
  }
  return (
    <Form label="Add" submit={add}>
      <ChoiceField
        name="provider"
        label="Provider"
        value={chosen.value}
        choices={providers.map(({ display_name: name, provider }) => [provider, name])}
        onChoose={(name) => {
          chosen.value = name
        }}
      />
      {provider === undefined ? null : <OwnFields key={provider.provider} provider={provider} />}
      <CheckField name="is_default_outbound" label="Default for calls that name no configuration" />
    </Form>
  )
}

const Offered = () => (
  <Shown
    of={useReading<Providers>("/organizations/telephony-providers/metadata")}
    show={({ providers }) => <Added providers={providers} />}
  />
)

export const NewConfig = () => (
  <>
    <h1>New telephony configuration</h1>
    <Permitted needs="admin" scope="admin">
      <Offered />
    </Permitted>
  </>
)

interface SettingsProps {
  readonly config: Config
  readonly isEditable: boolean
  readonly saved: () => void
}

export const Settings = ({ config, isEditable, saved }: SettingsProps) => {
  const save = async (form: FormData, provider: Provider) => {
    await ask<Config>("PUT", `/organizations/telephony-configs/${config.id}`, bodyOf(form, provider, config.credentials))
    saved()
  }
  return (
    <Shown
      of={useReading<Providers>("/organizations/telephony-providers/metadata")}
      show={({ providers }) => {
        const provider = providers.find((one) => one.provider === config.provider)
        if (provider === undefined) return <p class="note">This engine does not have the provider: set ADAPTERS to include it.</p>
        if (!isEditable) return <DeclaredFacts fields={declaredBy(provider)} values={config.credentials} />
        return (
          <Form label="Save" done="Saved. Later calls use it." submit={(form) => save(form, provider)}>
            <OwnFields provider={provider} config={config} />
          </Form>
        )
      }}
    />
  )
}
