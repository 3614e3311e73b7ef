/**
 * Changes the rate of PCM16 by a fraction, in a stream: a polyphase FIR, whose state crosses the borders of chunks.
 * Samples are never just picked: at 24 to 8 kHz that folds everything above 4 kHz into what is heard.
 */

// Longer filters cut sharper and cost more: with 24, from 16 to 8 kHz, 3.4 kHz loses 2 dB and what folds back from 5 kHz lies at -76 dB.
const tapsPerPhase = 24
// Of the lower of both Nyquist frequencies; the rest is the filter's slope.
const passband = 0.92

export interface Resampler {
  /** The output due for this chunk, newly allocated; a few samples stay behind in the filter. */
  readonly push: (chunk: Int16Array) => Int16Array
  /** What stayed behind. The resampler is then as new. */
  readonly flush: () => Int16Array
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Blackman-windowed sinc for a rate of `up` times the input's, with the gain that filling up with zeros takes away. */
const lowPass = (up: number, down: number): Float64Array => {
  const length = tapsPerPhase * Math.max(up, down)
  const cutoff = passband / Math.max(up, down)
  const centre = (length - 1) / 2
  const window = (index: number) =>
    0.42 - 0.5 * Math.cos((2 * Math.PI * index) / (length - 1)) + 0.08 * Math.cos((4 * Math.PI * index) / (length - 1))
  const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))
  const taps = Float64Array.from({ length }, (_, index) => cutoff * sinc(cutoff * (index - centre)) * window(index))
  const gain = up / taps.reduce((sum, tap) => sum + tap, 0)
  return taps.map((tap) => tap * gain)
}

/** The taps in the order they are used: for each phase, every `up`-th, newest input first. */
const polyphase = (up: number, down: number): { readonly taps: Float32Array; readonly perPhase: number } => {
  const all = lowPass(up, down)
  const perPhase = Math.ceil(all.length / up)
  const taps = Float32Array.from({ length: perPhase * up }, (_, index) => all[(index % perPhase) * up + Math.floor(index / perPhase)] ?? 0)
  return { taps, perPhase }
}

export const makeResampler = (fromRate: number, toRate: number): Resampler => {
  const common = divisor(fromRate, toRate)
  const up = toRate / common
  const down = fromRate / common
  const { perPhase, taps } = polyphase(up, down)
  const delay = Math.floor(perPhase / 2)
  let history = new Int16Array(perPhase - 1)
  // Where the next output lies, in steps of 1/up of an input sample, counted from the first sample after the history.
  let position = delay * up

  const push = (chunk: Int16Array): Int16Array => {
    const input = new Int16Array(history.length + chunk.length)
    input.set(history)
    input.set(chunk, history.length)
    const end = chunk.length * up
    const output = new Int16Array(Math.max(0, Math.ceil((end - position) / down)))
    for (let index = 0; index < output.length; index++) {
      const newest = history.length + Math.floor(position / up)
      const phase = (position % up) * perPhase
      let sum = 0
      for (let tap = 0; tap < perPhase; tap++) sum += (taps[phase + tap] ?? 0) * (input[newest - tap] ?? 0)
      output[index] = Math.max(-32768, Math.min(32767, Math.round(sum)))
      position += down
    }
    position -= end
    history = input.slice(input.length - history.length)
    return output
  }

  const flush = (): Int16Array => {
    const rest = push(new Int16Array(delay))
    history = new Int16Array(perPhase - 1)
    position = delay * up
    return rest
  }

  return { push, flush }
}

/** A whole recording at once. */
export const resample = (samples: Int16Array, fromRate: number, toRate: number): Int16Array => {
  if (fromRate === toRate) return samples
  const resampler = makeResampler(fromRate, toRate)
  const body = resampler.push(samples)
  const rest = resampler.flush()
  const whole = new Int16Array(body.length + rest.length)
  whole.set(body)
  whole.set(rest, body.length)
  return whole
}
