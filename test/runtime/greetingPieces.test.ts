/** A greeting is spoken sentence by sentence: what the callee hears, and what counts as said, when its sentences become ready one by one. */
import { Deferred, Effect, Layer } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import { Files } from "#runtime/storage/Files.ts"
import { Tts, TtsError } from "#runtime/voice/Tts.ts"
import type { VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { callingWith, eventsOf, isNoise, loopback, plan } from "#test/support/voiceScene.ts"

const folder = await mkdtemp(join(tmpdir(), "greeting-pieces-"))
t.teardown(() => rm(folder, { recursive: true }))
const calling = callingWith(Files.layerLocal(folder))

const greeting = "Hello dear Ada. Your bill is due now. Good bye."
const pieces = ["Hello dear Ada.", "Your bill is due now.", "Good bye."]
const frames = 10

/** Speech that is ready when the test says so: ten frames of a loud tone for each sentence. */
const speechOnDemand = () => {
  const asked: Array<string> = []
  const outcomes = new Map<string, Deferred.Deferred<Uint8Array, TtsError>>()
  const outcomeOf = (text: string) => {
    const outcome = outcomes.get(text) ?? Deferred.makeUnsafe<Uint8Array, TtsError>()
    outcomes.set(text, outcome)
    return outcome
  }
  const speak = (text: string) =>
    Effect.suspend(() => {
      asked.push(text)
      return Deferred.await(outcomeOf(text))
    })
  const settle = (text: string | undefined, outcome: Effect.Effect<Uint8Array, TtsError>) =>
    Effect.andThen(Deferred.complete(outcomeOf(text ?? ""), outcome), Effect.repeat(Effect.yieldNow, { times: 20 }))
  return {
    asked,
    layer: Layer.succeed(Tts, { engine: "tone", voice: "x", speak, warm: () => Effect.void, isCrowdedBy: () => false }),
    made: (text: string | undefined) => settle(text, Effect.succeed(new Uint8Array(frames * 160).fill(0x10))),
    failed: (text: string | undefined, reason: TtsError["reason"]) => settle(text, Effect.fail(new TtsError({ reason })))
  }
}

/** The lengths of the stretches of speech and, as negative numbers, of noise. */
const stretches = (sent: ReadonlyArray<Uint8Array>) => {
  const found: Array<number> = []
  for (const step of sent.map((frame) => (isNoise(frame) ? -1 : 1))) {
    const last = found.at(-1) ?? 0
    if (last * step > 0) found[found.length - 1] = last + step
    else found.push(step)
  }
  return found
}

const call = async (
  runId: number,
  act: (speech: ReturnType<typeof speechOnDemand>, line: ReturnType<typeof loopback>) => Effect.Effect<void>
) => {
  const line = loopback()
  const speech = speechOnDemand()
  const { emit, events } = eventsOf()
  const greeted: VoicePlan = { ...plan, runId, greeting, record: false, detectMachine: false }
  const report = await calling(
    line,
    Effect.gen(function* () {
      const session = yield* (yield* VoiceAgent).attach(greeted, line.media, emit)
      yield* act(speech, line)
      return yield* session.finish
    }),
    { tts: speech.layer }
  )
  const said = report.transcriptText.replace(/^\[.*?\] assistant: /gm, "")
  return { asked: speech.asked, heard: stretches(line.sent), events, report, said }
}

t.test("given sentences that are ready in time, when the greeting is said, then there is no gap between them", async (t) => {
  const { asked, events, heard, report, said } = await call(1, (speech, line) =>
    Effect.gen(function* () {
      for (const piece of pieces) yield* speech.made(piece)
      line.talk(40)
    })
  )
  t.strictSame([asked, heard, said], [pieces, [30, -10], `${greeting}\n`])
  t.strictSame(events, [{ _tag: "GreetingSpoken" }])
  t.strictSame(report.usage.tts, { "tone#0|||x": greeting.length })
})

t.test(
  "given a first sentence that is ready, when the second is late, then the first is heard at once and the second when it is ready",
  async (t) => {
    const { events, heard, said } = await call(2, (speech, line) =>
      Effect.gen(function* () {
        yield* speech.made(pieces[0])
        line.talk(15)
        // The third sentence is of no use without the second.
        yield* speech.made(pieces[2])
        line.talk(5)
        yield* speech.made(pieces[1])
        line.talk(30)
      })
    )
    t.strictSame([heard, said], [[10, -10, 20, -10], `${greeting}\n`])
    t.strictSame(events, [{ _tag: "GreetingSpoken" }])
  }
)

t.test(
  "given a callee who hangs up during the second sentence, when the call is reported, then only what they heard counts as said",
  async (t) => {
    const { events, heard, said } = await call(3, (speech, line) =>
      Effect.gen(function* () {
        for (const piece of pieces) yield* speech.made(piece)
        line.talk(16)
        line.end("hung up")
        line.talk(20)
      })
    )
    t.strictSame([heard, said], [[16], "Hello dear Ada. Your bill\n"])
    t.strictSame(events, [{ _tag: "MediaClosed", how: "unknown", why: "hung up" }])
  }
)

t.test(
  "given a sentence that cannot be made, when others were said before, then these count, and the run reports the failure",
  async (t) => {
    const { heard, report, said } = await call(4, (speech, line) =>
      Effect.gen(function* () {
        yield* speech.made(pieces[0])
        yield* speech.failed(pieces[1], "Crashed")
        yield* speech.made(pieces[2])
        line.talk(40)
      })
    )
    t.strictSame([heard, said], [[10, -30], "Hello dear Ada.\n"])
    t.match(
      report.events.filter(({ type }) => type === "rtf-pipeline-error"),
      [{ payload: { error: "The greeting could not be spoken: the worker that makes speech has crashed", fatal: false } }]
    )
  }
)

t.test("given a sentence in which nothing can be spoken, when the greeting is said, then it is left out", async (t) => {
  const { heard, report } = await call(5, (speech, line) =>
    Effect.gen(function* () {
      yield* speech.made(pieces[0])
      yield* speech.failed(pieces[1], "Unspeakable")
      yield* speech.made(pieces[2])
      line.talk(40)
    })
  )
  t.strictSame(heard, [20, -20])
  t.strictSame(
    report.events.filter(({ type }) => type === "rtf-pipeline-error"),
    []
  )
})
