/** One graph, walked with the built-in rules and with a model behind each protocol: the path, the variables and the end are the same. */
import { Duration, Effect } from "effect"
import t, { type Test } from "tap"
import { anthropic } from "#adapters/voice/anthropic/anthropic.ts"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import { google } from "#adapters/voice/google/google.ts"
import { openai } from "#adapters/voice/openai/openai.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { rehearse } from "#runtime/conversation/rehearse.ts"
import { ConversationMetrics, CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import { orderAgent } from "#test/conversations/graph.ts"
import { AnthropicEmulator } from "#test/emulators/anthropic/AnthropicEmulator.ts"
import { blocksIn } from "#test/emulators/anthropic/refusals.ts"
import { GoogleEmulator } from "#test/emulators/google/GoogleEmulator.ts"
import { declarationsIn } from "#test/emulators/google/refusals.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { json, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { planOf } from "#test/support/talk.ts"

const apiKey = "sk-same-graph"
const egress = webhooksOf({ privateWebhooks: true })

/** What the callee answers to a question, and what a model makes of it: the edge, and the values that it tells. */
interface Reply {
  readonly hears: string
  readonly says: string
  /** Undefined if only the built-in rules ask this: they read numbers back. */
  readonly edge?: string
  readonly tells?: Readonly<Record<string, unknown>>
}
type Callee = ReadonlyArray<Reply>
const delivered: Callee = [
  { hears: "Am I speaking with", says: "yes speaking", edge: "right_person" },
  { hears: "your customer number", says: "one two three four", edge: "number_told", tells: { customer_number: "1234" } },
  { hears: "I heard 1, 2, 3, 4", says: "yes that is right" },
  { hears: "cancel it", says: "please deliver it", edge: "deliver" },
  { hears: "which day", says: "the third of march", edge: "day_named", tells: { delivery_date: "march 3" } },
  { hears: "empty boxes", says: "three boxes", edge: "boxes_told", tells: { boxes: 3 } },
  { hears: "May we ring", says: "yes please", edge: "yes" }
]
const collected: Callee = [
  { hears: "Am I speaking with", says: "yes speaking", edge: "right_person" },
  { hears: "your customer number", says: "five six seven eight", edge: "number_told", tells: { customer_number: "5678" } },
  { hears: "I heard 5, 6, 7, 8", says: "yes that is right" },
  { hears: "cancel it", says: "I will collect it", edge: "collect" },
  { hears: "what time", says: "at three in the afternoon", edge: "time_named", tells: { collection_time: "3:00 pm" } },
  { hears: "Do you need", says: "no thank you", edge: "no" }
]

/** A request as any of the protocols has it. `words`: undefined if a tool has had the last word. */
interface Asked {
  readonly instructions: string
  readonly words: string | undefined
  readonly heard: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
}
interface Thought {
  readonly text?: ReadonlyArray<string>
  readonly call?: { readonly name: string; readonly given: Readonly<Record<string, unknown>> }
}
const think =
  (callee: Callee) =>
  ({ heard, instructions, tools, words }: Asked): Thought => {
    const told = callee.filter(({ says }) => heard.includes(says)).map(({ tells = {} }) => tells)
    if (tools.includes("save_variables")) return { call: { name: "save_variables", given: Object.assign({}, ...told) } }
    const edge = callee.find(({ says }) => says === words)?.edge
    if (edge !== undefined && tools.includes(edge)) return { call: { name: edge, given: {} } }
    return { text: [/Say: "([^"]*)"/.exec(instructions)?.[1] ?? "Goodbye."] }
  }

type Understood = (asked: Asked) => Thought
const overOpenAi = async (t: Test, understands: Understood, ...faults: ReadonlyArray<RawReply>): Promise<OpenLanguageModel> => {
  const emulator = await OpenAiEmulator.start({
    apiKey,
    answer: ({ messages = [], tools = [] }) => {
      const heard = messages.flatMap(({ content, role }) => (role === "user" ? [String(content)] : []))
      const words = messages.at(-1)?.role === "user" ? heard.at(-1) : undefined
      const { call, text = [] } = understands({
        instructions: String(messages[0]?.content),
        words,
        heard,
        tools: tools.map((tool) => String(tool.function?.name))
      })
      return call === undefined ? { text } : { calls: [{ name: call.name, arguments: [JSON.stringify(call.given)] }] }
    }
  })
  t.teardown(() => emulator.stop())
  emulator.script(...faults)
  return openai.open({ api_key: apiKey, base_url: emulator.url, model: "emulated" }, { egress })
}
const overAnthropic = async (t: Test, understands: Understood, ...faults: ReadonlyArray<RawReply>): Promise<OpenLanguageModel> => {
  const emulator = await AnthropicEmulator.start({
    apiKey,
    answer: ({ messages = [], system = [], tools = [] }) => {
      const textsOf = (message: (typeof messages)[number]) =>
        blocksIn(message).flatMap(({ text, type }) => (type === "text" ? [String(text)] : []))
      const heard = messages.filter(({ role }) => role === "user").flatMap(textsOf)
      const words = messages.slice(-1).flatMap(textsOf).at(-1)
      const { call, text = [] } = understands({
        instructions: typeof system === "string" ? system : String(system[0]?.["text"]),
        words,
        heard,
        tools: tools.map(({ name }) => String(name))
      })
      return call === undefined ? { text } : { uses: [{ name: call.name, input: [JSON.stringify(call.given)] }] }
    }
  })
  t.teardown(() => emulator.stop())
  emulator.script(...faults)
  return anthropic.open({ api_key: apiKey, base_url: emulator.origin, model: "emulated" }, { egress })
}
const overGemini = async (t: Test, understands: Understood, ...faults: ReadonlyArray<RawReply>): Promise<OpenLanguageModel> => {
  const emulator = await GoogleEmulator.start({
    apiKey,
    answer: (body) => {
      const { contents = [] } = body
      const textsOf = ({ parts = [] }: (typeof contents)[number]) => parts.flatMap(({ text }) => (typeof text === "string" ? [text] : []))
      const heard = contents.filter(({ role }) => role === "user").flatMap(textsOf)
      const words = contents.slice(-1).flatMap(textsOf).at(-1)
      const { call, text = [] } = understands({
        instructions: String(body.systemInstruction?.parts?.[0]?.text),
        words,
        heard,
        tools: declarationsIn(body).map(({ name }) => String(name))
      })
      return call === undefined ? { text } : { calls: [{ name: call.name, args: call.given, signature: "c2lnbmVk" }] }
    }
  })
  t.teardown(() => emulator.stop())
  emulator.script(...faults)
  return google.open({ api_key: apiKey, base_url: emulator.origin }, { egress })
}

const walk = (model: OpenLanguageModel, callee: Callee) => {
  const steps = callee.map(({ hears, says }) => ({ hears, says, times: 3 }))
  const read = readScripts({ scripts: [{ name: "one", callee: steps, context: {}, expect: { visits: ["Reach the contact"] } }] })
  const [script] = "problems" in read ? [] : read.scripts
  if (script === undefined) throw new Error(JSON.stringify(read))
  const rehearsed = rehearse({ plan: planOf(orderAgent, { first_name: "Ann" }), model, script, limit: Duration.seconds(120) })
  return runLive(Effect.provideService(rehearsed, CurrentConversationMetrics, new ConversationMetrics()))
}

t.test(
  "given the same callee, when the agent thinks with another service, then it takes the same path to the same variables",
  async (t) => {
    for (const [callee, end, tells] of [
      [delivered, "Delivered with a ring", ["customer_number", "delivery_date", "boxes"]],
      [collected, "Collected on foot", ["customer_number", "collection_time"]]
    ] as const) {
      const { disposition, edges, path, variables } = await walk(embedded.open({}, { egress }), callee)
      t.equal(path.at(-1), end, "the built-in rules reach the end")
      t.strictSame(Object.keys(variables).toSorted(), [...tells].toSorted(), "and find out what was told")
      for (const [name, over] of Object.entries({ overOpenAi, overAnthropic, overGemini })) {
        const other = await walk(await over(t, think(callee)), callee)
        t.strictSame(
          [other.path, other.edges, other.variables, other.disposition],
          [path, edges, variables, disposition],
          `${name}: ${end}`
        )
      }
    }
  }
)

/** What the first request meets. None of it is an answer, and each service may send it. */
const faults: Readonly<Record<string, RawReply>> = {
  "is overloaded": json({}, 503),
  "has no room for a moment": json({}, 429, { "retry-after": "1" }),
  "breaks off": { pieces: [], ending: "reset" },
  "ends without an answer": { pieces: [] },
  "sends half a message": { pieces: ['data: {"ty'] },
  "sends a page": { status: 502, contentType: "text/html", pieces: ["<html>"] }
}

t.test("given a service that fails at first, when it answers then, then the path is the same", async (t) => {
  const usual = await walk(embedded.open({}, { egress }), delivered)
  for (const [name, over] of Object.entries({ overOpenAi, overAnthropic, overGemini }))
    for (const [what, fault] of Object.entries(faults)) {
      const other = await walk(await over(t, think(delivered), fault), delivered)
      t.strictSame([other.path, other.variables, other.disposition], [usual.path, usual.variables, usual.disposition], `${name} ${what}`)
    }
})
