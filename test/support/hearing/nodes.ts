/** The nodes in which recognition is measured: those of the templates that ask for something definite, and one for each kind of answer. */
import type { ModelNode } from "#core/model/LanguageModel.ts"
import { edge, nodeOf, variable } from "#test/adapters/embeddedScene.ts"
import { templateNode } from "./templateNode.ts"

export interface AskingNode {
  readonly node: ModelNode
  /** What the agent has just said. */
  readonly question: string
}

const asking = (question: string, node: Partial<ModelNode>): AskingNode => ({
  question,
  node: nodeOf({ prompt: `Say: "${question}"`, ...node })
})

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
    edges: [edge("Sales"), edge("Support"), edge("Billing")],
    embedded: {
      edges: {
        Sales: { phrases: ["sales", "a new contract", "buy something"] },
        Support: { phrases: ["support", "technical support", "it does not work"] },
        Billing: { phrases: ["billing", "my bill", "the invoice"] }
      }
    }
  }),
  account: asking("What is your account number?", { edges: given, variables: [variable("account_number", "string")] }),
  phone: asking("What is your phone number?", { edges: given, variables: [variable("phone_number", "string")] }),
  date: asking("On which date would you like to come?", { edges: given, variables: [variable("visit_date", "string")] }),
  time: asking("At what time would you like to come?", { edges: given, variables: [variable("visit_time", "string")] }),
  guests: asking("How many guests will there be?", { edges: given, variables: [variable("guests", "number")] })
} satisfies Readonly<Record<string, AskingNode>>

export type AskingNodeName = keyof typeof askingNodes
