/** Whole conversations with servers that speak the chat-completions protocol in their own way: they go as with the vendor's. */
import { Duration, Effect } from "effect"
import t, { type Test } from "tap"
import { openaiWith } from "#adapters/voice/openai/openai.ts"
import { ServerHabits } from "#adapters/voice/openai/ServerHabits.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import type { JsonObject } from "#core/Json.ts"
import type { Verdict } from "#core/agent/regression/Verdict.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { ConversationMetrics, CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import type { Completion } from "#test/emulators/openai/completions.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import type { ChatBody } from "#test/emulators/openai/refusals.ts"
import { type ModelServer, modelServers } from "#test/emulators/openai/servers.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { planOf, storedTool, toolUuid } from "#test/support/talk.ts"
import { definition } from "#test/support/talkScript.ts"

const patience = { firstToken: 120_000, betweenTokens: 120_000, total: 240_000 }
const tools = [
  storedTool(1, "Sums", { type: "calculator" }),
  storedTool(2, "Finish", { type: "end_call", config: { endCallReason: true, messageType: "custom", customMessage: "Bye then." } })
]
const extracting = { extraction_enabled: true, extraction_variables: [{ name: "count", type: "number" }] }
const middle = { tool_uuids: [toolUuid(1), toolUuid(2)], ...extracting }
const greeting = definition({ greeting: "Hello." }, middle)
const speaksFirst = definition({}, middle)

/** Calls the tool that the callee names, with what they name behind it, and otherwise says something that depends on what it was asked. */
const obeys = ({ messages = [], tools: offered = [] }: ChatBody): Completion => {
  const described = String(messages[0]?.content).matchAll(/^\{"name":"(\w+)"/gm)
  const names = [...offered.map((tool) => String(tool.function?.name)), ...[...described].map(([, name = ""]) => name)]
  if (names.includes("save_variables")) return { calls: [{ name: "save_variables", arguments: ['{"count":7}'] }] }
  const last = messages.findLast(({ role }) => role === "user" || role === "tool")
  const line = String(last?.content).split("\n").at(-1) ?? ""
  const result = /"result":"?(\d+)/.exec(line)?.[1]
  if (result !== undefined) return { text: ["It is ", result, "."] }
  const [word = "", given = "{}"] = line.split(/ (.*)/)
  if (last?.role === "user" && names.includes(word)) return { text: ["Let me see. "], calls: [{ name: word, arguments: [given] }] }
  return { text: names.length > 0 ? ["What", " else?"] : ["Goodbye", "."] }
}

interface Story {
  readonly callee: ReadonlyArray<string | number>
  readonly agent?: JsonObject
}
/** What the callee says, and for how many seconds they are silent. */
const stories: Readonly<Record<string, Story>> = {
  "the callee answers": { callee: ["yes", 'safe_calculator {"expression":"2+2"}', "done"] },
  "the callee opts out": { callee: ["yes", "opt_out"] },
  "the agent ends the call": { callee: ["yes", 'finish {"reason":"sold"}'] },
  "the callee is hard to understand": { callee: ["hm", "well", "yes", "hm", "done"] },
  "the agent speaks first": { callee: ["yes", "opt_out"], agent: speaksFirst },
  "the callee is silent": { callee: ["yes", 1000] }
}

const firstStory = "the callee answers"
/** Nobody can know it before the tag comes, and the callee does not wait for the end of each answer. */
const spoilsFirstAnswer = "thinks without a beginning"

const scriptOf = ({ callee: acts }: Story) => {
  const callee = acts.map((act) => (typeof act === "number" ? { silence: act } : { says: act }))
  const read = readScripts({ scripts: [{ name: "one", callee, context: {}, expect: { visits: ["start"] } }] })
  const [script] = "problems" in read ? [] : read.scripts
  if (script === undefined) throw new Error(JSON.stringify(read))
  return script
}

const summaryOf = ({ disposition, tags, transcript, variables }: Verdict) => ({
  disposition,
  tags,
  variables,
  lines: transcript.map(({ node, text, who }) => `${node} ${who}: ${text.trim()}`)
})

/** The conversations of all stories with this server, one after another. */
const talksWith = async (t: Test, server: ModelServer) => {
  const emulator = await OpenAiEmulator.start({ answer: obeys, server })
  t.teardown(() => emulator.stop())
  const metrics = new ConversationMetrics()
  const provider = openaiWith(patience, new ServerHabits())
  const modelWith = (config: JsonObject) =>
    provider.open({ base_url: emulator.url, model: "emulated", ...config }, { egress: webhooksOf({ privateWebhooks: true }) })
  const talk = (story: Story, model = modelWith({})) => {
    const plan = planOf(story.agent ?? greeting, {}, tools)
    const rehearsed = rehearse({ plan, model, script: scriptOf(story), limit: Duration.seconds(120) })
    return runLive(Effect.map(Effect.provideService(rehearsed, CurrentConversationMetrics, metrics), summaryOf))
  }
  // What the server needs is found out in the first conversation.
  const first = await talk(stories[firstStory] ?? { callee: [] })
  const before = emulator.requests.length
  const talks = await Promise.all(Object.entries(stories).map(async ([name, story]) => [name, await talk(story)] as const))
  const requests = emulator.requests.length - before
  const whole = await talk(stories[firstStory] ?? { callee: [] }, modelWith({ whole_with_tools: true }))
  return { first, whole, talks: Object.fromEntries(talks), metrics, requests }
}

const usual = await talksWith(t, {})

t.test("given the vendor's server, then the stories are what they should be", async (t) => {
  t.match(usual.talks["the callee answers"], { disposition: "user_qualified", variables: { count: 7 } })
  t.ok(usual.talks["the callee answers"]?.lines.includes("ask agent: It is 4."), "the calculator is used")
  t.match(usual.talks["the callee opts out"], { disposition: "user_disqualified", variables: { count: 7 } })
  t.ok(usual.talks["the callee opts out"]?.lines.some((line) => line.endsWith("event: the callee must not be called again")))
  t.match(usual.talks["the agent ends the call"], { disposition: "sold", variables: { count: 7 } })
})

t.test("given a server that", async (t) => {
  for (const [what, server] of Object.entries(modelServers)) {
    const { first, metrics, requests, talks, whole } = await talksWith(t, server)
    if (what !== spoilsFirstAnswer) t.strictSame(first, usual.first, `${what}: the first conversation goes as usual`)
    for (const name of Object.keys(stories)) t.strictSame(talks[name], usual.talks[name], `${what}, when ${name}, then it goes as usual`)
    t.strictSame(whole, usual.first, `${what}: it goes as usual without a stream`)
    t.equal(requests, usual.requests, `${what}: no request is made twice once it is known`)
    t.match(metrics, { extractionsFailed: 0, withheldCalls: 0 }, `${what}: everything is understood`)
  }
})
