/** The emulator of the Messages protocol, tested with the vendor's own client. */
import Anthropic from "@anthropic-ai/sdk"
import t, { type Test } from "tap"
import { AnthropicEmulator } from "#test/emulators/anthropic/AnthropicEmulator.ts"
import { begin, errorBody, event, openText } from "#test/emulators/anthropic/messages.ts"
import { json } from "#test/emulators/shared/ModelEmulator.ts"

const apiKey = "sk-ant-emulated"
const given = async (t: Test) => {
  const emulator = await AnthropicEmulator.start({ apiKey })
  const client = new Anthropic({ apiKey, baseURL: emulator.origin, maxRetries: 0 })
  t.teardown(() => emulator.stop())
  return { client, emulator }
}
/** The error of a request that must fail. */
const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    (error: unknown) => error
  )
type Ask = Anthropic.MessageCreateParamsNonStreaming
const hello: Ask["messages"] = [{ role: "user", content: "Hello" }]
const ask: Ask = { model: "emulated", max_tokens: 100, messages: hello }
const tools: NonNullable<Ask["tools"]> = [{ name: "booked", input_schema: { type: "object", properties: {} } }]

t.test("given the vendor's client, when it streams, then it reads thoughts, text, calls, the reason to stop and the usage", async (t) => {
  const { client, emulator } = await given(t)
  emulator.script({
    thought: { text: ["Hm", "."], signature: "c2lnbmVk" },
    text: ["Fine, ", "see you."],
    uses: [
      { id: "toolu_1", name: "booked", input: ['{"da', 'y":"Friday"}'] },
      { name: "booked", input: [] }
    ],
    inputTokens: 12,
    outputTokens: 5,
    cacheReads: 8,
    cacheWrites: 3
  })
  const final = await client.messages.stream({ ...ask, tools }).finalMessage()
  t.match(final, {
    stop_reason: "tool_use",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" },
      { type: "text", text: "Fine, see you." },
      { type: "tool_use", id: "toolu_1", name: "booked", input: { day: "Friday" } },
      { type: "tool_use", name: "booked", input: {} }
    ],
    usage: { input_tokens: 12, output_tokens: 5, cache_read_input_tokens: 8, cache_creation_input_tokens: 3 }
  })
  t.match(emulator.requests, [{ path: "/v1/messages", body: { stream: true } }])
})

t.test("given the vendor's client, when it does not stream, then it reads the same", async (t) => {
  const { client, emulator } = await given(t)
  emulator.script({ text: ["Hello ", "you"], inputTokens: 3 })
  t.match(await client.messages.create(ask), { content: [{ text: "Hello you" }], stop_reason: "end_turn", usage: { input_tokens: 3 } })
})

t.test("given the vendor's client, then it recognizes the emulator's errors", async (t) => {
  const { client, emulator } = await given(t)
  const stranger = new Anthropic({ apiKey: "wrong", baseURL: emulator.origin, maxRetries: 0 })
  t.ok((await errorOf(stranger.messages.create(ask))) instanceof Anthropic.AuthenticationError)
  emulator.script(json(errorBody("rate_limit_error", "Slow down"), 429, { "retry-after": "7" }))
  t.ok((await errorOf(client.messages.create(ask))) instanceof Anthropic.RateLimitError)
  emulator.script(json(errorBody("overloaded_error", "Overloaded"), 529))
  t.match(await errorOf(client.messages.create(ask)), { status: 529, type: "overloaded_error" })

  emulator.script({ pieces: [begin(), ...openText("One"), event(errorBody("overloaded_error", "Overloaded"))] })
  const heard: Array<string> = []
  const broken = client.messages.stream(ask).on("text", (text) => heard.push(text))
  t.match(await errorOf(broken.finalMessage()), { error: { error: { type: "overloaded_error" } } })
  t.strictSame(heard, ["One"])
})

t.test("given the vendor's client, when a request is not as the vendor documents it, then it is refused", async (t) => {
  const { client } = await given(t)
  const use = { type: "tool_use" as const, id: "toolu_1", name: "booked", input: {} }
  const called = { role: "assistant" as const, content: [use] }
  const result = { type: "tool_result" as const, tool_use_id: "toolu_1", content: "{}" }
  const text = { type: "text" as const, text: "And?" }
  const marked = { ...text, cache_control: { type: "ephemeral" as const } }
  const refused: ReadonlyArray<readonly [what: string, request: Ask]> = [
    ["two turns of the user", { ...ask, messages: [...hello, ...hello] }],
    ["the assistant first", { ...ask, messages: [{ role: "assistant", content: "Hello" }, ...hello] }],
    ["the assistant last", { ...ask, messages: [...hello, { role: "assistant", content: "He" }] }],
    ["a blank text", { ...ask, messages: [{ role: "user", content: " " }] }],
    ["a call without its result", { ...ask, tools, messages: [...hello, called, ...hello] }],
    ["a result behind text", { ...ask, tools, messages: [...hello, called, { role: "user", content: [text, result] }] }],
    ["a result without its call", { ...ask, tools, messages: [{ role: "user", content: [result] }] }],
    ["calls without tools", { ...ask, messages: [...hello, called, { role: "user", content: [result] }] }],
    ["a choice of no tool", { ...ask, tools, tool_choice: { type: "tool", name: "other" } }],
    [
      "a forced call of a model that thinks",
      { ...ask, tools, tool_choice: { type: "any" }, thinking: { type: "enabled", budget_tokens: 50 } }
    ],
    ["five marks", { ...ask, messages: [{ role: "user", content: [marked, marked, marked, marked, marked] }] }]
  ]
  for (const [what, request] of refused) t.match(await errorOf(client.messages.create(request)), { status: 400 }, what)
})

t.test("given the vendor's client, when it gives up a stream, then the emulator notices", async (t) => {
  const { client, emulator } = await given(t)
  emulator.script({ pieces: [begin(), ...openText("One")], ending: "hang" })
  for await (const { type } of await client.messages.create({ ...ask, stream: true })) if (type === "content_block_delta") break
  await emulator.untilAbandoned()
})
