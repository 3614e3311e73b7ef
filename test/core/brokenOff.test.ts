/** What a conversation that broke off had still to find out. */
import t from "tap"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import type { ConversationPlan } from "#core/agent/conversation/ConversationState.ts"
import { gatheredWith, openExtractions } from "#core/conversation/brokenOff.ts"
import type { JsonObject } from "#core/Json.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"

const variablesOf = (...names: ReadonlyArray<string>) => ({
  extraction_enabled: true,
  extraction_prompt: "For {{first_name}}.",
  extraction_variables: names.map((name) => ({ name, type: "string", prompt: name }))
})
const graph = compile({
  nodes: [
    { id: "1", type: "startCall", data: { name: "Wish", prompt: "Ask.", ...variablesOf("wish", "amount") } },
    { id: "2", type: "agentNode", data: { name: "Color", prompt: "Ask.", ...variablesOf("color") } },
    { id: "3", type: "agentNode", data: { name: "Never", prompt: "Ask.", ...variablesOf("never") } }
  ],
  edges: []
})
if (graph === undefined) throw new Error("the graph has a start")
const plan: ConversationPlan = { graph, settings: settingsOf({}), timeZone: "UTC", tools: new Map(), canHear: true }
const known = { context: { first_name: "Ada" }, now: 0, plan }

const event = (type: FeedbackEvent["type"], payload: JsonObject): FeedbackEvent => ({ type, payload, timestamp: "", turn: 1 })
const visited = (id: string) => event("rtf-node-transition", { node_id: id })
const said = (text: string) => event("rtf-user-transcription", { text })
const events = [visited("1"), event("rtf-bot-text", { text: "What?" }), said("Two chairs."), visited("2"), said("Red."), visited("1")]

t.test("given a conversation that broke off, then each visited node is asked for what is missing", (t) => {
  const open = openExtractions(known, { events, gathered: { extracted_variables: { wish: "chairs" } } })
  const wanted = open.map(({ request }) => Object.keys(Object(request.tools[0]?.parameters["properties"])))
  t.strictSame(wanted, [["amount"], ["color"]])
  t.match(open[0]?.request, { purpose: "extract", instructions: /For Ada\./ })
  const roles = open[0]?.request.messages.map(({ _tag }) => _tag)
  t.strictSame(roles, ["Assistant", "User", "User"])
  t.strictSame(open[0]?.read({ amount: "2", wish: "sofa" }), { values: { amount: "2" }, refused: [] }, "and for nothing else")
  t.end()
})

t.test("given one in which nothing of the callee is kept, or nothing is missing, then nothing is asked", (t) => {
  t.strictSame(openExtractions(known, { events: [visited("1")], gathered: {} }), [])
  const all = { extracted_variables: { wish: "chairs", amount: "2", color: "red" } }
  t.strictSame(openExtractions(known, { events, gathered: all }), [])
  t.end()
})

t.test("given what was found out late", (t) => {
  const before = {
    extracted_variables: { wish: "chairs" },
    wish: "chairs",
    nodes_visited: ["Wish"],
    call_tags: ["user_speech"],
    digits: "7"
  }
  t.strictSame(gatheredWith(plan, before, { amount: "2", wish: "sofa" }), {
    ...before,
    amount: "2",
    extracted_variables: { amount: "2", wish: "chairs" }
  })
  t.match(
    gatheredWith(plan, before, { call_disposition: "sold" }),
    { call_disposition: "sold", mapped_call_disposition: "sold", call_tags: ["user_speech", "sold"] },
    "then a conclusion counts"
  )
  const optedOut = { ...before, call_disposition: "user_disqualified", call_tags: ["user_disqualified", "opted_out"] }
  t.match(
    gatheredWith(plan, optedOut, { call_disposition: "sold" }),
    { call_disposition: "user_disqualified" },
    "but no more than an opt-out"
  )
  t.end()
})
