/**
 * Workflows as users of the existing product build them: the examples of its documentation and of its SDK, reworded, each built with the SDK
 * itself from the node types that this engine serves.
 */
import { Workflow } from "@dograh/sdk"
import { nodeTypeOf } from "#core/agent/NodeTypes.ts"
import type { JsonObject } from "#core/Json.ts"
import { nodeSpec } from "#gateway/wire/NodeType.ts"
import { toolUuid } from "./talk.ts"

/** Returns node types as the API serves them, without a server. */
const client = {
  getNodeType: async (name: string) => {
    const type = nodeTypeOf(name)
    if (type === undefined) throw new Error(`unknown node type ${name}`)
    // The SDK reads JSON from the network, in which absent members are left out.
    return JSON.parse(JSON.stringify(nodeSpec(type)))
  }
}

type Variables = ReadonlyArray<readonly [name: string, type: "string" | "number" | "boolean", hint: string]>
const extracting = (...variables: Variables): JsonObject => ({
  extraction_enabled: true,
  extraction_prompt: "Take down only what the callee said.",
  extraction_variables: variables.map(([name, type, prompt]) => ({ name, type, prompt }))
})

type Node = readonly [type: "startCall" | "agentNode" | "endCall" | "globalNode" | "webhook" | "qa" | "trigger", data: JsonObject]
/** Where an edge leads, and what is said on the way. */
type Way = string | readonly [to: string, speech: string]

interface Example {
  readonly nodes: Readonly<Record<string, Node>>
  /** By the node that they leave and by their labels, in the order in which the model is offered them. */
  readonly edges: Readonly<Record<string, Readonly<Record<string, Way>>>>
}

const build = async (name: string, { edges, nodes }: Example): Promise<JsonObject> => {
  const workflow = new Workflow({ client, name })
  const refs = new Map<string, Awaited<ReturnType<typeof workflow.add>>>()
  for (const [key, [type, data]] of Object.entries(nodes)) refs.set(key, await workflow.add({ type, name: key, ...data }))
  for (const [from, ways] of Object.entries(edges)) {
    for (const [label, way] of Object.entries(ways)) {
      const [to, speech] = typeof way === "string" ? [way] : way
      const [source, target] = [refs.get(from), refs.get(to)]
      if (source === undefined || target === undefined) throw new Error(`${name}: an edge from ${from} to ${to}, of which one is missing`)
      const said = speech === undefined ? {} : { transitionSpeech: speech, transitionSpeechType: "text" as const }
      workflow.edge(source, target, { label, condition: `The callee: ${label}.`, ...said })
    }
  }
  return { ...workflow.toJson() }
}

const asking = (prompt: string, more: JsonObject = {}): Node => ["agentNode", { prompt, ...more }]
const ending = (prompt: string, more: JsonObject = {}): Node => ["endCall", { prompt, ...more }]
const starting = (prompt: string, more: JsonObject = {}): Node => ["startCall", { prompt, ...more }]
const greeted = (greeting: string) => ({ greeting_type: "text", greeting })
const globally = { add_global_prompt: true }

