/** The client of Gemini: its requests, what it reads from the chunks, and the ways in which the service fails. */
import { Effect } from "effect"
import t from "tap"
import { googleWith } from "#adapters/voice/google/google.ts"
import { blocked, chunk, errorBody, event, invalidKey, quotaExceeded } from "#test/emulators/google/contents.ts"
import { GoogleEmulator } from "#test/emulators/google/GoogleEmulator.ts"
import { json } from "#test/emulators/shared/ModelEmulator.ts"
import { acceptsAnyConversation, type Failing, failsAsItSays, givesUp, never, toldOf } from "./modelRules.ts"
import { answered, aRequest, booked, callsOf, done, extraction, heard, idsOf, modelOf, remembered, said, textOf } from "./modelScene.ts"

const apiKey = "AIza-emulated-k3y"
const { answerTo, withModel } = modelOf({
  start: () => GoogleEmulator.start({ apiKey }),
  providerWith: googleWith,
  configOf: ({ origin }: GoogleEmulator) => ({ api_key: apiKey, base_url: origin })
})

const older = { model: "gemini-2.5-flash" }

t.test("given a conversation with calls, then the request is as the vendor documents it", async (t) => {
  const messages = [
    said("Hello."),
    said("Which day?"),
    heard("Friday"),
    said("", booked, { ...booked, id: "c2", name: "refused" }),
    done,
    heard("Well?")
  ]
  const day = { name: "2_weeks", description: "Later", parameters: { type: "object", properties: { day: { type: "string" } } } }
  const { asked, error } = await answerTo(
    t,
    { text: ["Fine."] },
    { ...aRequest, messages, tools: [...aRequest.tools, day] },
    { config: { ...older, temperature: 0.2, max_tokens: 80, extra_body: '{"generationConfig":{"topP":0.9},"contents":[]}' } }
  )
  t.equal(error, undefined)
  t.match(asked, [{ path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", headers: { "x-goog-api-key": apiKey } }])
  const args = { day: "Friday" }
  t.strictSame(asked[0]?.body, {
    contents: [
      { role: "user", parts: [{ text: "(The call begins.)" }] },
      { role: "model", parts: [{ text: "Hello." }, { text: "Which day?" }] },
      { role: "user", parts: [{ text: "Friday" }] },
      {
        role: "model",
        parts: [{ functionCall: { id: "c1", name: "booked", args } }, { functionCall: { id: "c2", name: "refused", args } }]
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "booked", response: { status: "done" } } },
          { functionResponse: { id: "c2", name: "refused", response: { status: "cancelled" } } },
          { text: "Well?" }
        ]
      }
    ],
    systemInstruction: { parts: [{ text: "Be brief." }] },
    tools: [
      {
        functionDeclarations: [
          { name: "booked", description: "They book." },
          { name: "refused", description: "They refuse." },
          { name: "_2_weeks", description: "Later", parametersJsonSchema: day.parameters }
        ]
      }
    ],
    generationConfig: { temperature: 0.2, maxOutputTokens: 80, thinkingConfig: { thinkingBudget: 0 }, topP: 0.9 }
  })
})

t.test("given any conversation, then the service accepts it", (t) => acceptsAnyConversation(t, answerTo, [{}, older]))

t.test("given a model that can think, then it thinks as little as it can", async (t) => {
  const thought = async (model: string) => {
    const { asked } = await answerTo(t, { text: ["Yes."] }, aRequest, { config: { model } })
    return asked.map(({ body }) => body?.generationConfig?.["thinkingConfig"])
  }
  t.strictSame(await thought("gemini-2.5-flash-lite"), [{ thinkingBudget: 0 }])
  t.strictSame(await thought("gemini-2.0-flash"), [{ thinkingBudget: 0 }], "a model that is gone is replaced")
  t.strictSame(await thought("gemini-2.5-pro"), [{ thinkingBudget: 128 }])
  t.strictSame(await thought("gemini-3.5-flash"), [{ thinkingLevel: "MINIMAL" }])
  t.strictSame(await thought("models/gemini-3-pro-preview"), [{ thinkingLevel: "LOW" }])
  t.strictSame(await thought("gemma-4-27b-it"), [undefined])
  await withModel(t, { config: { model: "gemini-3-eager" } }, (model, emulator) =>
    Effect.gen(function* () {
      emulator.script({ text: ["One."] }, { text: ["Two."] })
      t.equal(textOf((yield* answered(model, aRequest)).parts), "One.", "a model that refuses the limit is asked without it")
      t.equal(textOf((yield* answered(model, aRequest)).parts), "Two.")
      t.equal(emulator.requests.length, 3, "and from then on at once")
    })
  )
})

t.test("given an answer of every kind of part, then its text, calls, reason and usage are read", async (t) => {
  const { parts } = await answerTo(t, {
    thought: "They agree.",
    text: ["Fine, ", "see you."],
    calls: [
      { id: "c9", name: "booked", args: { day: "Friday" } },
      { id: "c8", name: "refused", args: {} }
    ],
    promptTokens: 12,
    candidateTokens: 7,
    thoughtTokens: 3,
    cachedTokens: 8
  })
  t.equal(textOf(parts), "Fine, see you.", "thoughts are not spoken")
  t.strictSame(callsOf(parts), [
    ["booked", { day: "Friday" }],
    ["refused", {}]
  ])
  t.strictSame(idsOf(parts), ["c9", "c8"])
  t.strictSame(parts.at(-1), { _tag: "Finished", why: "tool_calls", usage: { promptTokens: 12, completionTokens: 10, cachedTokens: 8 } })
  const digit = { name: "2_weeks", description: "Later", parameters: { type: "object", properties: {} } }
  const { parts: later } = await answerTo(t, { calls: [{ name: "_2_weeks", args: {} }] }, { ...aRequest, tools: [digit] })
  t.strictSame(callsOf(later), [["2_weeks", {}]])
  const withoutId = { pieces: [event(chunk([{ functionCall: { name: "booked", args: {} } }], "STOP"))] }
  t.match(idsOf((await answerTo(t, withoutId)).parts), [/^\w+$/], "older models send no ids")
})

