/** A greeting is spoken sentence by sentence: what the callee hears, and what counts as said, when its sentences become ready one by one. */
import { Deferred, Effect, Layer } from "effect"
import t from "tap"
import { Tts, TtsError } from "#runtime/voice/Tts.ts"
import type { Loopback } from "#test/support/voiceScene.ts"
import { stretches, voiceIn } from "./callVoice.ts"

const { attached } = await voiceIn(t)

/** With markup, which is not said. */
const greeting = "**Hello** dear [Ada](https://acme.example). Your bill is due now 💸. Good bye."
const pieces = ["Hello dear Ada.", "Your bill is due now.", "Good bye."]
const whole = pieces.join(" ")
const frames = 10

/** Speech that is ready when the test says so: ten frames of a loud tone for each sentence. */
const speechOnDemand = () => {
  const asked: Array<string> = []
  const outcomes = pieces.map(() => Deferred.makeUnsafe<Uint8Array, TtsError>())
  const outcomeOf = (piece: number) => outcomes[piece] ?? Deferred.makeUnsafe<Uint8Array, TtsError>()
  const speak = (text: string) =>
    Effect.suspend(() => {
      asked.push(text)
      return Deferred.await(outcomeOf(pieces.indexOf(text)))
    })
  const settle = (piece: number, outcome: Effect.Effect<Uint8Array, TtsError>) =>
    Effect.andThen(Deferred.complete(outcomeOf(piece), outcome), Effect.repeat(Effect.yieldNow, { times: 20 }))
  return {
    asked,
    layer: Layer.succeed(Tts, {
      engine: "tone",
      voice: "x",
      firstSoundMillis: 0,
      speak,
      warm: () => Effect.void,
      isCrowdedBy: () => false
    }),
    made: (piece: number) => settle(piece, Effect.succeed(new Uint8Array(frames * 160).fill(0x10))),
    failed: (piece: number, reason: TtsError["reason"]) => settle(piece, Effect.fail(new TtsError({ reason })))
  }
}

let runId = 0
type Speech = ReturnType<typeof speechOnDemand>
const call = async (act: (speech: Speech, line: Loopback) => Generator<Effect.Effect<unknown>, unknown, never>) => {
  const speech = speechOnDemand()
  const { events, kept, line } = await attached(
    { opening: { greeting }, plan: { runId: ++runId, record: false, detectMachine: false }, voices: { tts: speech.layer } },
    function* ({ line }) {
      yield* Effect.gen(() => act(speech, line))
    }
  )
  const said = kept.transcript.replace(/^\[.*?\] assistant: /gm, "")
  const errors = kept.events.flatMap(({ payload, type }) => (type === "rtf-pipeline-error" ? [payload] : []))
  return { asked: speech.asked, errors, heard: stretches(line.sent), events, kept, said }
}

t.test("given sentences that are ready in time, when the greeting is said, then there is no gap between them", async (t) => {
  const { asked, events, heard, kept, said } = await call(function* ({ made }, line) {
    for (const piece of [0, 1, 2]) yield* made(piece)
    line.talk(40)
  })
  t.strictSame([asked, heard, said], [pieces, [30, -10], `${whole}\n`])
  t.strictSame(events, [])
  t.strictSame(kept.usage.tts, { "tone#0|||x": pieces.join("").length })
})

t.test("given a first sentence that is ready, when the second is late, then each is heard as soon as it is ready", async (t) => {
  const { events, heard, said } = await call(function* ({ made }, line) {
    yield* made(0)
    line.talk(15)
    // The third sentence is of no use without the second.
    yield* made(2)
    line.talk(5)
    yield* made(1)
    line.talk(30)
  })
  t.strictSame([heard, said], [[10, -10, 20, -10], `${whole}\n`])
  t.strictSame(events, [])
})

t.test("given a callee who hangs up in the second sentence, when the call is reported, then only what was heard was said", async (t) => {
  const { events, heard, said } = await call(function* ({ made }, line) {
    for (const piece of [0, 1, 2]) yield* made(piece)
    line.talk(16)
    line.end("hung up")
    line.talk(20)
  })
  t.strictSame([heard, said], [[16], "Hello dear Ada. Your bill\n"])
  t.strictSame(events, [{ _tag: "MediaClosed", how: "unknown", why: "hung up" }])
})

t.test("given a second sentence that is not made", async (t) => {
  const without = (reason: TtsError["reason"]) =>
    call(function* ({ failed, made }, line) {
      yield* made(0)
      yield* failed(1, reason)
      yield* made(2)
      line.talk(40)
    })
  const crashed = await without("Crashed")
  t.strictSame([crashed.heard, crashed.said], [[10, -30], "Hello dear Ada.\n"], "when that fails, then what was said before counts")
  const error = "A line could not be spoken: the worker that makes speech has crashed"
  t.match(crashed.errors, [{ error, fatal: false }], "and the run reports the failure")
  const { errors, heard } = await without("Unspeakable")
  t.strictSame([heard, errors], [[20, -20], []], "when nothing in it can be spoken, then it is left out")
})
