/** Runs in a worker thread: takes text and returns mu-law, one request at a time. Everything slower than a microsecond is done here. */
import { parentPort } from "node:worker_threads"
import { stepBack } from "#runtime/process/ownPriority.ts"
import { type FliteVoice, loadFlite, synthesize } from "./FliteWasm.ts"
import { encodeFrames, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { spokenText } from "./SpokenText.ts"

export interface FliteRequest {
  readonly voice: FliteVoice
  readonly text: string
}
/** Undefined if nothing in the text can be said. */
type FliteReply = Uint8Array<ArrayBuffer> | undefined

// Flite begins and ends with a fifth of a second of silence, which would keep the callee waiting. So would a sibilant that the phone line's band
// removes: audible is only what remains at the line's rate and is louder than a quiet line's noise.
const audible = 200
const leadSamples = 0.01 * sampleRate
const tailSamples = 0.1 * sampleRate

const trim = (samples: Int16Array): Int16Array => {
  const isAudible = (sample: number) => Math.abs(sample) > audible
  const first = samples.findIndex(isAudible)
  if (first < 0) return new Int16Array(0)
  return samples.subarray(Math.max(0, first - leadSamples), samples.findLastIndex(isAudible) + tailSamples)
}

stepBack()
const flite = loadFlite()

const speak = ({ text, voice }: FliteRequest): FliteReply => {
  const spoken = spokenText(text)
  if (spoken === undefined) return undefined
  const { rate, samples } = synthesize(flite, voice, spoken)
  const heard = trim(resample(samples, rate, sampleRate))
  return heard.length === 0 ? undefined : encodeFrames(heard)
}

parentPort?.on("message", (request: FliteRequest) => {
  const speech = speak(request)
  parentPort?.postMessage(speech, speech === undefined ? [] : [speech.buffer])
})
