/**
 * A node type: the data that its nodes hold, how they may be joined, and how many an agent may have. Editors build their forms from it, and
 * AgentGraph checks definitions against it. A member of a node's data that its type does not name is no error.
 */
export type PropertyKind =
  | "string"
  | "number"
  | "boolean"
  | "options"
  | "multi_options"
  | "fixed_collection"
  | "json"
  | "tool_refs"
  | "document_refs"
  | "recording_ref"
  | "credential_ref"
  | "mention_textarea"
  | "url"

interface PropertyOption {
  readonly value: string
  readonly label: string
}

export interface Property {
  readonly name: string
  readonly kind: PropertyKind
  readonly displayName: string
  readonly description: string
  /** A hint for programs that write agents. */
  readonly hint?: string
  /** The value that editors fill in. */
  readonly default?: unknown
  readonly required?: true
  readonly placeholder?: string
  /** Editors show it only while each of these other properties has one of these values. */
  readonly shownWhen?: Readonly<Record<string, ReadonlyArray<unknown>>>
  readonly options?: ReadonlyArray<PropertyOption>
  /** The fields of each row of a `fixed_collection`. */
  readonly properties?: ReadonlyArray<Property>
  readonly min?: number
  readonly max?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly editor?: string
}

/** Bounds on edges and nodes; undefined means unlimited. Several edges between the same two nodes count as one. */
export interface Limits {
  readonly minIncoming?: number
  readonly maxIncoming?: number
  readonly minOutgoing?: number
  readonly maxOutgoing?: number
  readonly minInstances?: number
  readonly maxInstances?: number
}

interface NodeExample {
  readonly name: string
  readonly description?: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface NodeType {
  readonly name: string
  readonly displayName: string
  readonly description: string
  readonly hint?: string
  readonly category: "call_node" | "global_node" | "trigger" | "integration"
  readonly icon: string
  readonly properties: ReadonlyArray<Property>
  readonly examples: ReadonlyArray<NodeExample>
  readonly limits: Limits
  /** What error messages call a node of this type; if set, its prompt must not be blank. */
  readonly promptedAs?: "start" | "agent" | "end" | "global"
  /** The property that turns the node off; a node that is off needs nothing but its name. */
  readonly switch?: string
}

export const isolated: Limits = { maxIncoming: 0, maxOutgoing: 0 }

type Words = Pick<Property, "displayName" | "description">
type More = Partial<Omit<Property, "name" | "kind">> & Words

export const property = (kind: PropertyKind, name: string, more: More): Property => ({ name, kind, ...more })
export const flag = (name: string, isOn: boolean, more: More): Property => property("boolean", name, { default: isOn, ...more })

/** The property that holds a node's name. */
export const nameOf = (preset: string, description: string): Property =>
  property("string", "name", { displayName: "Name", description, required: true, default: preset })
