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
type Edge = readonly [from: string, to: string, label: string, condition: string, speech?: string]

/** Nodes by a short name, and edges in the order in which the model is offered them. */
const build = async (name: string, nodes: Readonly<Record<string, Node>>, edges: ReadonlyArray<Edge>): Promise<JsonObject> => {
  const workflow = new Workflow({ client, name })
  const refs = new Map<string, Awaited<ReturnType<typeof workflow.add>>>()
  for (const [key, [type, data]] of Object.entries(nodes)) refs.set(key, await workflow.add({ type, name: key, ...data }))
  for (const [from, to, label, condition, speech] of edges) {
    const [source, target] = [refs.get(from), refs.get(to)]
    if (source === undefined || target === undefined) throw new Error(`${name}: an edge from ${from} to ${to}, of which one is missing`)
    workflow.edge(source, target, {
      label,
      condition,
      ...(speech === undefined ? {} : { transitionSpeech: speech, transitionSpeechType: "text" as const })
    })
  }
  return { ...workflow.toJson() }
}

const asking = (prompt: string, more: JsonObject = {}): Node => ["agentNode", { prompt, ...more }]
const ending = (prompt: string, more: JsonObject = {}): Node => ["endCall", { prompt, ...more }]
const starting = (prompt: string, more: JsonObject = {}): Node => ["startCall", { prompt, ...more }]

/** From the readme of the SDK, and its page on building an agent. */
const loan = () =>
  build(
    "Loan qualification",
    {
      greeting: starting("You are Sarah of Acme Loans. Greet the callee warmly.", {
        greeting_type: "text",
        greeting: "Hi {{first_name}}, this is Sarah."
      }),
      qualify: asking("Ask for the amount, the purpose and the monthly income."),
      done: ending("Thank them and end the call politely.")
    },
    [
      ["greeting", "qualify", "interested", "The callee wants to go on."],
      ["qualify", "done", "done", "All questions are answered."]
    ]
  )

/** From the SDK's example that publishes an agent and starts a campaign with it. */
const helpLine = () =>
  build(
    "Published agent",
    {
      greeting: starting("# Goal\nGreet the callee and ask whether to go on.\n\nKeep every reply to one or two sentences."),
      qualify: asking("Ask what they need help with, and repeat it before the call ends."),
      done: ending("Thank the callee and say goodbye.")
    },
    [
      ["greeting", "qualify", "interested", "The callee wants to go on."],
      ["qualify", "done", "done", "What was asked for has been repeated and confirmed."]
    ]
  )

/** From the SDK's example that builds a workflow. */
const threeQuestions = () =>
  build(
    "Lead qualification by the SDK",
    {
      greeting: starting("# Goal\nTranscripts may be wrong.\n\n## Flow\nGreet the callee and ask whether to go on."),
      qualify: asking("# Rules\n- At most three sentences\n- Confirm need, budget and time before you move on"),
      done: ending("Say that the team follows up.")
    },
    [
      ["greeting", "qualify", "interested", "The callee confirms."],
      ["qualify", "done", "qualified", "All questions are answered."]
    ]
  )

/** The template that the product ships. */
const leads = () =>
  build(
    "Lead qualification template",
    {
      Greeting: starting("You are Sarah. Ask what they want to build.", {
        add_global_prompt: true,
        ...extracting(["use_case", "string", "What they want to build."])
      }),
      "Qualify lead": asking("Ask for the company, its industry, its size and its minutes a month.", {
        add_global_prompt: true,
        ...extracting(
          ["company_name", "string", "The company."],
          ["industry", "string", "Its industry."],
          ["company_size", "number", "How many work there."],
          ["monthly_minutes", "number", "Minutes of calls a month."]
        )
      }),
      "Qualified handoff": ending("Confirm the address for mail, and say that a specialist gets in touch."),
      "Polite close": ending("Thank them, and name the documentation.")
    },
    [
      ["Greeting", "Qualify lead", "has a use case", "The callee has said what it is about."],
      ["Qualify lead", "Qualified handoff", "qualified", "At least 20 people, and minutes or budget worth the talk."],
      ["Qualify lead", "Polite close", "not a fit", "Fewer than 20 people, or no budget."]
    ]
  )

