/** The client of Anthropic's Messages: its requests, what it reads from the events, and the ways in which the service fails. */
import { Effect } from "effect"
import t from "tap"
import { anthropicWith } from "#adapters/voice/anthropic/anthropic.ts"
import type { ModelRequest } from "#core/model/LanguageModel.ts"
import { AnthropicEmulator } from "#test/emulators/anthropic/AnthropicEmulator.ts"
import { begin, errorBody, event, openText, ping, streamed } from "#test/emulators/anthropic/messages.ts"
import { json } from "#test/emulators/shared/ModelEmulator.ts"
import { acceptsAnyConversation, type Failing, failsAsItSays, givesUp, never, toldOf } from "./modelRules.ts"
import { answered, aRequest, booked, callsOf, done, extraction, heard, idsOf, modelOf, remembered, said, textOf } from "./modelScene.ts"

const apiKey = "sk-ant-emulated-k3y"
const { answerTo, withModel } = modelOf({
  start: () => AnthropicEmulator.start({ apiKey }),
  providerWith: anthropicWith,
  configOf: ({ origin }: AnthropicEmulator) => ({ api_key: apiKey, base_url: origin, model: "emulated" })
})

const cached = { cache_control: { type: "ephemeral" } }
const text = (words: string, mark = {}) => ({ type: "text", text: words, ...mark })

