/** PocketSphinx in tests: what callees say to it, and calls that it listens to. */
import { Effect, type Scope } from "effect"
import t, { type Test } from "tap"
import { pocketsphinx as recognizer } from "#adapters/voice/pocketsphinx/pocketsphinx.ts"
import { makeRecognition, type Recognition } from "#adapters/voice/pocketsphinx/Recognition.ts"
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"
import { pocketsphinx, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { runLive } from "#test/support/run.ts"
import { until } from "#test/support/until.ts"

const skip = (await pocketsphinxUnavailable()) ?? false
const flite = loadFlite()

/** A test that needs PocketSphinx. */
export const heard = (name: string, test: (t: Test) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>): void =>
  void t.test(name, { skip }, (t) => runLive(Effect.gen(() => test(t))))

/** What a voice says, at 8 kHz. */
export const pcm = (text: string, voice: FliteVoice = "rms"): Int16Array => {
  const { rate, samples } = synthesize(flite, voice, text)
  return resample(samples, rate, sampleRate)
}
export const quiet = (millis: number): Int16Array => new Int16Array((millis * sampleRate) / 1000)

export const recognizing = (options: { readonly listening?: number; readonly mostWaiting?: number } = {}) =>
  makeRecognition({ files: pocketsphinx(), listening: 4, processes: 1, mostWaiting: 100, timeout: "10 minutes", ...options })

interface Call {
  readonly session: RecognizerSession
  readonly hears: (...parts: ReadonlyArray<Int16Array>) => void
  /** Finalizes, and returns the events up to the answer, and those that follow it at once. */
  readonly answer: Effect.Effect<ReadonlyArray<RecognizerEvent>>
  /** The text that answers `finalize`. */
  readonly text: Effect.Effect<string>
}

export const call = (recognition: Recognition, hints: RecognizerHints): Effect.Effect<Call, never, Scope.Scope> =>
  Effect.gen(function* () {
    const events: Array<RecognizerEvent> = []
    const session = yield* Effect.orDie(recognizer(recognition).open(hints, (event) => void events.push(event)))
    const hears: Call["hears"] = (...parts) => {
      for (const part of parts) {
        for (let at = 0; at + frameSize <= part.length; at += frameSize) session.write(part.subarray(at, at + frameSize))
      }
    }
    const answer = Effect.promise(() => {
      session.finalize()
      return until("answer", () => (events.some(({ _tag }) => _tag === "Final") ? events.splice(0) : undefined))
    })
    const text = Effect.map(answer, (events) => events.flatMap((event) => (event._tag === "Final" ? [event.text] : []))[0] ?? "")
    return { session, hears, answer, text }
  })
