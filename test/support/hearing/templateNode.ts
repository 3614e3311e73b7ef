/** A node of a template, as the conversation gives it to the model. */
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { openingOf } from "#core/agent/Opening.ts"
import { render } from "#core/agent/Template.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import { sayOf } from "#adapters/voice/embedded/lines.ts"
import { nodeOf } from "#test/adapters/embeddedScene.ts"
import type { AskingNode } from "./nodes.ts"

const contact = {
  first_name: "Ada",
  company: "Acme",
  product: "the trial",
  service: "the repair",
  appointment_date: "Monday, the ninth",
  appointment_time: "ten o'clock"
}
const now = Date.UTC(2026, 2, 5, 15, 0)

export const templateNode = (template: string, id: string): AskingNode => {
  const definition = agentTemplates.find(({ name }) => name === template)?.definition ?? {}
  const graph = compile(definition)
  const found = graph?.nodes.get(id)
  if (graph === undefined || found === undefined) throw new Error(`${template} has no node ${id}`)
  const node = nodeOf({
    id,
    type: found.type,
    name: found.name,
    prompt: render(found.prompt, contact, now),
    edges: found.edges,
    variables: found.extraction?.variables ?? []
  })
  const greeting = found === graph.start ? openingOf(definition, contact).text : undefined
  return { node, question: greeting === undefined ? sayOf(node) : render(greeting, contact, now) }
}
