/** The emulators of the chat-completions protocol and of transcription, tested with the vendor's own client. */
import { connect } from "node:net"
import OpenAI, { toFile } from "openai"
import { OpenAIRealtimeWS } from "openai/realtime/ws"
import t, { type Test } from "tap"
import { speechForm } from "#adapters/voice/shared/speechForm.ts"
import { encode } from "#core/audio/Mulaw.ts"
import { chunk, done, errorBody, event } from "#test/emulators/openai/completions.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { TranscriptionEmulator } from "#test/emulators/openai/TranscriptionEmulator.ts"
import { json } from "#test/emulators/shared/ModelEmulator.ts"
import { untilTrue } from "#test/support/until.ts"

const apiKey = "sk-emulated"
const given = async (t: Test) => {
  const emulator = await OpenAiEmulator.start({ apiKey })
  const client = new OpenAI({ apiKey, baseURL: emulator.url, maxRetries: 0 })
  t.teardown(() => emulator.stop())
  return { client, emulator }
}
/** The error of a request that must fail. */
const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    (error: unknown) => error
  )
const ask = { model: "emulated", messages: [{ role: "user" as const, content: "Hello" }] }
const tools = [{ type: "function" as const, function: { name: "booked", description: "", parameters: { type: "object", properties: {} } } }]

t.test("given the vendor's client, when it streams, then it reads text, calls, the reason to stop and the usage", async (t) => {
  const { client, emulator } = await given(t)
  emulator.script({
    text: ["Fine, ", "see you."],
    calls: [
      { name: "booked", arguments: ['{"da', 'y":"Friday"}'] },
      { name: "booked", arguments: ["{}"] }
    ],
    promptTokens: 12,
    completionTokens: 5,
    cachedTokens: 8
  })
  const stream = client.chat.completions.stream({ ...ask, tools, stream_options: { include_usage: true } })
  const final = await stream.finalChatCompletion()
  t.match(final.choices, [
    {
      finish_reason: "tool_calls",
      message: {
        content: "Fine, see you.",
        tool_calls: [{ function: { name: "booked", arguments: '{"day":"Friday"}' } }, { function: { name: "booked", arguments: "{}" } }]
      }
    }
  ])
  t.match(final.usage, { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } })
  t.match(emulator.requests, [{ path: "/v1/chat/completions", headers: { authorization: `Bearer ${apiKey}` }, body: { stream: true } }])
})

t.test("given the vendor's client, when it does not stream, then it reads the same", async (t) => {
  const { client, emulator } = await given(t)
  emulator.script({ text: ["Hello ", "you"], promptTokens: 3 })
  t.match(await client.chat.completions.create(ask), {
    choices: [{ finish_reason: "stop", message: { content: "Hello you" } }],
    usage: { prompt_tokens: 3 }
  })
})

t.test("given the vendor's client, then it recognizes the emulator's errors", async (t) => {
  const { client, emulator } = await given(t)
  const stranger = new OpenAI({ apiKey: "wrong", baseURL: emulator.url, maxRetries: 0 })
  t.match(await errorOf(stranger.chat.completions.create(ask)), { status: 401, code: "invalid_api_key" })
  emulator.script(json(errorBody("Slow down", "rate_limit_error", "rate_limit_exceeded"), 429))
  t.match(await errorOf(client.chat.completions.create(ask)), { status: 429, code: "rate_limit_exceeded" })
  t.match(await errorOf(client.chat.completions.create({ ...ask, tools: [] })), { status: 400 })
  const call = { id: "1", type: "function" as const, function: { name: "booked", arguments: "{}" } }
  const unanswered = { ...ask, messages: [...ask.messages, { role: "assistant" as const, tool_calls: [call] }, ...ask.messages] }
  t.match(await errorOf(client.chat.completions.create(unanswered)), { status: 400 }, "a call without its result is refused")

  emulator.script({ pieces: [event(chunk({ content: "One" })), event(errorBody("Overloaded", "server_error")), done] })
  const heard: Array<string> = []
  const broken = async () => {
    for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true }))
      heard.push(choices[0]?.delta.content ?? "")
  }
  t.match(await errorOf(broken()), { type: "server_error" })
  t.strictSame(heard, ["One"])
})

t.test("given the vendor's client, when it gives up a stream, then the emulator notices", async (t) => {
  const { client, emulator } = await given(t)
  emulator.script({ pieces: [event(chunk({ content: "One" }))], ending: "hang" })
  const stream = await client.chat.completions.create({ ...ask, stream: true })
  for await (const { choices } of stream) {
    t.match(choices, [{ delta: { content: "One" } }])
    break
  }
  await emulator.untilAbandoned()
})

t.test("given the vendor's client, then it reads transcriptions, over HTTP and over its socket", async (t) => {
  const emulator = await new TranscriptionEmulator().listen()
  t.teardown(() => emulator.stop())
  const client = new OpenAI({ apiKey: emulator.key, baseURL: emulator.url, maxRetries: 0 })
  const { body, mediaType } = speechForm({}, [emulator.speech.audioOf("yes please")], 1000)
  const file = (await new Response(body, { headers: { "content-type": mediaType } }).formData()).get("file")
  if (!(file instanceof File)) throw new Error("The form has no file")
  const { segments, text } = await client.audio.transcriptions.create({
    file: await toFile(file, "speech.wav"),
    model: "whisper-1",
    language: "en",
    response_format: "verbose_json"
  })
  t.strictSame([text, segments?.[0]?.no_speech_prob], ["yes please", 0.1])
  await t.rejects(
    client.audio.transcriptions.create({ file, model: "gpt-4o-transcribe", response_format: "verbose_json" }),
    /not compatible/
  )
  const phoneInput = { format: { type: "audio/pcmu" as const }, transcription: { model: "gpt-4o-transcribe" }, turn_detection: null }
  // The client insists on TLS, and a connection of ours has none.
  const options = { createConnection: () => connect(Number(new URL(emulator.origin).port), "127.0.0.1") }
  const realtime = new OpenAIRealtimeWS({ model: "gpt-4o-transcribe", options }, client)
  const said: Array<string> = []
  realtime.on("conversation.item.input_audio_transcription.completed", ({ transcript }) => void said.push(transcript))
  realtime.on("session.created", () => {
    realtime.send({ type: "session.update", session: { type: "transcription", audio: { input: phoneInput } } })
    const audio = Buffer.from(encode(emulator.speech.audioOf("yes please"))).toString("base64")
    realtime.send({ type: "input_audio_buffer.append", audio })
    realtime.send({ type: "input_audio_buffer.commit" })
  })
  await untilTrue("the text", () => said.length > 0)
  t.strictSame(said, ["yes please"])
  realtime.close()
})
