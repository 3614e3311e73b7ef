/** What recognizers understand of recordings of people over a phone line, whatever is said. */
import { Effect } from "effect"
import { spoken } from "#adapters/voice/moonshine/Writing.ts"
import { decode, encode, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { RecognizerEvent, RecognizerHints, SpeechToText } from "#core/model/SpeechToText.ts"
import { after, hiss, levelOf, nothing, over, samplesOf, type Sound } from "#test/support/sound.ts"
import { until } from "#test/support/until.ts"

export const open: RecognizerHints = { language: "en-US", keyterms: [], phrases: [] }

const taps = 129
const lowest = 300
const highest = 3400
/** Blackman-windowed sincs of both edges. */
const band = Float64Array.from({ length: taps }, (_, index) => {
  const at = index - (taps - 1) / 2
  const lowPass = (edge: number) => (at === 0 ? (2 * edge) / sampleRate : Math.sin((2 * Math.PI * edge * at) / sampleRate) / (Math.PI * at))
  const turn = (2 * Math.PI * index) / (taps - 1)
  return (lowPass(highest) - lowPass(lowest)) * (0.42 - 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn))
})

/** As a phone line transmits it: its band, and mu-law. */
export const overPhone = (samples: Int16Array): Int16Array => {
  const all = new Int16Array(samples.length)
  const middle = (taps - 1) / 2
  for (let index = 0; index < samples.length; index++) {
    let sum = 0
    for (let tap = 0; tap < taps; tap++) sum += (band[tap] ?? 0) * (samples[index + middle - tap] ?? 0)
    all[index] = Math.max(-0x8000, Math.min(0x7fff, Math.round(sum)))
  }
  return decode(encode(all))
}

/** Noise whose power falls by 3 dB an octave, of this root mean square: white noise through three low-pass filters. */
const pink = (millis: number, level: number): Float64Array => {
  const [slow, middle, fast] = [new Float64Array(1), new Float64Array(1), new Float64Array(1)]
  const filtered = (state: Float64Array, keep: number, gain: number, white: number): number => {
    state[0] = keep * (state[0] ?? 0) + gain * white
    return state[0]
  }
  const noise = hiss(millis, 1, 7).map(
    (white) =>
      filtered(slow, 0.99765, 0.099046, white) +
      filtered(middle, 0.963, 0.2965164, white) +
      filtered(fast, 0.57, 1.0526913, white) +
      white * 0.1848
  )
  const loudness = levelOf(noise)
  return noise.map((sample) => (sample * level) / loudness)
}
/** Half of its power is white, half of it pink. */
export const lineNoise = (millis: number, level: number): Float64Array => {
  const each = level / Math.SQRT2
  return over(hiss(millis, each), pink(millis, each))
}

/** `share`: the level of the noise relative to the voice. */
export const withNoise = (samples: Int16Array, share: number): Int16Array => {
  const noise = lineNoise((samples.length * 1000) / sampleRate, levelOf(samples) * share)
  return decode(encode(samplesOf(over(samples, noise))))
}

/** What a recognizer understands of it in a call, with quiet around it. */
export const heardIn = (recognizer: SpeechToText, hints: RecognizerHints, said: Sound): Effect.Effect<string> =>
  Effect.scoped(
    Effect.gen(function* () {
      const events: Array<RecognizerEvent> = []
      const session = yield* Effect.orDie(recognizer.open(hints, (event) => void events.push(event)))
      const audio = samplesOf(after(nothing(600), said, nothing(200)))
      for (let from = 0; from + frameSize <= audio.length; from += frameSize) session.write(audio.subarray(from, from + frameSize))
      session.finalize()
      const isOver = () => events.some((event) => event._tag === "Final" && event.isForced)
      yield* Effect.promise(() => until("answer", () => (isOver() ? true : undefined)))
      return events.flatMap((event) => (event._tag === "Final" ? [event.text] : [])).join(" ")
    })
  )

/** The words as they are said: without punctuation and figures. */
export const plainWords = (text: string): ReadonlyArray<string> =>
  spoken(text)
    .toLowerCase()
    .replaceAll("fourtieth", "fortieth")
    .match(/[a-z']+/g) ?? []

/** How many words were replaced, left out or added. */
export const wrongWords = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>): number => {
  let costs = Array.from({ length: heard.length + 1 }, (_, at) => at)
  for (const [index, word] of said.entries()) {
    const next = [index + 1]
    for (const [at, other] of heard.entries())
      next.push(Math.min((next[at] ?? 0) + 1, (costs[at + 1] ?? 0) + 1, (costs[at] ?? 0) + (word === other ? 0 : 1)))
    costs = next
  }
  return costs.at(-1) ?? 0
}
