/** What simulated callees sound like, as mu-law in frames of 20 ms. People are understood; of a machine it is only heard when it speaks. */
import { hello, yes } from "./spokenWords.ts"
import { encodeFrames, frameSize, sampleRate, silence as zero } from "#core/audio/Mulaw.ts"

export type Sound = ReadonlyArray<Uint8Array>

export const silence = new Uint8Array(frameSize).fill(zero)

const PEAK = 8_000
const PITCH_HERTZ = 140
const SYLLABLE_SECONDS = 0.25
/** The harmonics of a vowel with their shares, which are largest near 560 and 1,540 Hz, as in an open "a". */
const harmonics = [
  [1, 0.2],
  [2, 0.15],
  [3, 0.15],
  [4, 0.3],
  [11, 0.12],
  [12, 0.08]
] as const

/** `levelAt`: from -1 to 1, by the time in seconds. */
const soundOf = (seconds: number, levelAt: (second: number) => number): Sound => {
  const samples = Int16Array.from({ length: seconds * sampleRate }, (_, n) => Math.round(PEAK * levelAt(n / sampleRate)))
  return framesOf(encodeFrames(samples))
}

const framesOf = (codes: Uint8Array): Sound =>
  Array.from({ length: codes.length / frameSize }, (_, n) => codes.subarray(n * frameSize, (n + 1) * frameSize))

const tone = (hertz: number, seconds: number): Sound => soundOf(seconds, (second) => Math.sin(2 * Math.PI * hertz * second))

/** Vowels in a row, each of which swells and fades. */
const speech = (syllables: number): Sound =>
  soundOf(syllables * SYLLABLE_SECONDS, (second) => {
    const swell = Math.sin((Math.PI * second) / SYLLABLE_SECONDS) ** 2
    return harmonics.reduce((sum, [n, share]) => sum + share * Math.sin(2 * Math.PI * n * PITCH_HERTZ * second), 0) * swell
  })

/** A second of speech of a machine, which does not pause as people do. */
const PHRASES = 6

export interface Sounds {
  readonly hello: Sound
  readonly reply: Sound
  /** Ends with a beep. */
  readonly greeting: Sound
  /** Of 400 Hz; a single frame, which can be repeated without a step. */
  readonly steady: Sound
}

export const makeSounds = (): Sounds => {
  const phrase = speech(4)
  return {
    hello: framesOf(hello),
    reply: framesOf(yes),
    greeting: [...Array.from({ length: PHRASES }, () => phrase).flat(), ...tone(1_000, 0.6)],
    steady: tone(400, 0.02)
  }
}
