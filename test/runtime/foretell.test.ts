/**
 * Predicts on copies of the conversation what the agent may say next: it must be what the agent then says, and the search must leave no
 * traces.
 */
import { Effect, Stream } from "effect"
import t from "tap"
import type { ConversationState } from "#core/agent/conversation/ConversationState.ts"
import type { LanguageModel } from "#core/model/LanguageModel.ts"
import { foretell } from "#runtime/conversation/foretell.ts"
import { call, finished, planOf, type ScriptedModel, started, talkStart, text } from "#test/support/talk.ts"
import { definition, edge, follower, node } from "#test/support/talkScript.ts"

const modelOf = (script: ScriptedModel): LanguageModel => ({
  provider: "scripted",
  model: "one",
  isFree: true,
  answer: (request) => {
    const reply = script(request)
    return typeof reply === "string" ? Stream.die(new Error(reply)) : Stream.fromIterable([...reply, finished])
  }
})

/** A conversation whose first line is being heard. */
const opened = (graph = definition({ greeting: "Hello." }), script: ScriptedModel = follower) => {
  const plan = planOf(graph)
  const talk = started(plan, { model: script, holdsLines: true })
  const foretold = (said?: string, state: ConversationState = talk.state()) =>
    Effect.runSync(foretell({ plan, state, now: talkStart }, modelOf(script), said))
  return { talk, foretold }
}

t.test("given a line that is being heard, then the lines that may follow are those of the nodes that the callee can choose", async (t) => {
  const { foretold, talk } = opened()
  const before = structuredClone(talk.state())
  t.strictSame(foretold(), ["At ask.", "At sorry."])
  t.strictSame(talk.state(), before, "and nothing has happened")
})

t.test("given what the callee seems to have said, then the line is the one that they hear once it is certain", async (t) => {
  for (const said of ["yes", "no", "what was that"]) {
    const { talk } = opened()
    talk.says(said)
    const [answer] = talk.lines().slice(1)
    t.strictSame(opened().foretold(said), [answer], said)
  }
})

t.test("given a transition that is spoken, then it comes first", async (t) => {
  const { foretold } = opened(definition({ greeting: "Hello." }, {}, { transition_speech: "One moment." }))
  t.strictSame(foretold(), ["One moment.", "At sorry."])
})

t.test("given a node that does not wait for an answer, then the next node's line follows", async (t) => {
  const graph = {
    nodes: [node("start", "startCall"), node("ask", "agentNode"), node("bye", "endCall")],
    edges: [edge("start", "ask", "On"), edge("ask", "bye", "Done")]
  }
  const { foretold } = opened(graph, (request) =>
    request.node.id === "start" ? [text("Welcome."), call("on")] : [text(`At ${request.node.id}.`)]
  )
  t.strictSame(foretold(), ["At ask."])
})

t.test("given many possible paths, or a cycle without words, then the search ends", async (t) => {
  const greeting = node("start", "startCall", { greeting: "Hello." })
  const names = Array.from({ length: 10 }, (_, index) => `way${index}`)
  const ways = names.map((name) => node(name, "agentNode"))
  const many = { nodes: [greeting, ...ways], edges: names.map((name) => edge("start", name, name)) }
  t.strictSame(opened(many).foretold(), ["At way0.", "At way1.", "At way2."])
  const edges = [edge("start", "way0", "On"), edge("way0", "way1", "On"), edge("way1", "way0", "On")]
  const circle = opened({ nodes: [greeting, ...ways.slice(0, 2)], edges }, () => [call("on")])
  t.strictSame(circle.foretold(), [])
})

t.test("given a goodbye, an answer that is still being made, or a model with a fault, then nothing is predicted", async (t) => {
  const { foretold, talk } = opened()
  talk.says("no")
  t.strictSame(foretold(), [], "a goodbye")
  t.strictSame(opened(definition({ greeting: "Hello." }), () => "fails").foretold("yes"), [], "a fault")
  const waiting = opened(definition({ greeting: "Hello." }), () => "hangs")
  waiting.talk.says("yes")
  t.strictSame(waiting.foretold(), [], "an answer that is being made")
})
