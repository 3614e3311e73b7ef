/** PocketSphinx as the recognizer of a call: frames in, texts out, with the pauses that callees make. */
import { Effect, type Scope } from "effect"
import t from "tap"
import { pocketsphinx as recognizer } from "#adapters/voice/pocketsphinx/pocketsphinx.ts"
import { makeRecognition, type Recognition } from "#adapters/voice/pocketsphinx/Recognition.ts"
import { leastScorePerFrame } from "#adapters/voice/pocketsphinx/Sphinx.ts"
import { makeUtterance } from "#adapters/voice/pocketsphinx/Utterance.ts"
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"
import { pocketsphinx, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { runLive } from "#test/support/run.ts"
import { after, framesOf, hiss, over } from "#test/support/sound.ts"
import { until } from "#test/support/until.ts"

const skip = (await pocketsphinxUnavailable()) ?? false
const flite = loadFlite()
const pcm = (text: string, voice: FliteVoice = "rms"): Int16Array => {
  const { rate, samples } = synthesize(flite, voice, text)
  return resample(samples, rate, sampleRate)
}
const quiet = (millis: number): Int16Array => new Int16Array((millis * sampleRate) / 1000)
const english: RecognizerHints = { language: "en-US", keyterms: [], phrases: ["yes", "no", "no thank you", "call me back tomorrow"] }

interface Line {
  readonly session: RecognizerSession
  readonly recognition: Recognition
  readonly hears: (...parts: ReadonlyArray<Int16Array>) => void
  /** Finalizes, and returns the events up to the answer, and those that follow it at once. */
  readonly answer: () => Effect.Effect<ReadonlyArray<RecognizerEvent>>
}

const opened = (hints: RecognizerHints = english): Effect.Effect<Line, never, Scope.Scope> =>
  Effect.gen(function* () {
    const recognition = yield* makeRecognition({
      files: pocketsphinx(),
      listening: 4,
      processes: 1,
      mostWaiting: 100,
      timeout: "10 minutes"
    })
    const events: Array<RecognizerEvent> = []
    const session = yield* Effect.orDie(recognizer(recognition).open(hints, (event) => void events.push(event)))
    const hears: Line["hears"] = (...parts) => {
      for (const part of parts) {
        for (let at = 0; at + frameSize <= part.length; at += frameSize) session.write(part.subarray(at, at + frameSize))
      }
    }
    const answer = () =>
      Effect.promise(() => {
        session.finalize()
        return until("answer", () => {
          const isTold = events.some(({ _tag }) => _tag === "Final")
          return isTold ? events.splice(0) : undefined
        })
      })
    return { session, recognition, hears, answer }
  })

const isText = (event: RecognizerEvent | undefined, text: string) => event?._tag === "Final" && event.text === text

t.test("given an expected answer", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { answer, hears } = yield* opened()
      hears(quiet(2000), pcm("no thank you"), quiet(100))
      const [said] = yield* answer()
      t.match(said, { _tag: "Final", text: "no thank you", isForced: true, isAnswer: true }, "then it is recognized")
      if (said?._tag !== "Final") return
      t.ok(said.fromMillis >= 2000 && said.fromMillis < 2500, `then it began after the quiet: ${said.fromMillis} ms`)
      t.ok(said.untilMillis > said.fromMillis && (said.confidence ?? 0) > 0.5)
      hears(quiet(500))
      t.match(yield* answer(), [{ _tag: "Final", text: "", isForced: true, isAnswer: false }], "then the silence after it is nothing")
    })
  )
)

t.test("given a pause in the middle", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { answer, hears } = yield* opened()
      hears(quiet(500), pcm("call me back"), quiet(300))
      const first = yield* answer()
      t.match(first, [{ _tag: "Final", text: "", isUnclear: true }], "then half an answer is not understood")
      hears(pcm("tomorrow"), quiet(200))
      const [second] = yield* answer()
      t.ok(isText(second, "call me back tomorrow"), "but the whole is")
    })
  )
)

t.test("given something else", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { answer, hears, session } = yield* opened()
      hears(quiet(500), pcm("the weather is nice today"), quiet(200))
      t.match(yield* answer(), [{ text: "", isUnclear: true }], "then the answer says that somebody spoke")
      hears(quiet(3000), pcm("yes"), quiet(200))
      const [said] = yield* answer()
      t.ok(isText(said, "yes"), "then it does not spoil what is said after a while")
      session.hint({ ...english, phrases: ["seven", "eight"] })
      hears(quiet(1000), pcm("seven"), quiet(200))
      const [digit] = yield* answer()
      t.ok(isText(digit, "seven"), "then the next node expects something else")
      session.hint({ ...english, phrases: [] })
      hears(quiet(1000), pcm("seven"), quiet(200))
      t.match(yield* answer(), [{ text: "", isUnclear: true }], "then without phrases nothing is understood")
    })
  )
)

t.test("given a noisy line", async (t) => {
  const heardIn = (noise: number) => {
    const utterance = makeUtterance()
    const sound = over(after(quiet(600), pcm("no thank you"), quiet(400)), hiss(3000, noise))
    for (const { samples } of framesOf(sound)) utterance.write(samples)
    return utterance.heard()?.overNoise ?? 0
  }
  t.ok(heardIn(1) > 35, "then a quiet line is distinguished from")
  t.ok(heardIn(300) < 25, "one with noise")
  t.ok(leastScorePerFrame(heardIn(300)) > leastScorePerFrame(heardIn(1)) + 5, "and the limit is stricter in noise")
  t.equal(leastScorePerFrame(60), leastScorePerFrame(40), "but not on quiet lines")
})

t.test("given a grammar with numbers", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const grammar =
        "#JSGF V1.0; grammar node; public <answer> = yes | no | [ for ] <number> [ people ]; " +
        "<number> = (twenty | thirty) [ <digit> ] | <digit>; <digit> = one | two | three | four | five;"
      const { answer, hears } = yield* opened({ ...english, grammar })
      for (const text of ["twenty five", "for three people", "no"]) {
        hears(quiet(2000), pcm(text), quiet(200))
        const [said] = yield* answer()
        t.ok(isText(said, text), `then "${text}" is understood word for word`)
      }
    })
  )
)

t.test("given a recognizer that is killed during a call", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const { answer, hears, recognition } = yield* opened()
      hears(quiet(500), pcm("yes"), quiet(200))
      yield* answer()
      for (const pid of recognition.pids()) process.kill(pid, "SIGKILL")
      hears(quiet(2000), pcm("no"), quiet(200))
      const [said] = yield* answer()
      t.ok(isText(said, "no"), "then the next answer is recognized nevertheless")
    })
  )
)

t.test("given another language", { skip }, (t) =>
  runLive(
    Effect.gen(function* () {
      const recognition = yield* makeRecognition({
        files: pocketsphinx(),
        listening: 4,
        processes: 1,
        mostWaiting: 1,
        timeout: "10 minutes"
      })
      const refused = yield* Effect.flip(recognizer(recognition).open({ ...english, language: "de-DE" }, () => {}))
      t.equal(refused.reason, "refused")
    })
  )
)
