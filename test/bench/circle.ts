/** The graph of an agent that says a line in each of its nodes, and goes round in circles. */
import type { JsonObject } from "#core/Json.ts"

/** `lineOf`: the line of each step, from 1; `more`: what else each node has. */
export const circleOf = (count: number, lineOf: (step: number) => string, edge: JsonObject, more: JsonObject = {}): JsonObject => {
  const steps = Array.from({ length: count }, (_, index) => index)
  return {
    nodes: steps.map((index) => {
      const line = lineOf(index + 1)
      const greeting = index === 0 ? { greeting_type: "text", greeting: line } : {}
      const data = { name: `Step ${index + 1}`, prompt: `Say: "${line}"`, allow_interrupt: true, add_global_prompt: false }
      return {
        id: `${index}`,
        type: index === 0 ? "startCall" : "agentNode",
        position: { x: index, y: 0 },
        data: { ...data, ...greeting, ...more }
      }
    }),
    // The last node leads to the second, because no edge can lead to the first.
    edges: steps.map((index) => ({ id: `from-${index}`, source: `${index}`, target: `${index + 1 < count ? index + 1 : 1}`, data: edge }))
  }
}

export const suits: JsonObject = { label: "Yes", condition: "The callee says that the step suits." }
