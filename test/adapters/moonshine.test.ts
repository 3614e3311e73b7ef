/** Moonshine with a real model: processes that die, a model that is not there, noise, and speech without an end. */
import { Deferred, Effect, Exit, Fiber, type Scope } from "effect"
import { readFile } from "node:fs/promises"
import t, { type Test } from "tap"
import { hello, yes } from "#adapters/simulated/spokenWords.ts"
import { moonshine } from "#adapters/voice/moonshine/moonshine.ts"
import { makeTranscriber, type Transcriber } from "#adapters/voice/moonshine/Transcriber.ts"
import { decode, encode, frameSize } from "#core/audio/Mulaw.ts"
import type { RecognizerEvent, RecognizerHints } from "#core/model/SpeechToText.ts"
import { lineNoise } from "#test/support/hearing/openTrial.ts"
import { keptSpeech } from "#test/support/keptSpeech.ts"
import { moonshineModel, moonshineUnavailable } from "#test/support/moonshine.ts"
import { runLive } from "#test/support/run.ts"
import { nothing, samplesOf } from "#test/support/sound.ts"
import { untilTrue } from "#test/support/until.ts"

const skip = (await moonshineUnavailable()) ?? false
const heard = (name: string, test: (t: Test) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>): void =>
  void t.test(name, { skip }, (t) => runLive(Effect.gen(() => test(t))))

const transcribing = (mostWaiting = 10) => {
  const model = moonshineModel("tiny")
  return makeTranscriber({
    models: () => ({ careful: undefined, quick: model }),
    atOnce: 1,
    mostWaiting,
    timeout: "10 minutes",
    idle: "1 hour"
  })
}
const hints: RecognizerHints = { language: "en-US", keyterms: [], phrases: [] }
const request = () => ({
  audio: encode(keptSpeech("slt", "I will call you back tomorrow.")),
  isShort: false,
  phrases: [],
  grammar: undefined
})

/** A call that is listened to. */
const listening = (transcriber: Transcriber) =>
  Effect.gen(function* () {
    const events: Array<RecognizerEvent> = []
    const recognizer = moonshine({ transcriber, model: "tiny", languages: ["en"], unready: () => undefined })
    const session = yield* Effect.orDie(recognizer.open(hints, (event) => void events.push(event)))
    const hears = (samples: Int16Array) => {
      for (let at = 0; at + frameSize <= samples.length; at += frameSize) session.write(samples.subarray(at, at + frameSize))
    }
    const answered = (count: number) =>
      untilTrue("answer", () => events.filter((event) => event._tag === "Final" && event.isForced).length === count)
    return { events, hears, session, answered: (count: number) => Effect.promise(() => answered(count)) }
  })

heard(
  "given a process that is killed while it works, then another one transcribes the utterance, without the engine's environment",
  function* (t) {
    process.env["MOONSHINE_CANARY"] = "hunter2"
    const transcriber = yield* transcribing()
    yield* transcriber.warm
    const [first] = transcriber.pids()
    t.notMatch(yield* Effect.promise(() => readFile(`/proc/${first}/environ`, "utf8")), "hunter2", "which holds secrets")
    const asked = yield* Effect.forkScoped(transcriber.transcribe(request()))
    yield* Effect.promise(() => untilTrue("work", () => transcriber.depth() === 1))
    process.kill(first ?? 0, "SIGKILL")
    const { text } = yield* Fiber.join(asked)
    t.match(text, /call you back/i)
    t.not(transcriber.pids()[0], first)
  }
)

heard("given phones that begin to ring at the same time, then they start one process, not one each", function* (t) {
  const transcriber = yield* transcribing()
  yield* Effect.all([transcriber.warm, transcriber.warm, transcriber.warm], { concurrency: "unbounded" })
  t.equal(transcriber.pids().length, 1)
})

heard("given more utterances than may wait, then the last is refused, and the others are transcribed", function* (t) {
  const transcriber = yield* transcribing(1)
  const exits = yield* Effect.all(
    [1, 2, 3].map(() => Effect.exit(transcriber.transcribe(request()))),
    { concurrency: "unbounded" }
  )
  t.strictSame(exits.map(Exit.isSuccess), [true, true, false])
  t.equal(transcriber.depth(), 0)
})

heard("given what simulated people say, then it is understood", function* (t) {
  const transcriber = yield* transcribing()
  for (const [word, speech] of [
    ["hello", hello],
    ["yes", yes]
  ] as const) {
    const { answered, events, hears, session } = yield* listening(transcriber)
    hears(samplesOf(nothing(400)))
    hears(decode(speech))
    hears(samplesOf(nothing(400)))
    session.finalize()
    yield* answered(1)
    t.match(events.map((event) => (event._tag === "Final" ? event.text : "")).join(" "), new RegExp(`^\\W*${word}\\W*$`, "i"))
  }
})