/** The running example of the pages on nodes. */
const debt = () =>
  build(
    "Debt collection",
    {
      Rules: ["globalNode", { prompt: "You are Alex of Apex Recovery Solutions. Never threaten." }],
      Trigger: ["trigger", {}],
      Opening: starting("Confirm that you speak with {{initial_context.debtor_name}}.", {
        greeting_type: "text",
        greeting: "Hi {{initial_context.debtor_name}}, this is Alex from Apex Recovery Solutions.",
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
    [
      ["Opening", "Debt disclosure", "caller confirmed", "The right person, ready to go on."],
      ["Opening", "Wrong number", "wrong number", "A wrong number, or they do not want to say who they are."],
      ["Debt disclosure", "Payment offer", "listens", "They ask how to pay, or do not object."],
      ["Debt disclosure", "Objections", "objects", "They dispute the debt or ask for proof."],
      ["Objections", "Payment offer", "settled", "The objection is answered.", "Thank you for telling me."],
      ["Objections", "No commitment", "still disputed", "They still dispute it."],
      ["Payment offer", "Committed", "commits", "They name an amount and how they pay it."],
      ["Payment offer", "Objections", "objects", "They object after all."],
      ["Payment offer", "No commitment", "refuses", "They do not commit to anything."]
    ]
  )

/** What the page on the first agent asks its generator to build. */
const haircut = () =>
  build(
    "Haircut",
    {
      Welcome: starting("Ask whether they want to book a haircut.", { greeting_type: "text", greeting: "Hello, the barber's shop here." }),
      "Find a time": asking("Ask for a date and a time.", {
        allow_interrupt: true,
        ...extracting(["preferred_date", "string", "The date."], ["preferred_time", "string", "The time."])
      }),
      Confirm: asking("Repeat {{gathered_context.preferred_date}} at {{gathered_context.preferred_time}}, and ask whether that is right."),
      Booked: ending("Say that it is booked."),
      "Not today": ending("Say goodbye.")
    },
    [
      ["Welcome", "Find a time", "wants a haircut", "They want to book."],
      ["Welcome", "Not today", "no", "They do not want to book."],
      ["Find a time", "Confirm", "has date and time", "Both are known."],
      ["Find a time", "Not today", "gives up", "No time suits them."],
      ["Confirm", "Booked", "right", "They confirm."],
      ["Confirm", "Find a time", "wrong", "They want another date or time."]
    ]
  )

/** From the page on context and variables. */
const renewal = () =>
  build(
    "Plan renewal",
    {
      Renewal: starting("You call {{customer_name}} about the {{plan}} plan, which renews on {{renewal_date}}. Ask whether they stay.", {
        ...extracting(["renewal_confirmed", "boolean", "They want to go on."])
      }),
      Renewed: ending("Thank {{customer_name}}."),
      Leaving: asking("Ask why they leave.", extracting(["reason", "string", "Why they leave."])),
      Left: ending("Say that the plan ends on {{renewal_date}}.")
    },
    [
      ["Renewal", "Renewed", "stays", "They want to go on."],
      ["Renewal", "Leaving", "leaves", "They do not want to go on."],
      ["Leaving", "Renewed", "stays after all", "They changed their mind."],
      ["Leaving", "Left", "has left", "They have said why, or do not want to."]
    ]
  )

/** The payload from the page on webhooks. */
const invitation = () =>
  build(
    "Invitation",
    {
      Invite: starting("Invite {{initial_context.first_name}} to the opening, and ask whether they come.", {
        ...extracting(["rsvp", "string", "yes, no or maybe."])
      }),
      Coming: ending("Say that you look forward to it."),
      "Not coming": ending("Say that it is a pity."),
      "First report": ["webhook", { endpoint_url: "https://crm.example/a", payload_template: { rsvp: "{{gathered_context.rsvp}}" } }],
      "Second report": ["webhook", { endpoint_url: "https://crm.example/b", http_method: "PUT" }],
      Quality: ["qa", {}]
    },
    [
      ["Invite", "Coming", "comes", "They come, or may come."],
      ["Invite", "Not coming", "does not come", "They do not come."]
    ]
  )

/** From the page on data that is fetched before the call: nested variables, and a path that depends on fetched data. */
const knownCustomer = () =>
  build(
    "Known customer",
    {
      Welcome: starting("A {{loyalty_tier}} customer from {{customer.address.city}} with {{open_tickets}} open tickets.", {
        greeting_type: "text",
        greeting: "Hello {{customer_name}}, thank you for your time!",
        pre_call_fetch_mode: "always",
        pre_call_fetch_url: "https://crm.example/pre-call"
      }),
      Tickets: asking("Go through the open tickets one by one."),
      Closed: ending("Say that all tickets are settled."),
      "Other matter": ending("Say that somebody gets in touch.")
    },
    [
      ["Welcome", "Tickets", "about a ticket", "They call about a ticket."],
      ["Welcome", "Other matter", "something else", "It is about something else."],
      ["Tickets", "Tickets", "next ticket", "A ticket is settled, and another one is open.", "On to the next one."],
      ["Tickets", "Closed", "all settled", "No ticket is open."]
    ]
  )

/** From the page on transfers: the agent finds out what the bill is about, and transfers the callee. */
const enterpriseBilling = () =>
  build(
    "Enterprise billing",
    {
      Welcome: starting(
        "Ask what is wrong with the bill.",
        extracting(["billing_issue_type", "string", "invoice_dispute, refund_request, ..."])
      ),
      "Hand over": asking("Say that a colleague takes over, and use the transfer.", { tool_uuids: [toolUuid(1)] }),
      Solved: ending("Say goodbye."),
      "Nobody there": ending("Say that a colleague calls back.")
    },
    [
      ["Welcome", "Solved", "solved", "The question is answered."],
      ["Welcome", "Hand over", "needs a colleague", "It takes somebody from billing."],
      ["Hand over", "Nobody there", "nobody answered", "The transfer failed."]
    ]
  )

/** From the page on tools that send a request. */
const leadCapture = () =>
  build(
    "Lead capture",
    {
      Pitch: starting("Say in one sentence what it does. If they want to hear from sales, use capture_lead_interest.", {
        tool_uuids: [toolUuid(2)]
      }),
      Interested: ending("Say that sales gets in touch."),
      "Not interested": ending("Thank them for their time.")
    },
    [
      ["Pitch", "Interested", "interest captured", "The interest has been captured."],
      ["Pitch", "Not interested", "no interest", "They are not interested."]
    ]
  )

/** From the page on transfers between agents, within one graph: a router and its specialists. */
const reception = () =>
  build(
    "Reception",
    {
      House: ["globalNode", { prompt: "Exactly one of your tools fires in a turn." }],
      Reception: starting("Find out whether it is about an invoice, a delivery or something else."),
      Billing: asking("Do not ask again what they have said.", { add_global_prompt: true }),
      Delivery: asking("Do not ask again what they have said.", { add_global_prompt: true }),
      Done: ending("Say goodbye."),
      Message: ending("Say that the message is passed on.", extracting(["message", "string", "What is to be passed on."]))
    },
    [
      [
        "Reception",
        "Billing",
        "an invoice",
        "An invoice, a charge or a refund.",
        "Let me connect you with the right person. One moment please."
      ],
      ["Reception", "Delivery", "a delivery", "Where something is.", "Let me connect you with the right person. One moment please."],
      ["Reception", "Message", "something else", "Neither."],
      ["Billing", "Delivery", "a delivery after all", "It is about a delivery after all."],
      ["Billing", "Done", "answered", "It is answered."],
      ["Delivery", "Billing", "an invoice after all", "It is about an invoice after all."],
      ["Delivery", "Done", "answered", "It is answered."],
      ["Delivery", "Message", "cannot be answered", "Nobody knows."]
    ]
  )

/** An edge that leads back: a date that does not suit the callee leads to another one. */
const reminder = () =>
  build(
    "Reminder",
    {
      Persona: ["globalNode", { prompt: "You are Ada of {{company}}." }],
      Remind: starting("Ask whether {{date}} suits.", { greeting: "Hello {{first_name}}." }),
      "Other date": asking("Find another date.", extracting(["new_date", "string", "The date."])),
      Confirmed: ending("Say goodbye."),
      Cancelled: ending("Say that it is cancelled.")
    },
    [
      ["Remind", "Confirmed", "Suits", "It suits."],
      ["Remind", "Other date", "Another date", "It does not suit.", "Let me see."],
      ["Remind", "Cancelled", "Cancel", "The callee cancels."],
      ["Other date", "Confirmed", "Agreed", "A date was agreed on."],
      ["Other date", "Cancelled", "Cancel", "The callee cancels."]
    ]
  )

/** A graph with cycles, two edges between the same nodes, and nodes that no conversation passes through. */
const support = () =>
  build(
    "Support",
    {
      Welcome: starting("Ask what it is about."),
      Billing: asking("Help with the bill."),
      Fault: asking("Help with the fault."),
      Done: ending("Say goodbye."),
      Report: ["webhook", { endpoint_url: "https://a.example" }],
      Quality: ["qa", {}]
    },
    [
      ["Welcome", "Billing", "Bill", "About a bill."],
      ["Welcome", "Billing", "Payment", "About a payment."],
      ["Welcome", "Fault", "Something is broken!", "About a fault."],
      ["Billing", "Fault", "Fault", "It is a fault after all."],
      ["Fault", "Billing", "Bill", "It is about the bill after all."],
      ["Billing", "Billing", "Another bill", "There is another bill."],
      ["Billing", "Done", "Solved", "It is solved."],
      ["Fault", "Done", "Solved", "It is solved."]
    ]
  )

export const exampleWorkflows: Readonly<Record<string, () => Promise<JsonObject>>> = {
  "Loan qualification": loan,
  "Published agent": helpLine,
  "Lead qualification by the SDK": threeQuestions,
  "Lead qualification template": leads,
  "Debt collection": debt,
  Haircut: haircut,
  "Plan renewal": renewal,
  Invitation: invitation,
  "Known customer": knownCustomer,
  "Enterprise billing": enterpriseBilling,
  "Lead capture": leadCapture,
  Reception: reception,
  Reminder: reminder,
  Support: support
}