const examples: Readonly<Record<string, Example>> = {
  // The running example of the pages on nodes.
  "Debt collection": {
    nodes: {
      Rules: ["globalNode", { prompt: "You are Alex of Apex Recovery Solutions. Never threaten." }],
      Trigger: ["trigger", {}],
      Opening: starting("Confirm that you speak with {{initial_context.debtor_name}}.", {
        ...greeted("Hi {{initial_context.debtor_name}}, this is Alex from Apex Recovery Solutions."),
        delayed_start: true,
        delayed_start_duration: 1
      }),
      "Debt disclosure": asking("Name the account with {{client_name}} and the balance of {{debt_amount}}."),
      "Payment offer": asking(
        "Offer to pay at once or in parts.",
        extracting(
          ["amount_user_will_pay", "string", "What they said they will pay."],
          ["payment_method", "string", "Card, transfer, ..."],
          ["sentiment", "string", "cooperative, hesitant, angry or refused."]
        )
      ),
      Objections: asking(
        "Hear the objection out, and answer it.",
        extracting(["disputes_debt", "boolean", "They say that they owe nothing."])
      ),
      "Wrong number": ending("Apologise and end the call."),
      Committed: ending("Confirm {{gathered_context.amount_user_will_pay}} by {{gathered_context.payment_method}}."),
      "No commitment": ending("Say that they can call back to talk about their options."),
      Report: [
        "webhook",
        { endpoint_url: "https://crm.example/calls", payload_template: { outcome: "{{gathered_context.call_disposition}}" } }
      ]
    },
    edges: {
      Opening: { "caller confirmed": "Debt disclosure", "wrong number": "Wrong number" },
      "Debt disclosure": { listens: "Payment offer", objects: "Objections" },
      Objections: { settled: ["Payment offer", "Thank you for telling me."], "still disputed": "No commitment" },
      "Payment offer": { commits: "Committed", objects: "Objections", refuses: "No commitment" }
    }
  },
  // From the page on data that is fetched before the call: nested variables, and a path that depends on fetched data.
  "Known customer": {
    nodes: {
      Welcome: starting("A {{loyalty_tier}} customer from {{customer.address.city}} with {{open_tickets}} open tickets.", {
        ...greeted("Hello {{customer_name}}, thank you for your time!"),
        pre_call_fetch_mode: "always",
        pre_call_fetch_url: "https://crm.example/pre-call"
      }),
      Tickets: asking("Go through the open tickets one by one."),
      Closed: ending("Say that all tickets are settled."),
      "Other matter": ending("Say that somebody gets in touch.")
    },
    edges: {
      Welcome: { "about a ticket": "Tickets", "something else": "Other matter" },
      Tickets: { "next ticket": ["Tickets", "On to the next one."], "all settled": "Closed" }
    }
  },
  // From the page on transfers: the agent finds out what the bill is about, and transfers the callee.
  "Enterprise billing": {
    nodes: {
      Welcome: starting(
        "Ask what is wrong with the bill.",
        extracting(["billing_issue_type", "string", "invoice_dispute, refund_request, ..."])
      ),
      "Hand over": asking("Say that a colleague takes over, and use the transfer.", { tool_uuids: [toolUuid(1)] }),
      Solved: ending("Say goodbye."),
      "Nobody there": ending("Say that a colleague calls back.")
    },
    edges: { Welcome: { solved: "Solved", "needs a colleague": "Hand over" }, "Hand over": { "nobody answered": "Nobody there" } }
  },
  // From the page on tools that send a request.
  "Lead capture": {
    nodes: {
      Pitch: starting("Say in one sentence what it does. If they want to hear from sales, use capture_lead_interest.", {
        tool_uuids: [toolUuid(2)]
      }),
      Interested: ending("Say that sales gets in touch."),
      "Not interested": ending("Thank them for their time.")
    },
    edges: { Pitch: { "interest captured": "Interested", "no interest": "Not interested" } }
  },
  // From the page on transfers between agents, within one graph: a router and its specialists.
  Reception: {
    nodes: {
      House: ["globalNode", { prompt: "Exactly one of your tools fires in a turn." }],
      Reception: starting("Find out whether it is about an invoice, a delivery or something else."),
      Billing: asking("Do not ask again what they have said.", globally),
      Delivery: asking("Do not ask again what they have said.", globally),
      Done: ending("Say goodbye."),
      Message: ending("Say that the message is passed on.", extracting(["message", "string", "What is to be passed on."]))
    },
    edges: {
      Reception: {
        "an invoice": ["Billing", "One moment please."],
        "a delivery": ["Delivery", "One moment please."],
        "something else": "Message"
      },
      Billing: { "a delivery after all": "Delivery", answered: "Done" },
      Delivery: { "an invoice after all": "Billing", answered: "Done", "cannot be answered": "Message" }
    }
  },
  // A graph with cycles, two edges between the same nodes, and nodes that no conversation passes through.
  Support: {
    nodes: {
      Welcome: starting("Ask what it is about."),
      Billing: asking("Help with the bill."),
      Fault: asking("Help with the fault."),
      Done: ending("Say goodbye."),
      Report: ["webhook", { endpoint_url: "https://a.example" }],
      Quality: ["qa", {}]
    },
    edges: {
      Welcome: { Bill: "Billing", Payment: "Billing", "Something is broken!": "Fault" },
      Billing: { Fault: "Fault", "Another bill": "Billing", Solved: "Done" },
      Fault: { Bill: "Billing", Solved: "Done" }
    }
  }
}

export const exampleWorkflows = (): Promise<ReadonlyArray<readonly [name: string, definition: JsonObject]>> =>
  Promise.all(Object.entries(examples).map(async ([name, example]) => [name, await build(name, example)] as const))
