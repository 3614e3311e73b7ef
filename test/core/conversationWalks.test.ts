/** Whole workflows: scripted callees walk every edge of the engine's templates, and of workflows that the existing product's SDK builds. */
import { Workflow } from "@dograh/sdk"
import t from "tap"
import { problemsOf } from "#core/agent/GraphRules.ts"
import { nodeTypeOf } from "#core/agent/NodeTypes.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import type { ConversationEdge, ConversationGraph } from "#core/agent/conversation/ConversationGraph.ts"
import { nodeSpec } from "#gateway/wire/NodeType.ts"
import type { JsonObject } from "#core/Json.ts"
import { call, planOf, type ScriptedModel, started } from "#test/support/talk.ts"
import { follower } from "#test/support/talkScript.ts"

/** Node types as the API serves them, without a server. */
const client = {
  getNodeType: async (name: string) => {
    const type = nodeTypeOf(name)
    if (type === undefined) throw new Error(`unknown node type ${name}`)
    // The SDK reads the wire's JSON, in which absent members are left out.
    return JSON.parse(JSON.stringify(nodeSpec(type)))
  }
}

const reminder = async () => {
  const workflow = new Workflow({ client, name: "Reminder" })
  await workflow.add({ type: "globalNode", name: "Persona", prompt: "You are Ada of {{company}}." })
  const start = await workflow.add({
    type: "startCall",
    name: "Remind",
    prompt: "Ask whether {{date}} suits.",
    greeting: "Hello {{first_name}}."
  })
  const other = await workflow.add({
    type: "agentNode",
    name: "Other date",
    prompt: "Find another date.",
    extraction_enabled: true,
    extraction_variables: [{ name: "new_date", type: "string", prompt: "The date." }]
  })
  const bye = await workflow.add({ type: "endCall", name: "Confirmed", prompt: "Say goodbye." })
  const gone = await workflow.add({ type: "endCall", name: "Cancelled", prompt: "Say that it is cancelled." })
  workflow.edge(start, bye, { label: "Suits", condition: "It suits." })
  workflow.edge(start, other, {
    label: "Another date",
    condition: "It does not suit.",
    transitionSpeech: "Let me see.",
    transitionSpeechType: "text"
  })
  workflow.edge(start, gone, { label: "Cancel", condition: "The callee cancels." })
  workflow.edge(other, bye, { label: "Agreed", condition: "A date was agreed on." })
  workflow.edge(other, gone, { label: "Cancel", condition: "The callee cancels." })
  return workflow.toJson()
}

/** With circles, two edges between the same nodes, and nodes that no conversation passes through. */
const support = async () => {
  const workflow = new Workflow({ client, name: "Support" })
  const start = await workflow.add({ type: "startCall", name: "Welcome", prompt: "Ask what it is about." })
  const bill = await workflow.add({ type: "agentNode", name: "Billing", prompt: "Help with the bill." })
  const fault = await workflow.add({ type: "agentNode", name: "Fault", prompt: "Help with the fault." })
  const end = await workflow.add({ type: "endCall", name: "Done", prompt: "Say goodbye." })
  await workflow.add({ type: "webhook", name: "Report", endpoint_url: "https://a.example" })
  await workflow.add({ type: "qa", name: "Quality" })
  workflow.edge(start, bill, { label: "Bill", condition: "About a bill." })
  workflow.edge(start, bill, { label: "Payment", condition: "About a payment." })
  workflow.edge(start, fault, { label: "Something is broken!", condition: "About a fault." })
  workflow.edge(bill, fault, { label: "Fault", condition: "It is a fault after all." })
  workflow.edge(fault, bill, { label: "Bill", condition: "It is about the bill after all." })
  workflow.edge(bill, bill, { label: "Another bill", condition: "There is another bill." })
  workflow.edge(bill, end, { label: "Solved", condition: "It is solved." })
  workflow.edge(fault, end, { label: "Solved", condition: "It is solved." })
  return workflow.toJson()
}

/** The shortest way from the start over this edge. */
const wayOver = ({ nodes, start }: ConversationGraph, last: ConversationEdge, from: string): ReadonlyArray<ConversationEdge> => {
  const ways = new Map<string, ReadonlyArray<ConversationEdge>>([[start.id, []]])
  for (const [id, way] of ways)
    for (const edge of nodes.get(id)?.edges ?? []) if (!ways.has(edge.target)) ways.set(edge.target, [...way, edge])
  return [...(ways.get(from) ?? []), last]
}

const saved = (name: string) => `${name} as said`
const learned = (name: string, type: string) => (type === "number" ? 3 : type === "boolean" ? true : saved(name))
/** Extracts every variable that is asked for. */
const model: ScriptedModel = (request) => {
  if (request.purpose !== "extract") return follower(request)
  return [call("save_variables", Object.fromEntries(request.node.variables.map(({ name, type }) => [name, learned(name, type)])))]
}

t.test("given a workflow, when callees take every edge, then each gets where it leads, with what was said on the way", async (t) => {
  const built: ReadonlyArray<readonly [string, JsonObject]> = [
    ...agentTemplates.map(({ definition, name }) => [name, definition] as const),
    ["Reminder", { ...(await reminder()) }],
    ["Support", { ...(await support()) }]
  ]
  for (const [name, definition] of built) {
    t.strictSame(problemsOf(definition), [], name)
    const plan = planOf(definition)
    const edges = [...plan.graph.nodes.values()].flatMap((node) => node.edges.map((edge) => ({ edge, from: node.id })))
    t.equal(edges.length, Array.isArray(definition["edges"]) ? definition["edges"].length : 0, `${name}: all edges are there`)
    for (const { edge, from } of edges) {
      const way = wayOver(plan.graph, edge, from)
      const talk = started(plan, { model, context: { first_name: "Ada", company: "Acme", date: "Monday" } })
      for (const { tool } of way) talk.says(tool)
      if (edge.leadsTo !== "endCall") talk.send({ _tag: "CalleeHungUp" })
      const passed = [plan.graph.start, ...way.flatMap(({ target }) => plan.graph.nodes.get(target) ?? [])]
      const left = passed.flatMap((node) => node.extraction?.variables ?? []).map(({ name: of, type }) => [of, learned(of, type)])
      t.match(
        talk.conclusion(),
        {
          disposition: edge.leadsTo === "endCall" ? "user_qualified" : "user_hangup",
          gathered: { nodes_visited: [...new Set(passed.map((node) => node.name))], ...Object.fromEntries(left) }
        },
        `${name}: ${way.map(({ label }) => label).join(", ")}`
      )
    }
  }
})
