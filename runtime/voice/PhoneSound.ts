/** Converts audio of any rate to the phone's, piece by piece, so that a long recording is never entirely in memory in its original form. */
import { encodeFrames, sampleRate } from "#core/audio/Mulaw.ts"
import { makeResampler, type Resampler } from "#core/audio/Resampler.ts"

/** Anything beyond this is not played. */
export const maxSeconds = 300
/** No recording of speech has a rate outside this range. */
const lowestRate = 2000
const highestRate = 192_000
// A filter is as long as the terms of its fraction, a hundred megabytes for 191,999 Hz. Common rates are multiples of this step, and in speech
// an error of half a percent is inaudible.
const rateStep = 25

export interface PhoneSound {
  /** Takes one channel of PCM16. False if no recording of speech has this rate. */
  readonly push: (samples: Int16Array, rate: number) => boolean
  readonly isFull: () => boolean
  /** Mu-law in whole frames; undefined if there was no sound. */
  readonly end: () => Uint8Array<ArrayBuffer> | undefined
}

export const isPlayableRate = (rate: number): boolean => rate >= lowestRate && rate <= highestRate

const through = (rate: number): Resampler | undefined => {
  const from = Math.round(rate / rateStep) * rateStep
  return from === sampleRate ? undefined : makeResampler(from, sampleRate)
}

export const makePhoneSound = (): PhoneSound => {
  const pieces: Array<Int16Array> = []
  let length = 0
  let current: { readonly rate: number; readonly resampler: Resampler | undefined } | undefined

  const keep = (samples: Int16Array) => {
    const wanted = samples.subarray(0, Math.max(0, maxSeconds * sampleRate - length))
    if (wanted.length === 0) return
    pieces.push(wanted)
    length += wanted.length
  }
  const flush = () => {
    if (current?.resampler !== undefined) keep(current.resampler.flush())
    current = undefined
  }

  return {
    isFull: () => length >= maxSeconds * sampleRate,
    push: (samples, rate) => {
      if (!isPlayableRate(rate)) return false
      if (current?.rate !== rate) {
        flush()
        current = { rate, resampler: through(rate) }
      }
      keep(current.resampler === undefined ? samples : current.resampler.push(samples))
      return true
    },
    end: () => {
      flush()
      if (length === 0) return undefined
      const whole = new Int16Array(length)
      let at = 0
      for (const piece of pieces) {
        whole.set(piece, at)
        at += piece.length
      }
      return encodeFrames(whole)
    }
  }
}