t.test("given a filter, then the answer is filtered, whether it stops the prompt or the answer", async (t) => {
  for (const finish of ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"])
    t.match((await answerTo(t, { text: ["Well"], finish })).parts.at(-1), { _tag: "Finished", why: "filtered" }, finish)
  const { parts } = await answerTo(t, { pieces: [event(blocked("PROHIBITED_CONTENT"))] })
  t.match(parts, [{ _tag: "Finished", why: "filtered", usage: { promptTokens: 5 } }])
  t.match((await answerTo(t, { text: ["Well"], finish: "MAX_TOKENS" })).parts.at(-1), { why: "length" })
})

t.test("given calls with signatures, then each comes back where it was", async (t) => {
  await withModel(t, {}, (model, emulator) =>
    Effect.gen(function* () {
      const calls = [
        { id: "c1", name: "booked", args: {}, signature: "c2lnbmVk" },
        { id: "c2", name: "refused", args: {} }
      ]
      emulator.script({ text: ["Fine."], calls }, { text: ["Bye."] })
      const { parts } = yield* answered(model, aRequest)
      yield* answered(model, { ...aRequest, messages: [...aRequest.messages, ...remembered(parts)] })
      t.strictSame(emulator.requests[1]?.body?.contents?.[1]?.parts, [
        { text: "Fine." },
        { functionCall: { id: "c1", name: "booked", args: {} }, thoughtSignature: "c2lnbmVk" },
        { functionCall: { id: "c2", name: "refused", args: {} } }
      ])
    })
  )
})

t.test("given variables that are asked for, then the only tool is forced, and text will do", async (t) => {
  const { asked, parts } = await answerTo(t, { calls: [{ name: "save", args: { day: "Friday" } }] }, extraction)
  t.match(asked, [{ body: { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["save"] } } } }])
  t.strictSame(callsOf(parts), [["save", { day: "Friday" }]])
  const { parts: written } = await answerTo(t, { text: ['```json\n{"day":', '"Friday"}\n```'] }, extraction)
  t.strictSame(callsOf(written), [["save", { day: "Friday" }]])
})

const told = toldOf(apiKey)
const begun = [event(chunk([{ text: "One" }]))]
const failed = (code: number, status: string) => json(errorBody(code, status, told), code)
const broken = { reason: "broken", isRetryable: true } as const
const failing: ReadonlyArray<Failing> = [
  ["a wrong key", json(invalidKey, 400), { reason: "auth", isRetryable: false, message: "HTTP 400 INVALID_ARGUMENT API_KEY_INVALID" }],
  ["no permission", failed(403, "PERMISSION_DENIED"), { reason: "auth", isRetryable: false }],
  ["no bill", failed(400, "FAILED_PRECONDITION"), { reason: "credit", isRetryable: false }],
  ["a wrong request", failed(400, "INVALID_ARGUMENT"), { reason: "refused", isRetryable: false, message: "HTTP 400 INVALID_ARGUMENT" }],
  ["an unknown model", failed(404, "NOT_FOUND"), { reason: "refused", isRetryable: false }],
  ["no quota", json(quotaExceeded(told, "12.5s"), 429), { reason: "rate_limited", isRetryable: true, retryAfterMillis: 12_500 }],
  ["an error in a list", json([errorBody(503, "UNAVAILABLE", told)], 503), { ...broken, message: "HTTP 503 UNAVAILABLE" }],
  ["a page", { status: 502, contentType: "text/html", pieces: [`<html>${told}</html>`] }, broken],
  ["an error in the middle", { pieces: [...begun, event(errorBody(503, "UNAVAILABLE", told))] }, broken],
  ["no quota in the middle", { pieces: [...begun, event(quotaExceeded(told, "1s"))] }, { reason: "rate_limited", isRetryable: true }],
  [
    "a call that cannot be read",
    { pieces: [event(chunk([], "MALFORMED_FUNCTION_CALL"))] },
    { ...broken, message: "the model stopped: MALFORMED_FUNCTION_CALL" }
  ],
  ["a reason that is not known", { pieces: [event(chunk([], told))] }, { ...broken, message: "the model stopped" }],
  ["an end in the middle", { pieces: begun }, broken],
  ["an end in the middle of a chunk", { pieces: [...begun, 'data: {"candidates": [{"con'] }, broken],
  ["a reset in the middle", { pieces: begun, ending: "reset" }, { reason: "unreachable", isRetryable: true }],
  ["nothing at all", { pieces: [] }, broken]
]

t.test("given a service that fails, then the error says why, and nothing of what was sent", (t) =>
  failsAsItSays(t, answerTo, apiKey, failing)
)

t.test("given a service that is silent, then the answer is given up", async (t) => {
  const late = givesUp(t, answerTo)
  await late("nothing", { pieces: [never] }, { firstToken: 100 }, "did not begin")
  await late("a pause", { pieces: [...begun, never] }, { betweenTokens: 50 }, "did not continue")
})
