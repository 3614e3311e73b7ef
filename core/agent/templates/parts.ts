/** Builders for the graphs of the templates. */
import type { JsonObject } from "#core/Json.ts"

interface Extraction {
  readonly name: string
  readonly type: "string" | "number" | "boolean"
  readonly prompt: string
}

/**
 * In the existing product's editor, a node takes 350 by 190, and edges leave it at the bottom and arrive at the top, so a conversation runs down. The
 * rest of a cell is room for edges.
 */
const columnWidth = 480
const rowHeight = 320

/** `at` is the node's column and row in the editor; parts of a column are possible. */
export const node = (id: string, type: string, at: readonly [column: number, row: number], data: JsonObject): JsonObject => ({
  id,
  type,
  position: { x: at[0] * columnWidth, y: at[1] * rowHeight },
  data
})

export const extracted = (prompt: string, ...variables: ReadonlyArray<Extraction>): JsonObject => ({
  extraction_enabled: true,
  extraction_prompt: prompt,
  extraction_variables: variables
})

export const edge = (source: string, target: string, label: string, condition: string): JsonObject => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label, condition }
})

export const graph = (nodes: ReadonlyArray<JsonObject>, edges: ReadonlyArray<JsonObject>): JsonObject => ({
  nodes,
  edges,
  viewport: { x: 0, y: 0, zoom: 1 }
})
