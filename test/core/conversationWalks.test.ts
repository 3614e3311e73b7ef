/** Whole workflows: scripted callees walk every edge of the engine's templates, and of workflows that the existing product's SDK builds. */
import { Duration, Effect } from "effect"
import t from "tap"
import { problemsOf } from "#core/agent/GraphRules.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import type { ConversationEdge, ConversationGraph } from "#core/agent/conversation/ConversationGraph.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { exampleWorkflows } from "#test/support/exampleWorkflows.ts"
import { run } from "#test/support/run.ts"
import { call, planOf, type ScriptedModel, started, storedTool } from "#test/support/talk.ts"
import { follower, played } from "#test/support/talkScript.ts"

/** The shortest path from the start that ends with this edge. */
const wayOver = ({ nodes, start }: ConversationGraph, last: ConversationEdge, from: string): ReadonlyArray<ConversationEdge> => {
  const ways = new Map<string, ReadonlyArray<ConversationEdge>>([[start.id, []]])
  for (const [id, way] of ways)
    for (const edge of nodes.get(id)?.edges ?? []) if (!ways.has(edge.target)) ways.set(edge.target, [...way, edge])
  return [...(ways.get(from) ?? []), last]
}

const saved = (name: string) => `${name} as said`
const learned = (name: string, type: string) => (type === "number" ? 3 : type === "boolean" ? true : saved(name))
/** Extracts every requested variable. */
const model: ScriptedModel = (request) => {
  if (request.purpose !== "extract") return follower(request)
  return [call("save_variables", Object.fromEntries(request.node.variables.map(({ name, type }) => [name, learned(name, type)])))]
}

const tools = [
  storedTool(1, "Transfer to billing", { type: "transfer_call", config: { destination: "+15550009999", timeout: 20 } }),
  storedTool(2, "capture_lead_interest", {
    type: "http_api",
    config: {
      method: "POST",
      url: "https://crm.example/leads",
      parameters: [{ name: "interest", type: "string", description: "true or false" }]
    }
  })
]
const context = {
  first_name: "Ada",
  company: "Acme",
  date: "Monday",
  debtor_name: "Ada",
  customer_name: "Ada",
  customer: { address: { city: "Bonn" } }
}
const limit = Duration.seconds(60)

/** A callee for each edge, who takes the shortest path that ends with it. */
const scriptsFor = (graph: ConversationGraph) =>
  [...graph.nodes.values()].flatMap((from) =>
    from.edges.map((edge) => {
      const way = wayOver(graph, edge, from.id)
      const passed = [graph.start, ...way.flatMap(({ target }) => graph.nodes.get(target) ?? [])]
      const left = passed.flatMap((node) => node.extraction?.variables ?? [])
      return {
        name: `${from.id} ${edge.id} ${way.map(({ label }) => label).join(", ")}`,
        callee: way.map(({ tool }) => ({ says: tool })),
        expect: {
          path: passed.map(({ id }) => id),
          edges: way.map(({ id }) => id),
          variables: Object.fromEntries(left.map(({ name, type }) => [name, learned(name, type)])),
          disposition: edge.leadsTo === "endCall" ? "user_qualified" : "user_hangup"
        }
      }
    })
  )

t.test("given a workflow, when callees take every edge, then each reaches its target, and hears what is said on the way", async (t) => {
  const built = [...agentTemplates.map(({ definition, name }) => [name, definition] as const), ...(await exampleWorkflows())]
  for (const [name, definition] of built) {
    t.strictSame(problemsOf(definition), [], name)
    const plan = planOf(definition, {}, tools)
    const scripts = scriptsFor(plan.graph)
    t.equal(scripts.length, Array.isArray(definition["edges"]) ? definition["edges"].length : 0, `${name}: all edges are there`)
    const read = readScripts({ scripts }, context)
    if ("problems" in read) throw new Error(JSON.stringify(read.problems))
    const verdicts = await run(Effect.forEach(read.scripts, (script) => rehearse({ plan, model: played(model), script, limit })))
    for (const verdict of verdicts) t.strictSame(verdict.failures, [], `${name}: ${verdict.name}`)
  }
})

t.test("given an example with a tool, when the model uses it, then the conversation does what the tool promises", async (t) => {
  const workflows = Object.fromEntries(await exampleWorkflows())
  const definitionOf = (name: string) => workflows[name] ?? {}
  const using =
    (tool: string): ScriptedModel =>
    (request) =>
      request.messages.at(-1)?._tag === "User" && request.tools.some(({ name }) => name === tool)
        ? [call(tool, { interest: "true" })]
        : model(request)

  const billing = started(planOf(definitionOf("Enterprise billing"), {}, tools), { model: using("transfer_to_billing"), context })
  billing.says("needs_a_colleague")
  billing.says("please")
  t.match(
    billing.actions.find(({ _tag }) => _tag === "Transfer"),
    { destination: "+15550009999", timeoutSeconds: 20 }
  )

  const requests: Array<unknown> = []
  const lead = started(planOf(definitionOf("Lead capture"), {}, tools), {
    model: using("capture_lead_interest"),
    context,
    tool: (request) => {
      requests.push(request)
      return { _tag: "Response", status: 200, body: "{}" }
    }
  })
  lead.says("I want to hear more")
  t.match(requests, [{ method: "POST", url: "https://crm.example/leads" }])
})