heard("given speech that is cut in the middle of a word, then the whole is understood, in place of its first part", function* (t) {
  const transcriber = yield* transcribing()
  const said = keptSpeech("slt", "I will call you back tomorrow.")
  const half = frameSize * Math.floor(said.length / frameSize / 2)
  const hearing = (settles: boolean) =>
    Effect.gen(function* () {
      const { answered, events, hears, session } = yield* listening(transcriber)
      hears(samplesOf(nothing(400)))
      hears(said.subarray(0, half))
      session.finalize()
      yield* answered(1)
      if (settles) session.settle?.()
      hears(said.subarray(half))
      hears(samplesOf(nothing(400)))
      session.finalize()
      yield* answered(2)
      return events.flatMap((event) => (event._tag === "Final" ? [event] : []))
    })
  const [part, whole] = yield* hearing(false)
  t.match(whole, { text: /^I will call you back tomorrow/, replaces: true, fromMillis: part?.fromMillis })
  const [, rest] = yield* hearing(true)
  t.notMatch(rest?.text, /call/, "unless the first part has been answered")
  t.equal(rest?.replaces, undefined)
})

t.test("given no model, then a call without a recognizer may try again, and knows why", async (t) => {
  const transcriber: Transcriber = {
    transcribe: () => Effect.die("nobody is listened to"),
    glimpse: () => Effect.undefined,
    warm: Effect.void,
    depth: () => 0,
    pids: () => []
  }
  const recognizer = moonshine({ transcriber, model: "tiny", languages: ["en"], unready: () => "it is being fetched" })
  const error = await runLive(Effect.flip(recognizer.open(hints, () => {})))
  t.match(error, { isRetryable: true, message: "it is being fetched" })
})

t.test("given a callee who goes on while what they have said is transcribed", async (t) => {
  const [first, second] = ["I will call you back.", "Tomorrow at noon."].map((text) => encode(keptSpeech("slt", text)))
  /** Part of each of them, which is in a request if it is transcribed there. */
  const partsIn = (audio: Uint8Array) =>
    [first, second].map((said = new Uint8Array()) =>
      Buffer.from(audio).includes(Buffer.from(said.subarray(said.length / 2, said.length / 2 + frameSize)))
    )
  /** What each request has of both, if the first one is understood or is not. */
  const requested = (text: string) =>
    runLive(
      Effect.gen(function* () {
        const requests: Array<ReadonlyArray<boolean>> = []
        const [isBusy, isDone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const transcription = (text: string) => ({ text, tokens: 1, nearest: undefined, residentBytes: 0 })
        const transcriber: Transcriber = {
          transcribe: Effect.fnUntraced(function* ({ audio }) {
            requests.push(partsIn(audio))
            if (requests.length > 1) return transcription("noon")
            yield* Deferred.succeed(isBusy, undefined)
            yield* Deferred.await(isDone)
            return transcription(text)
          }),
          glimpse: () => Effect.undefined,
          warm: Effect.void,
          depth: () => 0,
          pids: () => []
        }
        const { answered, hears, session } = yield* listening(transcriber)
        hears(samplesOf(nothing(400)))
        for (const said of [first, second]) {
          hears(decode(said ?? new Uint8Array()))
          hears(samplesOf(nothing(400)))
          session.finalize()
          yield* Deferred.await(isBusy)
        }
        yield* Deferred.succeed(isDone, undefined)
        yield* answered(2)
        return requests
      })
    )
  t.strictSame(
    await requested("call you"),
    [
      [true, false],
      [false, true]
    ],
    "then nothing that was understood is transcribed again"
  )
  t.strictSame(
    await requested(""),
    [
      [true, false],
      [true, true]
    ],
    "then what was not understood is"
  )
})

heard("given ten seconds of noise on the line, half of it with bursts, then no word is heard", function* (t) {
  const { answered, events, hears, session } = yield* listening(yield* transcribing())
  const steady = lineNoise(10_000, 200)
  const loud = lineNoise(10_000, 2000)
  hears(samplesOf(steady.map((sample, at) => (at > steady.length / 2 && at % 12_000 < 2000 ? (loud[at] ?? 0) : sample))))
  session.finalize()
  yield* answered(1)
  t.strictSame(
    events.flatMap((event) => ("text" in event && event.text !== "" ? [event.text] : [])),
    []
  )
})

heard("given a callee who does not pause, then what they say is understood in parts, and looked at while they speak", function* (t) {
  const { answered, events, hears, session } = yield* listening(yield* transcribing())
  const sentence = keptSpeech("slt", "I would like to come on Friday but I have to work")
  hears(samplesOf(nothing(500)))
  hears(sentence)
  yield* Effect.promise(() => untilTrue("a partial text", () => events.some(({ _tag }) => _tag === "Partial")))
  t.notOk(events.some(({ _tag }) => _tag === "Final"))
  for (let count = 0; count < 9; count++) hears(sentence)
  session.finalize()
  yield* answered(1)
  const parts = events.flatMap((event) => (event._tag === "Final" ? [event] : []))
  t.strictSame(
    parts.map(({ isForced }) => isForced),
    parts.map((_, at) => at === parts.length - 1),
    "then each part but the last comes by itself"
  )
  t.ok(parts.length >= 2)
  t.ok(
    parts.every(({ fromMillis, untilMillis }) => untilMillis - fromMillis <= 21_000),
    "then no part is longer than a model can take"
  )
})
