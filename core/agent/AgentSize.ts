/**
 * The size limit of an agent. Its graph, settings and template variables can be sent one after the other, but are read, checked and answered
 * together.
 */
import type { AgentContent, GraphProblem } from "./Agent.ts"

/** Roughly the length as JSON. */
export const mostCharacters = 524_288
/** Values and object members, at all levels together. */
export const mostValues = 8000

interface Room {
  characters: number
  values: number
}

/** Deducts what the value needs from `room`, and stops when none is left. */
const take = (room: Room, value: unknown): void => {
  room.values--
  room.characters -= typeof value === "string" ? value.length + 3 : 5
  if (typeof value !== "object" || value === null) return
  const isList = Array.isArray(value)
  for (const name of Object.keys(value)) {
    if (room.values < 0 || room.characters < 0) return
    if (!isList) room.characters -= name.length + 3
    take(room, Reflect.get(value, name))
  }
}

export const sizeProblems = ({ configurations, definition, templateContextVariables }: AgentContent): ReadonlyArray<GraphProblem> => {
  const room = { characters: mostCharacters, values: mostValues }
  take(room, definition)
  take(room, configurations)
  take(room, templateContextVariables)
  if (room.values >= 0 && room.characters >= 0) return []
  const message = `Value error, the graph, settings and template variables of an agent may have at most ${mostCharacters} characters and ${mostValues} values together`
  return [{ kind: "workflow", id: null, path: [], message }]
}
