/** The client of chat completions: its requests, and how it uses connections. */
import { Effect } from "effect"
import t from "tap"
import { openai } from "#adapters/voice/openai/openai.ts"
import { type Egress, refusedCode } from "#core/egress/Egress.ts"
import type { ModelRequest } from "#core/model/LanguageModel.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { runLive } from "#test/support/run.ts"
import { trust } from "#test/support/tlsCertificate.ts"
import { startTlsFront } from "#test/support/tlsFront.ts"
import { untilTrue } from "#test/support/until.ts"
import { answered, aRequest, booked, callsOf, done, extraction, heard, idsOf, open, said, textOf } from "./modelScene.ts"
import { answerTo, apiKey, delta, withModel } from "./openaiScene.ts"

t.test("the request is as the vendor documents it", async (t) => {
  const { asked, parts } = await answerTo(
    t,
    { text: ["Fine."] },
    {
      ...aRequest,
      messages: [said("Which day?"), heard("Friday"), said("", booked, { id: "c2", name: "refused", arguments: {} }), done]
    },
    { config: { temperature: 0.2, max_tokens: "80", extra_body: '{"reasoning_effort":"none","model":"other"}' } }
  )
  t.equal(textOf(parts), "Fine.")
  t.match(asked, [{ path: "/v1/chat/completions", headers: { authorization: `Bearer ${apiKey}` } }])
  t.strictSame(asked[0]?.body, {
    temperature: 0.2,
    max_tokens: 80,
    reasoning_effort: "none",
    model: "emulated",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "assistant", content: "Which day?" },
      { role: "user", content: "Friday" },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "booked", arguments: '{"day":"Friday"}' } },
          { id: "c2", type: "function", function: { name: "refused", arguments: "{}" } }
        ]
      },
      { role: "tool", tool_call_id: "c2", content: '{"status":"cancelled"}' },
      { role: "tool", tool_call_id: "c1", content: '{"status":"done"}' }
    ],
    tools: aRequest.tools.map((tool) => ({ type: "function", function: tool })),
    stream: true,
    stream_options: { include_usage: true }
  })
})

t.test("without tools there is no list of tools, and switches leave out what a server refuses", async (t) => {
  const { asked } = await answerTo(
    t,
    { text: ["Yes."] },
    { ...aRequest, tools: [] },
    {
      config: { no_stream_options: true, whole_with_tools: true, max_completion_tokens: 9, max_tokens: 5 }
    }
  )
  t.strictSame(Object.keys(asked[0]?.body ?? {}).toSorted(), ["max_completion_tokens", "messages", "model", "stream"])
})

t.test("a stream as the vendor sends it", async (t) => {
  const { parts } = await answerTo(t, {
    text: ["Fine, ", "see you."],
    calls: [
      { id: "c9", name: "booked", arguments: ['{"da', 'y":"Fri', 'day"}'] },
      { name: "refused", arguments: [] }
    ],
    promptTokens: 12,
    completionTokens: 7,
    cachedTokens: 8
  })
  t.equal(textOf(parts), "Fine, see you.")
  t.strictSame(callsOf(parts), [
    ["booked", { day: "Friday" }],
    ["refused", {}]
  ])
  t.equal(idsOf(parts)[0], "c9")
  t.strictSame(parts.at(-1), { _tag: "Finished", why: "tool_calls", usage: { promptTokens: 12, completionTokens: 7, cachedTokens: 8 } })
})

t.test("an id that the conversation already has is replaced", async (t) => {
  const call = { id: "call_0", name: "refused", arguments: {} }
  const messages: ModelRequest["messages"] = [said("", call), { _tag: "ToolResult", callId: "call_0", name: "refused", result: {} }]
  const { parts } = await answerTo(t, { calls: [{ id: "call_0", name: "booked", arguments: [] }] }, { ...aRequest, messages })
  t.match(idsOf(parts), [/^[a-z0-9]{9}$/])
})

