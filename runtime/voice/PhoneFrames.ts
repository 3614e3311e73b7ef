/** Turns a voice's output, bytes of its format cut anywhere, into whole frames for the phone. */
import { encode, frameSize, sampleRate, silence } from "#core/audio/Mulaw.ts"
import { makeResampler } from "#core/audio/Resampler.ts"
import type { SpeechFormat } from "#core/model/TextToSpeech.ts"

interface PhoneFrames {
  /** The whole frames available now; empty if there are none. The result may be the given bytes themselves, which are never written to. */
  readonly push: (bytes: Uint8Array) => Uint8Array
  /** The rest, padded with silence. */
  readonly end: () => Uint8Array
}

/** Copied into memory of their own. */
export const wholeOf = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const nothing = new Uint8Array(0)
const joined = (a: Uint8Array, b: Uint8Array): Uint8Array => (a.length === 0 ? b : wholeOf([a, b]))

/** Reads whole samples. They may begin at an odd byte of their buffer, where a typed array cannot start. */
const samplesOf = (bytes: Uint8Array): Int16Array => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Int16Array.from({ length: bytes.length >> 1 }, (_, index) => view.getInt16(index * 2, true))
}

/** Converts to mu-law, sample for sample. */
const mulawOf = ({ encoding, rate }: SpeechFormat) => {
  if (encoding === "mulaw") return { push: (bytes: Uint8Array) => bytes, end: () => nothing }
  const resampler = rate === sampleRate ? undefined : makeResampler(rate, sampleRate)
  let odd: Uint8Array = nothing
  return {
    push: (bytes: Uint8Array) => {
      const given = joined(odd, bytes)
      const whole = given.length & ~1
      odd = given.slice(whole)
      const samples = samplesOf(given.subarray(0, whole))
      return encode(resampler === undefined ? samples : resampler.push(samples))
    },
    end: () => (resampler === undefined ? nothing : encode(resampler.flush()))
  }
}

export const makePhoneFrames = (format: SpeechFormat): PhoneFrames => {
  const mulaw = mulawOf(format)
  let rest: Uint8Array = nothing
  const take = (codes: Uint8Array): Uint8Array => {
    const all = joined(rest, codes)
    const whole = all.length - (all.length % frameSize)
    rest = all.subarray(whole)
    return all.subarray(0, whole)
  }
  return {
    push: (bytes) => take(mulaw.push(bytes)),
    end: () => {
      const frames = take(mulaw.end())
      if (rest.length === 0) return frames
      const last = new Uint8Array(frameSize).fill(silence)
      last.set(rest)
      rest = nothing
      return joined(frames, last)
    }
  }
}
