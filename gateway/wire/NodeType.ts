/** `/node-types`: the nodes that editors and clients build agents from. Clients reject unknown keys, so none may be added here. */
import Type, { type Static } from "typebox"
import type { Limits, NodeType, Property } from "#core/agent/NodeType.ts"
import { nullable, object, orNull } from "#gateway/request/Field.ts"

export const NodeTypePath = Type.Object({ name: Type.String() })

const PropertyOption = Type.Object(
  { value: Type.String(), label: Type.String(), description: nullable(Type.String()) },
  { title: "PropertyOption" }
)
const kinds = [
  "string",
  "number",
  "boolean",
  "options",
  "multi_options",
  "fixed_collection",
  "json",
  "tool_refs",
  "document_refs",
  "recording_ref",
  "credential_ref",
  "mention_textarea",
  "url"
] as const
const DisplayOptions = Type.Object(
  {
    show: nullable(Type.Unsafe<Readonly<Record<string, ReadonlyArray<unknown>>>>(Type.Record(Type.String(), Type.Array(Type.Unknown())))),
    hide: Type.Null()
  },
  {
    title: "DisplayOptions",
    description: "The property is shown while each of these other properties has one of the values listed for it."
  }
)

const described = {
  name: Type.String(),
  type: Type.Enum([...kinds]),
  display_name: Type.String(),
  description: Type.String(),
  llm_hint: nullable(Type.String()),
  default: Type.Unknown(),
  required: Type.Boolean(),
  placeholder: nullable(Type.String()),
  display_options: nullable(DisplayOptions),
  options: nullable(Type.Array(PropertyOption)),
  min_value: nullable(Type.Number()),
  max_value: nullable(Type.Number()),
  min_length: nullable(Type.Integer()),
  max_length: nullable(Type.Integer()),
  pattern: nullable(Type.String()),
  editor: nullable(Type.String())
}
const RowProperty = Type.Object({ ...described, properties: Type.Null() }, { title: "RowPropertySpec" })
const PropertySpec = Type.Object(
  { ...described, properties: nullable(Type.Array(RowProperty, { description: "The properties of each row of a `fixed_collection`." })) },
  { title: "PropertySpec" }
)

const GraphConstraints = Type.Object(
  {
    min_incoming: nullable(Type.Integer()),
    max_incoming: nullable(Type.Integer()),
    min_outgoing: nullable(Type.Integer()),
    max_outgoing: nullable(Type.Integer()),
    min_instances: nullable(Type.Integer()),
    max_instances: nullable(Type.Integer())
  },
  { title: "GraphConstraints", description: "Null: no limit." }
)
const NodeExample = Type.Object({ name: Type.String(), description: nullable(Type.String()), data: object() }, { title: "NodeExample" })

export const NodeSpec = Type.Object(
  {
    name: Type.String(),
    display_name: Type.String(),
    description: Type.String(),
    llm_hint: nullable(Type.String()),
    category: Type.Enum(["call_node", "global_node", "trigger", "integration"]),
    icon: Type.String(),
    version: Type.String(),
    // Linters take whatever has a `default` for a schema, in examples too.
    properties: Type.Array(PropertySpec, { examples: [[]] }),
    examples: Type.Array(NodeExample),
    graph_constraints: nullable(GraphConstraints)
  },
  { title: "NodeSpec" }
)
export const NodeTypeList = Type.Object({ spec_version: Type.String(), node_types: Type.Array(NodeSpec) }, { title: "NodeTypeList" })

/** The version of the specifications and of each node type. Raised when a property is removed or changes its meaning. */
export const specVersion = "1.0.0"

const rowWire = (property: Property): Static<typeof RowProperty> => ({
  name: property.name,
  type: property.kind,
  display_name: property.displayName,
  description: property.description,
  llm_hint: orNull(property.hint),
  default: property.default ?? null,
  required: property.required ?? false,
  placeholder: orNull(property.placeholder),
  display_options: property.shownWhen === undefined ? null : { show: property.shownWhen, hide: null },
  options: orNull(property.options?.map((option) => ({ ...option, description: null }))),
  properties: null,
  min_value: orNull(property.min),
  max_value: orNull(property.max),
  min_length: null,
  max_length: orNull(property.maxLength),
  pattern: orNull(property.pattern),
  editor: orNull(property.editor)
})

const propertyWire = (property: Property): Static<typeof PropertySpec> => ({
  ...rowWire(property),
  properties: orNull(property.properties?.map(rowWire))
})

const limitsWire = (limits: Limits): Static<typeof GraphConstraints> | null =>
  Object.keys(limits).length === 0
    ? null
    : {
        min_incoming: orNull(limits.minIncoming),
        max_incoming: orNull(limits.maxIncoming),
        min_outgoing: orNull(limits.minOutgoing),
        max_outgoing: orNull(limits.maxOutgoing),
        min_instances: orNull(limits.minInstances),
        max_instances: orNull(limits.maxInstances)
      }

export const nodeSpec = (type: NodeType): Static<typeof NodeSpec> => ({
  name: type.name,
  display_name: type.displayName,
  description: type.description,
  llm_hint: orNull(type.hint),
  category: type.category,
  icon: type.icon,
  version: specVersion,
  properties: type.properties.map(propertyWire),
  examples: type.examples.map(({ data, description, name }) => ({ name, description: orNull(description), data })),
  graph_constraints: limitsWire(type.limits)
})