t.test("variables", async (t) => {
  const { asked, parts } = await answerTo(t, { calls: [{ name: "save", arguments: ['{"day":"Friday"}'] }] }, extraction)
  t.match(asked, [{ body: { tool_choice: { type: "function", function: { name: "save" } } } }])
  t.strictSame(callsOf(parts), [["save", { day: "Friday" }]])
  const inText = await answerTo(t, { text: ["Sure:\n```json\n{", '"day":"Friday"}\n```'] }, extraction)
  t.strictSame(callsOf(inText.parts), [["save", { day: "Friday" }]], "from a model that answers in text")
  t.equal(textOf(inText.parts), "")
  for (const text of [
    '<tool_call>{"name":"save","arguments":{"day":"Friday"}}</tool_call>',
    '{"name":"save","arguments":{"day":"Friday"}}',
    '{"variables":{"day":"Friday"}}',
    'save({"day":"Friday"})',
    "{'day': 'Friday'}",
    '{"day":"Friday"} {"day":"Monday"}',
    '[{"day":"Friday"}]',
    '{"day":"Friday"}<|im_end|>',
    'Perhaps {"day":"Monday"}.</think>{"day":"Friday"}'
  ]) {
    const { parts: read } = await answerTo(t, { text: [text] }, extraction)
    t.strictSame(callsOf(read), [["save", { day: "Friday" }]], text)
  }
  const broken = await answerTo(t, { pieces: [delta('{"day":"Friday"}')] }, extraction)
  t.strictSame(callsOf(broken.parts), [["save", { day: "Friday" }]], "although the reply has no end")
  const none = await answerTo(t, { text: ["I do not know."] }, extraction)
  t.match(none.error, { reason: "broken", isRetryable: true })
})

t.test("connections", async (t) => {
  await withModel(t, {}, (model, emulator) =>
    Effect.gen(function* () {
      emulator.script({ text: ["One"] }, { text: ["Two"] }, { text: ["Three"] })
      yield* answered(model, aRequest)
      yield* answered(model, aRequest)
      const connections = emulator.requests.map(({ connections }) => connections)
      t.strictSame(connections, [1, 1], "the one that was opened before the first turn serves all turns")
      t.equal(emulator.abandoned, 0)
      emulator.resetConnections()
      t.match(
        yield* answered(model, aRequest),
        { parts: [{ text: "Three" }], error: undefined },
        "one that the server has closed is replaced"
      )
    })
  )
})

t.test("over TLS, the connection is open before the first turn", async (t) => {
  trust()
  const emulator = await OpenAiEmulator.start({ apiKey })
  const front = await startTlsFront(emulator.url)
  t.teardown(() => emulator.stop())
  t.teardown(() => front.stop())
  for (const host of ["127.0.0.1", "localhost"]) {
    const config = { api_key: apiKey, base_url: `https://${host}:${new URL(front.url).port}/v1`, model: "emulated" }
    const before = emulator.connections
    const answer = Effect.flatMap(openai.open(config, { egress: open }), (model) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => untilTrue("connection before the first turn", () => emulator.connections === before + 1))
        emulator.script({ text: ["Yes."] })
        return yield* answered(model, aRequest)
      })
    )
    const { error, parts } = await runLive(Effect.orDie(Effect.scoped(answer)))
    t.equal(error, undefined)
    t.strictSame([textOf(parts), emulator.connections], ["Yes.", before + 1], host)
  }
})

t.test("the egress policy holds", async (t) => {
  const refuse = (egress: Egress, baseUrl: string | undefined) =>
    withModel(t, { egress, config: baseUrl === undefined ? {} : { base_url: baseUrl } }, (model, emulator) =>
      Effect.map(answered(model, aRequest), ({ error }) => ({ error, connections: emulator.connections }))
    )
  const literal = await refuse(webhooksOf(), undefined)
  t.match(literal, { error: { isRetryable: false }, connections: 0 }, "for addresses")
  const nowhere: Egress = { ...open, lookup: () => (_, __, done) => done(Object.assign(new Error(), { code: refusedCode }), []) }
  const name = await refuse(nowhere, "http://model.example/v1")
  t.match(name, { error: { reason: "unreachable", isRetryable: false } }, "for names")
})

t.test("a server that cannot be reached", async (t) => {
  const [error] = await withModel(t, {}, (model, emulator) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => emulator.stop())
      return [(yield* answered(model, aRequest)).error] as const
    })
  )
  t.match(error, { reason: "unreachable", isRetryable: true, message: "ECONNREFUSED" })
})

t.test("configurations that cannot be used", async (t) => {
  const faultOf = (config: Readonly<Record<string, unknown>>) =>
    runLive(openai.open({ model: "m", ...config }, { egress: open }).pipe(Effect.flip, Effect.orDie))
  for (const config of [
    { model: undefined },
    { base_url: "file:///etc/passwd" },
    { base_url: "http://user:password@localhost/v1" },
    { extra_body: "[]" },
    { temperature: "hot" },
    { api_key: { a: 1 } },
    { whole_with_tools: "yes" }
  ]) {
    t.match(await faultOf(config), { reason: "refused", isRetryable: false }, JSON.stringify(config))
  }
})
