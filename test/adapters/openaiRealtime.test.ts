/** Callees as OpenAI hears them over its socket: what the service is told, the order of its texts, and its faults. */
import t from "tap"
import type { RealtimeConnection } from "#test/emulators/openai/RealtimeConnection.ts"
import { untilTrue } from "#test/support/until.ts"
import { hints, listen, noise, waits } from "./transcriptionScene.ts"

t.test("given a socket, then the service is told how to listen, and hears only what is said", async (t) => {
  const { call, close, events, says, session, texts } = await listen(t, { connection: "socket" })
  for (let frame = 0; frame < 3; frame++) session.write(noise, true)
  session.finalize()
  t.strictSame(texts(), [""], "too little is answered at once")
  waits(session, 100)
  says("my number is four")
  session.finalize()
  await untilTrue("the text", () => texts().length > 1)
  const listening = await call()
  t.strictSame(listening.commits, [(3 + 20 + 25) * 160], "400 ms of silence precede half a second of speech")
  const transcription = { model: "whisper-1", language: "no", prompt: "Trunkline, Ada." }
  t.match(listening.setups, [{ audio: { input: { transcription, turn_detection: null } } }])
  t.match(events.slice(1, 3), [
    { _tag: "Partial", text: "my" },
    { _tag: "Partial", text: "my number" }
  ])
  session.hint({ ...hints, phrases: ["no"] })
  session.hint({ ...hints, keyterms: ["Grace"] })
  says("not to the agent")
  waits(session, 100)
  await untilTrue("silence", () => listening.cleared === 1)
  t.match(listening.setups.slice(1), [{ audio: { input: { transcription: { prompt: "Grace." } } } }])
  await close()
  await untilTrue("the end", () => listening.closedWith === 1000)
})

t.test("given one text after another on the socket, then partial texts are of the present one, and inventions are dropped", async (t) => {
  const { events, says, session, texts } = await listen(t, { connection: "socket" })
  says("yes please")
  session.finalize()
  await untilTrue("the text", () => texts().length > 0)
  session.settle?.()
  for (let frame = 0; frame < 20; frame++) session.write(noise, true)
  session.finalize()
  await untilTrue("another text", () => texts().length > 1)
  t.strictSame(texts(), ["yes please", ""])
  t.strictSame(events[3], { _tag: "Partial", text: "Thank" })
})

t.test("given a text on the socket that comes before an earlier one, or not at all, then the answers come in order", async (t) => {
  const { call, says, session, texts } = await listen(t, { connection: "socket" })
  const listening = await call()
  listening.gate.close(true)
  says("one")
  session.finalize()
  await untilTrue("a commit", () => listening.gate.held === 1)
  listening.overtakes = true
  says("two")
  session.finalize()
  await untilTrue("another commit", () => listening.commits.length === 2)
  listening.leastBytes = 1_000_000
  says("three")
  session.finalize()
  await untilTrue("a refused commit", () => listening.commits.length === 3)
  t.strictSame(texts(), [])
  listening.gate.close(false)
  await untilTrue("the texts", () => texts().length === 3)
  t.strictSame(texts(), ["one", "one two", ""])
})

t.test("given a socket that reports an error, then the session is over, once, and says why without what was said", async (t) => {
  const failed = "conversation.item.input_audio_transcription.failed"
  const faults: ReadonlyArray<readonly [(call: RealtimeConnection) => void, object]> = [
    [(call) => call.fail("invalid_request_error", "session_expired"), { reason: "broken", isRetryable: true, message: /session_expired$/ }],
    [(call) => call.fail("invalid_request_error", "model_not_found"), { reason: "refused", isRetryable: false }],
    [(call) => call.tell({ type: failed, item_id: "item_1", error: { code: "insufficient_quota" } }), { reason: "credit" }],
    [(call) => call.close(1011, "secret words"), { reason: "broken", isRetryable: true, message: "the connection was closed with 1011" }]
  ]
  for (const [happens, error] of faults) {
    const { call, events, failures, says, session } = await listen(t, { connection: "socket" })
    happens(await call())
    await untilTrue("the failure", () => failures().length > 0)
    t.match(failures(), [error])
    t.notMatch(failures()[0]?.message, /secret/)
    says("more")
    session.finalize()
    t.equal(events.length, 1)
  }
})
