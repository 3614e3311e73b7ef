/** The speech and language services that agents use which choose none of their own. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { DeclaredFacts, DeclaredFields, enteredValues, type Values } from "#gateway/console/base/Declared.tsx"
import { ChoiceField, entered, Form } from "#gateway/console/base/Form.tsx"
import { Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { Prices } from "./Prices.tsx"
import { aboutOf, fieldsOf, titleOf } from "./schema.ts"
import type { Available, Configured } from "./types.ts"

const path = "/organizations/model-configurations/v2"
type Kind = "stt" | "llm" | "tts" | "embeddings"
const names: Readonly<Record<Kind, string>> = {
  stt: "Speech-to-text",
  llm: "Language model",
  tts: "Voice",
  embeddings: "Embeddings, for the knowledge of agents"
}
// Cast: the names of a record are its keys.
const kinds = Object.keys(names) as ReadonlyArray<Kind>
const isRequired = (kind: Kind) => kind !== "embeddings"

/** What is configured now; empty if nothing is. */
const serviceIn = ({ effective_configuration: services }: Configured, kind: Kind): Values => services[kind] ?? {}
const providerOf = ({ provider }: Values): string => (typeof provider === "string" ? provider : "")
const belowOf = (kind: Kind) => `byok.pipeline.${kind}`

interface ServiceProps {
  readonly kind: Kind
  readonly configured: Configured
  readonly available: Available
}

/** Settings count only for the provider they were made for. */
const valuesFor = (service: Values, provider: string): Values => (providerOf(service) === provider ? service : {})

const choicesFor = (schemas: Readonly<Record<string, Values>>, present: string, isOptional: boolean) => [
  ...(present === "" || isOptional ? [["", isOptional ? "None" : "Choose one"] as const] : []),
  ...Object.entries(schemas).map(([name, schema]) => [name, titleOf(schema, name)] as const),
  ...(present === "" || Object.hasOwn(schemas, present) ? [] : [[present, `${present}, which this engine does not have`] as const])
]

/** `stt: deepgram does not take the key: ...`, without the kind. */
const warningsOf = ({ warnings }: Configured, kind: Kind): ReadonlyArray<string> =>
  warnings.filter((warning) => warning.startsWith(`${kind}: `)).map((warning) => warning.slice(kind.length + 2))

const Warnings = ({ configured, kind }: Pick<ServiceProps, "configured" | "kind">) =>
  warningsOf(configured, kind).map((warning) => (
    <p key={warning} role="alert">
      {warning}
    </p>
  ))

const ServiceFields = ({ available, configured, kind }: ServiceProps) => {
  const {
    byok: { pipeline }
  } = available
  const service = serviceIn(configured, kind)
  const provider = useSignal(providerOf(service))
  const schema = pipeline[kind][provider.value]
  return (
    <Panel title={names[kind]}>
      <div class="form">
        <ChoiceField
          name={`${belowOf(kind)}.provider`}
          label={`${names[kind]}: provider`}
          value={provider.value}
          choices={choicesFor(pipeline[kind], providerOf(service), !isRequired(kind))}
          onChoose={(chosen) => {
            provider.value = chosen
          }}
        />
        {schema === undefined ? null : (
          <div key={provider.value} class="form">
            {aboutOf(schema) === "" ? null : <p class="note">{aboutOf(schema)}</p>}
            <DeclaredFields fields={fieldsOf(schema)} below={belowOf(kind)} values={valuesFor(service, provider.value)} />
          </div>
        )}
        <Warnings configured={configured} kind={kind} />
      </div>
    </Panel>
  )
}

const enteredService = (form: FormData, { available, configured, kind }: ServiceProps): Values | null => {
  const provider = entered(form, `${belowOf(kind)}.provider`)
  if (provider === undefined) return null
  const values = valuesFor(serviceIn(configured, kind), provider)
  const { [provider]: schema } = available.byok.pipeline[kind]
  if (schema === undefined) return values
  const fields = fieldsOf(schema)
  const isDeclared = ([name]: readonly [string, unknown]) => fields.some((field) => field.name === name)
  // A secret that is left out stays.
  const emptied = fields.filter(({ kind, name }) => kind === "secret" && Object.hasOwn(values, name)).map(({ name }) => [name, ""])
  // What other clients have set besides stays.
  const others = Object.entries(values).filter((entry) => !isDeclared(entry))
  return { ...Object.fromEntries([...others, ...emptied]), ...enteredValues(form, { fields, below: belowOf(kind), values }), provider }
}

/** The document, in which only the services of this page change. */
const documentOf = (form: FormData, available: Available, configured: Configured) => {
  const pipeline = Object.fromEntries(kinds.map((kind) => [kind, enteredService(form, { available, configured, kind })]))
  const before = configured.configuration ?? {}
  const byok = typeof before["byok"] === "object" ? before["byok"] : {}
  return { ...before, version: 2, mode: "byok", byok: { ...byok, mode: "pipeline", pipeline } }
}

const Facts = ({ available, configured, kind }: ServiceProps) => {
  const service = serviceIn(configured, kind)
  const provider = providerOf(service)
  const { [provider]: schema } = available.byok.pipeline[kind]
  return (
    <Panel title={names[kind]}>
      {provider === "" ? <p class="none">None.</p> : <p>{schema === undefined ? provider : titleOf(schema, provider)}</p>}
      {schema === undefined ? null : <DeclaredFacts fields={fieldsOf(schema)} values={service} />}
      <Warnings configured={configured} kind={kind} />
    </Panel>
  )
}

interface EditedProps {
  readonly available: Available
  readonly read: Configured
}

const Edited = ({ available, read }: EditedProps) => {
  // The answer to a change has warnings that a reading has not: keys are tried only then.
  const saved = useSignal<Configured | undefined>(undefined)
  const configured = saved.value ?? read
  const save = async (form: FormData) => {
    saved.value = await ask<Configured>("PUT", path, documentOf(form, available, configured))
  }
  return (
    <Form label="Save" done="Saved. The next calls use them." submit={save}>
      {configured.effective_configuration.is_realtime ? (
        <p role="alert">A realtime model is configured at present. Once these services are saved, calls use them instead.</p>
      ) : null}
      {kinds
        .filter((kind) => isRequired(kind) || Object.keys(available.byok.pipeline[kind]).length > 0)
        .map((kind) => (
          <ServiceFields key={kind} kind={kind} available={available} configured={configured} />
        ))}
    </Form>
  )
}

export const Services = () => {
  const available = useReading<Available>(`${path}/defaults`)
  const configured = useReading<Configured>(path)
  return (
    <>
      <h1>Services</h1>
      <p class="note">Used by agents that do not choose their own.</p>
      <Shown
        of={available}
        show={(known) => (
          <Shown
            of={configured}
            show={(read) =>
              may("admin", "admin") ? (
                <Edited available={known} read={read} />
              ) : (
                kinds.map((kind) => <Facts key={kind} kind={kind} available={known} configured={read} />)
              )
            }
          />
        )}
      />
      <Prices />
    </>
  )
}
