/**
 * What callees say: synthesized once, in 20 ms frames of 8 kHz mu-law, and shared by all calls. The voice is a buzz through three moving
 * resonators, loud enough and similar enough to speech for speech detectors.
 */

export const frameBytes = 160
const rate = 8000

/** Played frame by frame; after the last one, playback continues at `loopFrom`. */
type Score = { readonly frames: ReadonlyArray<Buffer>; readonly loopFrom: number }

const bias = 132

export const toMulaw = (sample: number): number => {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(Math.round(sample)), 32_635) + bias
  const exponent = Math.max(0, 24 - Math.clz32(magnitude))
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff
}

export const fromMulaw = (byte: number): number => {
  const inverted = ~byte
  const magnitude = (((inverted & 0x0f) << 3) + bias) << ((inverted >> 4) & 7)
  return inverted & 0x80 ? bias - magnitude : magnitude - bias
}

/** For mu-law: above -38 dB of full scale, three times the engine's loudest noise, and the beginning of a soft consonant. */
export const isLoud = (frame: Buffer): boolean => frame.some((code) => (code & 0x7f) < 0x60)

/** The first three formants, in Hz. */
const vowels: ReadonlyArray<readonly [number, number, number]> = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [570, 840, 2410],
  [530, 1840, 2480],
  [300, 870, 2240]
]

const syllableSamples = 1400

const speech = (seconds: number): ReadonlyArray<number> => {
  const memory: ReadonlyArray<[number, number]> = [
    [0, 0],
    [0, 0],
    [0, 0]
  ]
  const samples: Array<number> = []
  let phase = 0
  for (let n = 0; n < seconds * rate; n++) {
    const syllable = Math.floor(n / syllableSamples)
    const vowel = vowels[(syllable * 3) % vowels.length] ?? [500, 1500, 2500]
    phase += (125 + 20 * Math.sin((2 * Math.PI * 0.9 * n) / rate)) / rate
    let excitation = 0
    if (phase >= 1) {
      phase -= 1
      excitation = 1
    }
    let sum = 0
    for (const [index, filter] of memory.entries()) {
      const radius = 0.96 - index * 0.01
      const output =
        excitation + 2 * radius * Math.cos((2 * Math.PI * (vowel[index] ?? 0)) / rate) * filter[0] - radius * radius * filter[1]
      filter[1] = filter[0]
      filter[0] = output
      sum += output / (index + 1)
    }
    // Between syllables it falls to a tenth, as speech does: a detector takes sound that never falls for noise.
    const loudness = 0.1 + 0.9 * Math.sin((Math.PI * (n % syllableSamples)) / syllableSamples)
    samples.push(sum * loudness)
  }
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1)
  return samples.map((sample) => (sample * 20_000) / peak)
}

const tone = (hertz: number, seconds: number): ReadonlyArray<number> =>
  Array.from({ length: seconds * rate }, (_, n) => 10_000 * Math.sin((2 * Math.PI * hertz * n) / rate))

/** The pitch of the callee who sounds a tone. */
export const calleeHertz = 800

const silentFrame = Buffer.alloc(frameBytes, toMulaw(0))

const silence = (seconds: number): ReadonlyArray<Buffer> => Array.from({ length: seconds * 50 }, () => silentFrame)

const framesOf = (samples: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const bytes = Buffer.from(samples.map(toMulaw))
  return Array.from({ length: Math.floor(bytes.length / frameBytes) }, (_, n) => bytes.subarray(n * frameBytes, (n + 1) * frameBytes))
}

const said = (...parts: ReadonlyArray<ReadonlyArray<Buffer>>): ReadonlyArray<Buffer> => parts.flat()

const composers = {
  /** "Hello?", then silence. */
  hello: (): Score => {
    const frames = said(silence(0.2), framesOf(speech(0.6)), silence(1))
    return { frames, loopFrom: frames.length - 1 }
  },
  /** A hello, then a sentence now and then. */
  talk: (): Score => {
    const hello = said(silence(0.2), framesOf(speech(0.6)))
    return { frames: said(hello, silence(4), framesOf(speech(1.2))), loopFrom: hello.length }
  },
  nothing: (): Score => ({ frames: silence(0.02), loopFrom: 0 }),
  /** A tone without a pause, which repeats after whole periods. */
  tone: (): Score => ({ frames: framesOf(tone(calleeHertz, 1)), loopFrom: 0 }),
  /** A greeting without a pause, the beep, and then silence while it records. */
  machine: (): Score => {
    const frames = said(silence(0.3), framesOf(speech(5.2)), silence(0.3), framesOf(tone(1000, 0.5)), silence(1))
    return { frames, loopFrom: frames.length - 1 }
  }
}

const composed = new Map<keyof typeof composers, Score>()

export const scoreOf = (sound: keyof typeof composers): Score => {
  const score = composed.get(sound) ?? composers[sound]()
  composed.set(sound, score)
  return score
}

/** What a callee says, frame by frame. */
export class Mouth {
  /** What the callee says next, before the rest of the sound. */
  readonly toSay: Array<Buffer> = []
  #spoken = 0

  /** Undefined: there is nothing to say. */
  next(sound: Parameters<typeof scoreOf>[0]): Buffer | undefined {
    const { frames, loopFrom } = scoreOf(sound)
    const frame = this.toSay.shift() ?? frames[this.#spoken]
    this.#spoken = this.#spoken + 1 < frames.length ? this.#spoken + 1 : loopFrom
    return frame
  }
}
