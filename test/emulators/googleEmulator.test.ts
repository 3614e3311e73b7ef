/** The emulator of Gemini, tested with the vendor's own client. */
import { ApiError, type GenerateContentParameters, type GenerateContentResponse, GoogleGenAI, ThinkingLevel } from "@google/genai"
import t, { type Test } from "tap"
import { blocked, chunk, errorBody, event, quotaExceeded } from "#test/emulators/google/contents.ts"
import { GoogleEmulator } from "#test/emulators/google/GoogleEmulator.ts"
import { json } from "#test/emulators/shared/ModelEmulator.ts"

const apiKey = "AIza-emulated"
const clientOf = (key: string, baseUrl: string) => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl } })
const given = async (t: Test) => {
  const emulator = await GoogleEmulator.start({ apiKey })
  t.teardown(() => emulator.stop())
  return { client: clientOf(apiKey, emulator.origin), emulator }
}
/** The error of a request that must fail. */
const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    (error: unknown) => error
  )
const allOf = async (stream: AsyncIterable<GenerateContentResponse>) => {
  const chunks: Array<GenerateContentResponse> = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
const user = (text: string) => ({ role: "user", parts: [{ text }] })
const ask: GenerateContentParameters = { model: "gemini-2.5-flash", contents: [user("Hello")] }
const tools = [{ functionDeclarations: [{ name: "booked", description: "" }] }]

t.test(
  "given the vendor's client, when it streams, then it reads text, calls with their signatures, the reason and the usage",
  async (t) => {
    const { client, emulator } = await given(t)
    emulator.script({
      thought: "They agree.",
      text: ["Fine, ", "see you."],
      calls: [
        { id: "c1", name: "booked", args: { day: "Friday" }, signature: "c2lnbmVk" },
        { name: "booked", args: {} }
      ],
      promptTokens: 12,
      candidateTokens: 5,
      thoughtTokens: 3,
      cachedTokens: 8
    })
    const chunks = await allOf(await client.models.generateContentStream({ ...ask, config: { tools } }))
    const parts = chunks.flatMap(({ candidates = [] }) => candidates[0]?.content?.parts ?? [])
    t.match(parts, [
      { text: "They agree.", thought: true },
      { text: "Fine, " },
      { text: "see you." },
      { functionCall: { id: "c1", name: "booked", args: { day: "Friday" } }, thoughtSignature: "c2lnbmVk" },
      { functionCall: { name: "booked", args: {} } }
    ])
    const last = chunks.at(-1)
    t.equal(last?.candidates?.[0]?.finishReason, "STOP")
    t.match(last?.usageMetadata, { promptTokenCount: 12, candidatesTokenCount: 5, thoughtsTokenCount: 3, cachedContentTokenCount: 8 })
    const path = "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    t.match(emulator.requests, [{ path, headers: { "x-goog-api-key": apiKey } }], "the key is not in the address")
  }
)

t.test("given the vendor's client, when it does not stream, then it reads the same", async (t) => {
  const { client, emulator } = await given(t)
  emulator.script({ text: ["Hello ", "you"], promptTokens: 3 }, json(blocked("SAFETY")))
  const answer = await client.models.generateContent(ask)
  t.equal(answer.text, "Hello you")
  t.match(await client.models.generateContent(ask), { promptFeedback: { blockReason: "SAFETY" } })
})

t.test("given the vendor's client, then it recognizes the emulator's errors", async (t) => {
  const { client, emulator } = await given(t)
  const fails = async (asked: Promise<unknown>, status: number, words: RegExp, what: string) => {
    const error = await errorOf(asked)
    t.ok(error instanceof ApiError && error.status === status && words.test(error.message), what)
  }
  await fails(clientOf("wrong", emulator.origin).models.generateContent(ask), 400, /API_KEY_INVALID/, "a wrong key")
  emulator.script(json(quotaExceeded("Slow down", "7s"), 429))
  await fails(client.models.generateContent(ask), 429, /"retryDelay":"7s"/, "no quota")
  emulator.script({ pieces: [event(chunk([{ text: "One" }])), event(errorBody(503, "UNAVAILABLE", "Overloaded"))] })
  const broken = allOf(await client.models.generateContentStream(ask))
  await fails(broken, 503, /UNAVAILABLE/, "an error in the middle")
})

t.test("given the vendor's client, when a request is not as the vendor documents it, then it is refused", async (t) => {
  const { client } = await given(t)
  const called = { role: "model", parts: [{ functionCall: { id: "c1", name: "booked", args: {} } }] }
  const response = { role: "user", parts: [{ functionResponse: { id: "c1", name: "booked", response: {} } }] }
  const refused: ReadonlyArray<readonly [what: string, request: GenerateContentParameters]> = [
    ["two turns of the user", { ...ask, contents: [user("Hello"), user("Hello")] }],
    ["the model first", { ...ask, contents: [called, response] }],
    ["the model last", { ...ask, contents: [user("Hello"), { role: "model", parts: [{ text: "He" }] }] }],
    ["an empty text", { ...ask, contents: [user("")] }],
    ["a call without its response", { ...ask, contents: [user("Hello"), called, user("And?")] }],
    ["a response without its call", { ...ask, contents: [response] }],
    ["a call without its signature", { ...ask, model: "gemini-3.5-flash", contents: [user("Hello"), called, response] }],
    ["a name that begins with a digit", { ...ask, config: { tools: [{ functionDeclarations: [{ name: "2_weeks" }] }] } }],
    ["a level that the model does not have", { ...ask, config: { thinkingConfig: { thinkingLevel: ThinkingLevel.LOW } } }]
  ]
  for (const [what, request] of refused) {
    const error = await errorOf(client.models.generateContent(request))
    t.ok(error instanceof ApiError && error.status === 400, what)
  }
})
