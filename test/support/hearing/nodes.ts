/** The nodes in which recognition is measured: those of the templates that ask for something definite, and one for each kind of answer. */
import type { AuthoredNode } from "#adapters/voice/embedded/EmbeddedDialogue.ts"
import { sayOf } from "#adapters/voice/embedded/lines.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { openingOf } from "#core/agent/Opening.ts"
import { render } from "#core/agent/Template.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import type { ModelNode } from "#core/model/LanguageModel.ts"
import { edge, nodeOf, variable } from "#test/adapters/embeddedScene.ts"

interface AskingNode {
  readonly node: AuthoredNode
  /** What the agent has just said. */
  readonly question: string
}

const asking = (question: string, node: Partial<ModelNode>): AskingNode => ({
  question,
  node: nodeOf({ prompt: `Say: "${question}"`, ...node })
})

const contact = {
  first_name: "Ada",
  company: "Acme",
  product: "the trial",
  service: "the repair",
  appointment_date: "Monday, the ninth",
  appointment_time: "ten o'clock"
}
const now = Date.UTC(2026, 2, 5, 15, 0)

/** A node of a template, as the conversation gives it to the model. */
const templateNode = (template: string, id: string): AskingNode => {
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

const saying = (label: string, ...phrases: ReadonlyArray<string>) => edge(label, label, "agentNode", phrases)
const given = [edge("Given", "The caller gave it")]

export const askingNodes = {
  contact: templateNode("Appointment reminder", "start"),
  remind: templateNode("Appointment reminder", "remind"),
  move: templateNode("Appointment reminder", "move"),
  open: templateNode("Lead qualification", "start"),
  arrange: templateNode("Lead qualification", "arrange"),
  takePart: templateNode("Satisfaction survey", "start"),
  score: templateNode("Satisfaction survey", "score"),
  friday: asking("Would you like to come on Friday?", {
    edges: [edge("Interested", "The caller says yes"), edge("Not interested", "The caller declines", "endCall")]
  }),
  department: asking("Do you want sales, support or billing?", {
    edges: [
      saying("Sales", "sales", "a new contract", "buy something"),
      saying("Support", "support", "technical support", "it does not work"),
      saying("Billing", "billing", "my bill", "the invoice")
    ]
  }),
  account: asking("What is your account number?", { edges: given, variables: [variable("account_number", "string")] }),
  phone: asking("What is your phone number?", { edges: given, variables: [variable("phone_number", "string")] }),
  date: asking("On which date would you like to come?", { edges: given, variables: [variable("visit_date", "string")] }),
  time: asking("At what time would you like to come?", { edges: given, variables: [variable("visit_time", "string")] }),
  guests: asking("How many guests will there be?", { edges: given, variables: [variable("guests", "number")] })
} satisfies Readonly<Record<string, AskingNode>>

export type AskingNodeName = keyof typeof askingNodes
