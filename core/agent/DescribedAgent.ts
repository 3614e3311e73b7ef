/**
 * Makes an agent from a short description: the best matching template, with the description in its prompt. It is not known which variables the
 * contacts have, so each variable of the template gets a fallback text.
 */
import { isObject, type JsonObject } from "#core/Json.ts"
import type { NewAgent } from "./AgentEditing.ts"
import { type AgentTemplate, agentTemplates } from "./templates/AgentTemplate.ts"

export interface Description {
  readonly useCase: string
  readonly activity: string
}

/** Word beginnings that point to a template, by its id. */
const telling: Readonly<Record<number, ReadonlyArray<string>>> = {
  1: ["appoint", "remind", "confirm", "schedul", "book", "visit", "clinic", "doctor", "dent", "cancel", "deliver", "reserv"],
  2: ["lead", "qualif", "sale", "sell", "product", "prospect", "interest", "demo", "offer", "budget", "custom", "market"],
  3: ["survey", "feedback", "satisf", "score", "rating", "review", "question", "nps", "opinion", "experience", "poll"]
}

/** Sales is the default: it asks the most general questions. */
const ordinary = 2

const nearest = ({ activity, useCase }: Description): AgentTemplate | undefined => {
  const words = `${useCase} ${activity}`.toLowerCase().match(/[a-z]+/g) ?? []
  const scoreOf = ({ id }: AgentTemplate) =>
    words.filter((word) => telling[id]?.some((beginning) => word.startsWith(beginning)) === true).length + (id === ordinary ? 0.5 : 0)
  return agentTemplates.toSorted((one, other) => scoreOf(other) - scoreOf(one))[0]
}

const standIns: Readonly<Record<string, string>> = {
  appointment_date: "the agreed day",
  appointment_time: "the agreed time",
  company: "our company",
  product: "what we offer",
  service: "our service"
}
const standInOf = (name: string, { id }: AgentTemplate): string =>
  name === "first_name" ? (id === 1 ? "the person we are looking for" : "there") : (standIns[name] ?? name)

const filled = (value: unknown, template: AgentTemplate): unknown => {
  if (typeof value === "string") {
    return value.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) =>
      name.startsWith("current_") ? whole : `{{${name} | ${standInOf(name, template)}}}`
    )
  }
  if (Array.isArray(value)) return value.map((part) => filled(part, template))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, filled(part, template)]))
}

const described = (node: unknown, activity: string): unknown => {
  if (!isObject(node) || node["type"] !== "globalNode" || !isObject(node["data"])) return node
  const { data } = node
  return { ...node, data: { ...data, prompt: `${String(data["prompt"])}\n\nWhat this call is about: ${activity}` } }
}

export const describedAgent = (description: Description): NewAgent => {
  const template = nearest(description)
  if (template === undefined) throw new Error("There are no templates")
  const definition = filled(template.definition, template)
  const nodes = isObject(definition) && Array.isArray(definition["nodes"]) ? definition["nodes"] : []
  return {
    name: description.useCase.trim() || template.name,
    definition: {
      ...(isObject(definition) ? definition : {}),
      nodes: nodes.map((node) => described(node, description.activity))
    } satisfies JsonObject
  }
}

/** The name, with a number if it is taken. */
export const freeName = (name: string, taken: ReadonlyArray<string>): string => {
  const others = new Set(taken)
  let free = name
  for (let number = 2; others.has(free); number++) free = `${name} ${number}`
  return free
}
