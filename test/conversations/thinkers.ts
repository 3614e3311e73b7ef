/** The services of language models that understand a callee of `orderAgent` by the callee's script, behind each protocol. */
import type { Test } from "tap"
import { AnthropicEmulator } from "#test/emulators/anthropic/AnthropicEmulator.ts"
import { blocksIn } from "#test/emulators/anthropic/refusals.ts"
import { GoogleEmulator } from "#test/emulators/google/GoogleEmulator.ts"
import { declarationsIn } from "#test/emulators/google/refusals.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import type { RawReply } from "#test/emulators/shared/ModelEmulator.ts"

const apiKey = "sk-same-graph"

/** What the callee answers to a question, and what a model makes of it: the edge, and the values that it tells. */
interface Reply {
  readonly hears: string
  readonly says: string
  /** Undefined if only the built-in rules ask this: they read numbers back. */
  readonly edge?: string
  readonly tells?: Readonly<Record<string, unknown>>
}
export type Callee = ReadonlyArray<Reply>
export const delivered: Callee = [
  { hears: "Am I speaking with", says: "yes speaking", edge: "right_person" },
  { hears: "your customer number", says: "one two three four", edge: "number_told", tells: { customer_number: "1234" } },
  { hears: "I heard 1, 2, 3, 4", says: "yes that is right" },
  { hears: "cancel it", says: "please deliver it", edge: "deliver" },
  { hears: "which day", says: "the third of march", edge: "day_named", tells: { delivery_date: "march 3" } },
  { hears: "empty boxes", says: "three boxes", edge: "boxes_told", tells: { boxes: 3 } },
  { hears: "May we ring", says: "yes please", edge: "yes" }
]
export const collected: Callee = [
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
export const think =
  (callee: Callee) =>
  ({ heard, instructions, tools, words }: Asked): Thought => {
    const told = callee.filter(({ says }) => heard.includes(says)).map(({ tells = {} }) => tells)
    if (tools.includes("save_variables")) return { call: { name: "save_variables", given: Object.assign({}, ...told) } }
    const edge = callee.find(({ says }) => says === words)?.edge
    if (edge !== undefined && tools.includes(edge)) return { call: { name: edge, given: {} } }
    return { text: [/Say: "([^"]*)"/.exec(instructions)?.[1] ?? "Goodbye."] }
  }

/** The settings of a language model whose service thinks in this way. */
interface Brain {
  readonly provider: string
  readonly api_key: string
  readonly base_url: string
  readonly model: string
}
type Understood = (asked: Asked) => Thought
const overOpenAi = async (t: Test, understands: Understood, ...faults: ReadonlyArray<RawReply>): Promise<Brain> => {
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
  return { provider: "openai", api_key: apiKey, base_url: emulator.url, model: "emulated" }
}
const overAnthropic = async (t: Test, understands: Understood, ...faults: ReadonlyArray<RawReply>): Promise<Brain> => {
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
  return { provider: "anthropic", api_key: apiKey, base_url: emulator.origin, model: "emulated" }
}
const overGemini = async (t: Test, understands: Understood, ...faults: ReadonlyArray<RawReply>): Promise<Brain> => {
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
  return { provider: "google", api_key: apiKey, base_url: emulator.origin, model: "gemini-emulated" }
}

/** Each starts a service that gives these faults to the first requests. */
export const thinkers = { openai: overOpenAi, anthropic: overAnthropic, google: overGemini }