t.test(
  "given a conversation with calls, then the request is as the vendor documents it, and what it shares with the next one is cached",
  async (t) => {
    const { asked, error } = await answerTo(
      t,
      { text: ["Fine."] },
      {
        ...aRequest,
        messages: [
          said("Hello."),
          said("Which day?"),
          heard("Friday"),
          said("", booked, { ...booked, id: "c2", name: "refused" }),
          done,
          heard("Well?")
        ]
      },
      { config: { temperature: 0.2, max_tokens: 80, extra_body: '{"service_tier":"standard_only","model":"other"}' } }
    )
    t.equal(error, undefined)
    t.match(asked, [{ path: "/v1/messages", headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" } }])
    const [agrees, refused] = aRequest.tools.map(({ description, name, parameters }) => ({ name, description, input_schema: parameters }))
    t.strictSame(asked[0]?.body, {
      temperature: 0.2,
      max_tokens: 80,
      service_tier: "standard_only",
      model: "emulated",
      stream: true,
      system: [text("Be brief.", cached)],
      tools: [agrees, { ...refused, ...cached }],
      messages: [
        { role: "user", content: [text("(The call begins.)")] },
        { role: "assistant", content: [text("Hello."), text("Which day?")] },
        { role: "user", content: [text("Friday")] },
        {
          role: "assistant",
          content: [
            { type: "tool_use", id: "c1", name: "booked", input: { day: "Friday" } },
            { type: "tool_use", id: "c2", name: "refused", input: { day: "Friday" }, ...cached }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: '{"status":"done"}' },
            { type: "tool_result", tool_use_id: "c2", content: '{"status":"cancelled"}' },
            text("Well?")
          ]
        }
      ]
    })
  }
)

t.test("given any conversation, then the service accepts it", (t) => acceptsAnyConversation(t, answerTo))

t.test("given no tools on offer, then none can be called, and nothing is cached", async (t) => {
  const request: ModelRequest = { ...aRequest, tools: [], purpose: "farewell", messages: [heard("Hello"), said("", booked), heard("Bye")] }
  const { asked } = await answerTo(t, { text: ["Bye."] }, request)
  t.match(asked, [{ body: { tools: [{ name: "booked" }], tool_choice: { type: "none" } } }])
  t.notMatch(JSON.stringify(asked), /cache_control/)
})

t.test("given an answer of every kind of block, then its text, calls, reason and usage are read", async (t) => {
  const { parts } = await answerTo(t, {
    text: ["Fine, ", "see you."],
    uses: [
      { id: "toolu_9", name: "booked", input: ['{"da', 'y":"Fri', 'day"}'] },
      { id: "toolu_8", name: "refused", input: [] }
    ],
    textAfter: " Bye.",
    inputTokens: 2,
    outputTokens: 7,
    cacheReads: 8,
    cacheWrites: 2
  })
  t.equal(textOf(parts), "Fine, see you. Bye.")
  t.strictSame(callsOf(parts), [
    ["booked", { day: "Friday" }],
    ["refused", {}]
  ])
  t.strictSame(idsOf(parts), ["toolu_9", "toolu_8"])
  t.strictSame(parts.at(-1), { _tag: "Finished", why: "tool_calls", usage: { promptTokens: 12, completionTokens: 7, cachedTokens: 8 } })
  for (const [stop, why] of Object.entries({
    end_turn: "stop",
    stop_sequence: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    refusal: "filtered"
  })) {
    const { parts: ended } = await answerTo(t, { text: ["Well."], stop })
    t.match(ended.at(-1), { _tag: "Finished", why }, stop)
  }
  const unknown = event({ type: "content_block_start", index: 0, content_block: { type: "hologram" } })
  const { parts: others } = await answerTo(t, {
    pieces: [begin(), unknown, event({ type: "news" }), ...streamed({ text: ["Yes."] }).slice(1)]
  })
  t.equal(textOf(others), "Yes.", "what is not known is left out")
  const { error } = await answerTo(t, { pieces: streamed({ text: ["Yes."] }).slice(0, -1) })
  t.equal(error, undefined, "without the last event, nothing is missing")
})

t.test("given a model that thinks, then its thoughts are not spoken, and come back with their calls, whole and signed", async (t) => {
  const thought = { text: ["They agree, ", "they agree, ", "they agree, "], signature: "c2lnbmVk" }
  const extra_body = '{"thinking":{"type":"enabled","budget_tokens":1024}}'
  await withModel(t, { config: { extra_body } }, (model, emulator) =>
    Effect.gen(function* () {
      emulator.script(
        { thought, text: ["Fine."], uses: [{ id: "toolu_1", name: "booked", input: [] }] },
        { text: ["Bye."] },
        { text: ["{}"] }
      )
      const { parts } = yield* answered(model, aRequest)
      t.equal(textOf(parts), "Fine.")
      const messages = [...aRequest.messages, ...remembered(parts)]
      yield* answered(model, { ...aRequest, messages })
      const block = { type: "thinking", thinking: thought.text.join(""), signature: thought.signature }
      const use = { type: "tool_use", id: "toolu_1", name: "booked", input: {}, caller: { type: "direct" } }
      const content = emulator.requests[1]?.body?.messages?.[1]?.content
      t.strictSame(content, [block, text("Fine."), { ...use, ...cached }])
      t.match(emulator.requests[1]?.body, { thinking: { type: "enabled" } })
      yield* answered(model, { ...aRequest, messages, purpose: "extract" })
      const extraction = emulator.requests[2]?.body ?? {}
      t.match(extraction, { tool_choice: { type: "tool", name: "booked" } })
      t.notMatch(JSON.stringify(extraction), /thinking/, "a call cannot be forced on a model that thinks")
    })
  )
  const { parts } = await answerTo(t, { thought, text: ["Fine."] })
  t.notMatch(JSON.stringify(parts), /agree/, "without calls, nobody wants them back")
})

t.test("given variables that are asked for, then the only tool is forced, and text will do", async (t) => {
  const { asked, parts } = await answerTo(t, { uses: [{ name: "save", input: ['{"day":"Friday"}'] }] }, extraction)
  t.match(asked, [{ body: { tool_choice: { type: "tool", name: "save" } } }])
  t.strictSame(callsOf(parts), [["save", { day: "Friday" }]])
  const { parts: written } = await answerTo(t, { text: ['Sure: {"day":', '"Friday"}'] }, extraction)
  t.strictSame(callsOf(written), [["save", { day: "Friday" }]])
})

t.test("given a list of keys of which one is refused, then the other is used", async (t) => {
  const { asked, parts } = await answerTo(t, { text: ["Yes."] }, aRequest, { config: { api_key: ["sk-ant-expired", apiKey] } })
  t.equal(textOf(parts), "Yes.")
  t.strictSame(
    asked.map(({ headers }) => headers["x-api-key"]),
    ["sk-ant-expired", apiKey]
  )
})

const told = toldOf(apiKey)
const begun = [begin(), ...openText("One")]
const inCall = event({ type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "booked", input: {} } })
const halfInput = event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"da' } })
const failed = (status: number, type: string, message = told, headers = {}) => json(errorBody(type, message), status, headers)
const broken = { reason: "broken", isRetryable: true } as const
const failing: ReadonlyArray<Failing> = [
  ["a wrong key", failed(401, "authentication_error"), { reason: "auth", isRetryable: false, message: "HTTP 401 authentication_error" }],
  ["no permission", failed(403, "permission_error"), { reason: "auth", isRetryable: false }],
  ["no credit", failed(400, "invalid_request_error", "Your credit balance is too low"), { reason: "credit", isRetryable: false }],
  ["a bill to pay", failed(402, "billing_error"), { reason: "credit", isRetryable: false }],
  ["a wrong request", failed(400, "invalid_request_error"), { reason: "refused", isRetryable: false }],
  ["an unknown model", failed(404, "not_found_error"), { reason: "refused", isRetryable: false }],
  ["a request that is too large", failed(413, "request_too_large"), { reason: "refused", isRetryable: false }],
  ["too many requests", failed(429, "rate_limit_error"), { reason: "rate_limited", isRetryable: true }],
  ["a time to wait", failed(429, "rate_limit_error", told, { "retry-after": "7" }), { reason: "rate_limited", retryAfterMillis: 7000 }],
  ["a fault", failed(500, "api_error"), broken],
  ["overload", failed(529, "overloaded_error"), { ...broken, message: "HTTP 529 overloaded_error" }],
  ["a page", { status: 502, contentType: "text/html", pieces: [`<html>${told}</html>`] }, broken],
  ["overload in the middle", { pieces: [...begun, event(errorBody("overloaded_error", told))] }, broken],
  ["too many requests in the middle", { pieces: [...begun, event(errorBody("rate_limit_error", told))] }, { reason: "rate_limited" }],
  ["an unknown error in the middle", { pieces: [...begun, event(errorBody("weather_error", told))] }, broken],
  ["an end in the middle", { pieces: begun }, broken],
  ["an end in the middle of an event", { pieces: [...begun, "event: content_block_delta\ndata: {"] }, broken],
  ["a reset in the middle", { pieces: begun, ending: "reset" }, { reason: "unreachable", isRetryable: true }],
  ["nothing at all", { pieces: [] }, broken],
  ["half a call", { pieces: [begin(), inCall, halfInput], ending: "reset" }, { reason: "unreachable", isRetryable: true }]
]

t.test("given a service that fails, then the error says why, and nothing of what was sent", (t) =>
  failsAsItSays(t, answerTo, apiKey, failing)
)

t.test("given a service that is silent, then the answer is given up", async (t) => {
  const late = givesUp(t, answerTo)
  const pings = Array.from({ length: 200 }, () => [ping, 20]).flat()
  await late("pings alone", { pieces: [begin(), ...pings, never] }, { firstToken: 100 }, "did not begin")
  await late("a pause", { pieces: [...begun, never] }, { betweenTokens: 50 }, "did not continue")
})
