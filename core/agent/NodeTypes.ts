/** The registry of node types. */
import { callNodes } from "./CallNodes.ts"
import { integrationNodes } from "./IntegrationNodes.ts"
import type { NodeType } from "./NodeType.ts"

/** Sorted by name. */
export const nodeTypes: ReadonlyArray<NodeType> = [...callNodes, ...integrationNodes].sort((a, b) => (a.name < b.name ? -1 : 1))

const byName: ReadonlyMap<string, NodeType> = new Map(nodeTypes.map((type) => [type.name, type]))
export const nodeTypeOf = (name: string): NodeType | undefined => byName.get(name)
