/** An agent's graph as it is drawn: where its nodes are, and which way calls went. */
import type { Agent, Runs } from "#gateway/console/base/types.ts"

export interface GraphNode {
  readonly id: string
  readonly type: string
  readonly position: { readonly x: number; readonly y: number }
  readonly data: Readonly<Record<string, unknown>>
}
export interface GraphEdge {
  readonly id: string
  readonly source: string
  readonly target: string
  readonly data: Readonly<Record<string, unknown>>
}
export interface Graph {
  readonly nodes: ReadonlyArray<GraphNode>
  readonly edges: ReadonlyArray<GraphEdge>
}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => value !== null && typeof value === "object" && !Array.isArray(value)
const objectsIn = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isObject) : [])
const text = (value: unknown): string => (typeof value === "string" ? value : "")
const dataOf = ({ data }: Json): Json => (isObject(data) ? data : {})
const positionOf = ({ position }: Json) => {
  const { x, y } = isObject(position) ? position : {}
  return { x: typeof x === "number" ? x : 0, y: typeof y === "number" ? y : 0 }
}

/** The engine has checked the definition, but a draft may lack anything. */
export const graphOf = (definition: Agent["workflow_definition"]): Graph => ({
  nodes: objectsIn(definition["nodes"]).map((node) => ({
    id: text(node["id"]),
    type: text(node["type"]),
    position: positionOf(node),
    data: dataOf(node)
  })),
  edges: objectsIn(definition["edges"]).map((edge) => ({
    id: text(edge["id"]),
    source: text(edge["source"]),
    target: text(edge["target"]),
    data: dataOf(edge)
  }))
})

export const nameOf = ({ data, id }: GraphNode): string => text(data["name"]) || id
export const labelOf = ({ data }: GraphEdge): string => text(data["label"]) || text(data["condition"])

export interface Box {
  readonly node: GraphNode
  /** CSS pixels of its left upper corner. */
  readonly x: number
  readonly y: number
}
export const boxSize = { width: 180, height: 56 }
const gap = { x: 40, y: 64 }

/** How many edges each node is away from a node that no edge leads to. */
const depths = ({ edges, nodes }: Graph): ReadonlyMap<string, number> => {
  const reached = new Set(edges.map(({ target }) => target))
  const found = new Map<string, number>()
  let level = nodes.filter(({ id }) => !reached.has(id)).map(({ id }) => id)
  for (let depth = 0; level.length > 0; depth++) {
    for (const id of level) found.set(id, depth)
    level = [...new Set(edges.filter(({ source, target }) => level.includes(source) && !found.has(target)).map(({ target }) => target))]
  }
  return found
}

/** Where the editor has put them; in rows by depth if it has put two at the same place. */
export const boxesOf = (graph: Graph): ReadonlyArray<Box> => {
  const { nodes } = graph
  const places = new Set(nodes.map(({ position: { x, y } }) => `${x} ${y}`))
  if (places.size === nodes.length) {
    const left = Math.min(...nodes.map(({ position }) => position.x))
    const top = Math.min(...nodes.map(({ position }) => position.y))
    // An editor's nodes are 350 by 190, with as much room between them.
    return nodes.map((node) => ({ node, x: (node.position.x - left) * 0.42, y: (node.position.y - top) * 0.38 }))
  }
  const depth = depths(graph)
  const rows = Map.groupBy(nodes, ({ id }) => depth.get(id) ?? 0)
  return [...rows].flatMap(([row, members]) =>
    members.map((node, column) => ({ node, x: column * (boxSize.width + gap.x), y: row * (boxSize.height + gap.y) }))
  )
}

/** How often calls went along each edge, by its id, as the names of the nodes that they visited tell. */
export const visitsOf = (
  { edges, nodes }: Graph,
  runs: ReadonlyArray<Pick<Runs["runs"][number], "gathered_context">>
): ReadonlyMap<string, number> => {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]))
  const counts = new Map<string, number>()
  for (const { gathered_context: gathered } of runs) {
    const { nodes_visited: visited } = gathered ?? {}
    if (!Array.isArray(visited)) continue
    visited.slice(1).forEach((name, at) => {
      const edge = edges.find(({ source, target }) => names.get(source) === visited[at] && names.get(target) === name)
      if (edge !== undefined) counts.set(edge.id, (counts.get(edge.id) ?? 0) + 1)
    })
  }
  return counts
}
