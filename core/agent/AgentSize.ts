/**
 * How large an agent may become. Its graph, settings and template variables can be sent one after the other, and are read, looked through and
 * answered with together.
 */
import type { AgentContent, GraphProblem } from "./Agent.ts"

/** About what it is as JSON. */
export const mostCharacters = 524_288
/** Values and members of objects, all levels together. */
export const mostValues = 8000

interface Room {
  characters: number
  values: number
}

/** Takes what the value needs out of the room, and stops where there is none left. */
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
  const message = `Value error, an agent takes ${mostCharacters} characters and ${mostValues} values: its graph, settings and template variables together`
  return [{ kind: "workflow", id: null, path: [], message }]
}
