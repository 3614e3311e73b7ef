/** Whole workflows: scripted callees walk every edge of the engine's templates, and of a graph with cycles. */
import { Duration, Effect } from "effect"
import t from "tap"
import { problemsOf } from "#core/agent/GraphRules.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import type { ConversationEdge, ConversationGraph } from "#core/agent/conversation/ConversationGraph.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { run } from "#test/support/run.ts"
import { call, planOf, type ScriptedModel } from "#test/support/talk.ts"
import { edge, follower, node, played } from "#test/support/talkScript.ts"

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

const context = { first_name: "Ada", company: "Acme", date: "Monday" }
const limit = Duration.seconds(60)

/** A node that leads to itself, two edges between the same nodes, and nodes that no conversation passes through. */
const reception = {
  nodes: [
    node("house", "globalNode", { prompt: "Exactly one of your tools fires in a turn." }),
    node("trigger", "trigger"),
    node("start", "startCall"),
    node("bill", "agentNode", { add_global_prompt: true }),
    node("fault", "agentNode", { add_global_prompt: true }),
    node("done", "endCall", { extraction_enabled: true, extraction_variables: [{ name: "message", type: "string" }] }),
    node("report", "webhook", { endpoint_url: "https://crm.example/calls" })
  ],
  edges: [
    edge("start", "bill", "Bill", { transition_speech: "One moment please.", transition_speech_type: "text" }),
    { ...edge("start", "bill", "Payment"), id: "start-bill-too" },
    edge("start", "fault", "Something is broken!"),
    edge("bill", "fault", "Fault"),
    edge("bill", "bill", "Another bill"),
    edge("bill", "done", "Solved"),
    edge("fault", "bill", "Bill"),
    edge("fault", "done", "Solved")
  ]
}

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
  for (const { definition, name } of [...agentTemplates, { name: "Reception", definition: reception }]) {
    t.strictSame(problemsOf(definition), [], name)
    const plan = planOf(definition)
    const scripts = scriptsFor(plan.graph)
    t.equal(scripts.length, Array.isArray(definition["edges"]) ? definition["edges"].length : 0, `${name}: all edges are there`)
    const read = readScripts({ scripts }, context)
    if ("problems" in read) throw new Error(JSON.stringify(read.problems))
    const verdicts = await run(Effect.forEach(read.scripts, (script) => rehearse({ plan, model: played(model), script, limit })))
    for (const verdict of verdicts) t.strictSame(verdict.failures, [], `${name}: ${verdict.name}`)
  }
})
