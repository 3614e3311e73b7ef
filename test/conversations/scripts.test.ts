/** The callees without audio: each reaches the right node, in a conversation that is as long and varied as it must be. */
import { Duration, Effect } from "effect"
import t from "tap"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { calleesOf, isUnforeseen } from "./callees.ts"
import { orderAgent } from "./graph.ts"

const limit = Duration.seconds(600)

t.test("given callees of every kind, when they are rehearsed, then each reaches the right node", async (t) => {
  const graph = compile(orderAgent)
  if (graph === undefined) throw new Error("the agent has no start")
  const plan = { graph, tools: new Map(), settings: settingsOf({}), canHear: true }
  const model = embedded.open({}, { egress: webhooksOf() })
  const verdicts = await runLive(
    Effect.forEach(calleesOf(100, 1), (script) => rehearse({ plan, model, script, limit }), { concurrency: 8 })
  )
  const branching = new Set([...graph.nodes.values()].filter(({ edges }) => edges.length > 1).map(({ name }) => name))
  for (const { failures, name, path, transcript } of verdicts) {
    const turns = transcript.filter(({ who }) => who === "callee").map(({ text }) => text)
    t.strictSame(failures, [], `${name}: ${JSON.stringify(transcript)}`)
    t.ok(turns.length >= 6, `${name} has ${turns.length} turns`)
    t.ok(turns.filter(isUnforeseen).length / turns.length >= 0.2, `${name}: one sentence in five is unforeseen`)
    t.ok(path.filter((node) => branching.has(node)).length >= 3, `${name} passes three branches`)
  }
})
