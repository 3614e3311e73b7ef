/** What a node says and does, as a form that is made from its type: what is not text, number or choice is edited as JSON. */
import { AreaField, CheckField, ChoiceField, entered, enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import type { NodeTypes } from "#gateway/console/base/types.ts"
import { type GraphNode, nameOf } from "./graph.ts"

type Property = NodeTypes["node_types"][number]["properties"][number]
type Data = GraphNode["data"]

/** Whether the node's other members call for it. */
const isShown = ({ display_options: options }: Property, data: Data): boolean =>
  Object.entries(options?.show ?? {}).every(([name, values]) => values.includes(data[name]))

const isOfKind = (property: Property, ...kinds: ReadonlyArray<Property["type"]>): boolean => kinds.includes(property.type)

const PropertyField = ({ data, property }: { readonly data: Data; readonly property: Property }) => {
  const { description: hint, display_name: label, name, options, required: isRequired } = property
  const value = data[name] ?? property.default
  if (isOfKind(property, "boolean")) return <CheckField name={name} label={label} isChecked={value === true} />
  if (isOfKind(property, "options") && options !== null)
    return (
      <ChoiceField name={name} label={label} hint={hint} value={String(value)} choices={options.map((one) => [one.value, one.label])} />
    )
  if (isOfKind(property, "mention_textarea") || (isOfKind(property, "string") && property.editor === "textarea"))
    return (
      <AreaField name={name} label={label} hint={hint} value={typeof value === "string" ? value : ""} rows={6} isRequired={isRequired} />
    )
  if (isOfKind(property, "string", "url", "number"))
    return (
      <TextField
        name={name}
        label={label}
        hint={hint}
        type={isOfKind(property, "number") ? "number" : "text"}
        value={typeof value === "string" || typeof value === "number" ? value : ""}
        isRequired={isRequired}
      />
    )
  return <AreaField name={name} label={`${label} (JSON)`} hint={hint} value={value === null ? "" : JSON.stringify(value, null, 2)} />
}

const enteredIn = (property: Property, fields: FormData): unknown => {
  if (isOfKind(property, "boolean")) return fields.get(property.name) !== null
  const text = entered(fields, property.name)
  if (isOfKind(property, "number")) return enteredNumber(fields, property.name)
  if (isOfKind(property, "string", "url", "options", "mention_textarea")) return text
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch (cause) {
    throw new Error(`${property.display_name}: this is not JSON (${cause instanceof Error ? cause.message : ""})`)
  }
}

interface NodeFormProps {
  readonly node: GraphNode
  readonly properties: ReadonlyArray<Property>
  readonly isReadOnly: boolean
  readonly save: (data: Data) => Promise<unknown>
}

export const NodeForm = ({ isReadOnly, node, properties, save }: NodeFormProps) => {
  const shown = properties.filter((property) => isShown(property, node.data))
  const submit = (fields: FormData) => {
    const changed = Object.fromEntries(shown.map((property) => [property.name, enteredIn(property, fields)]))
    return save({ ...node.data, ...changed })
  }
  return (
    <fieldset class="group" disabled={isReadOnly}>
      <legend>{nameOf(node)}</legend>
      <Form key={node.id} label="Save node" done="Saved" submit={submit}>
        {shown.map((property) => (
          <PropertyField key={property.name} property={property} data={node.data} />
        ))}
      </Form>
    </fieldset>
  )
}
