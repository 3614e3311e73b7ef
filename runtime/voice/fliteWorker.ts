/** Runs in a worker thread: takes text and returns mu-law, one request at a time. Everything slower than a microsecond is done here. */
import { parentPort } from "node:worker_threads"
import { stepBack } from "#runtime/process/ownPriority.ts"
import { type FliteVoice, loadFlite, type Pcm, synthesize } from "./FliteWasm.ts"
import { encodeFrames, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { spokenText } from "./SpokenText.ts"

export interface FliteRequest {
  readonly voice: FliteVoice
  readonly text: string
}
/** Undefined when nothing in the text can be said. */
type FliteReply = Uint8Array<ArrayBuffer> | undefined

// Flite begins and ends with a fifth of a second of silence, which would keep the callee waiting. Quieter samples count as silence.
const audible = 400
const leadSeconds = 0.01
const tailSeconds = 0.1

const trim = ({ rate, samples }: Pcm): Int16Array => {
  const isAudible = (sample: number) => Math.abs(sample) > audible
  const first = samples.findIndex(isAudible)
  if (first < 0) return new Int16Array(0)
  const last = samples.findLastIndex(isAudible)
  return samples.subarray(Math.max(0, first - Math.round(rate * leadSeconds)), last + Math.round(rate * tailSeconds))
}

stepBack()
const flite = loadFlite()

const speak = ({ text, voice }: FliteRequest): FliteReply => {
  const spoken = spokenText(text)
  if (spoken === undefined) return undefined
  const pcm = synthesize(flite, voice, spoken)
  const samples = trim(pcm)
  return samples.length === 0 ? undefined : encodeFrames(resample(samples, pcm.rate, sampleRate))
}

parentPort?.on("message", (request: FliteRequest) => {
  const speech = speak(request)
  parentPort?.postMessage(speech, speech === undefined ? [] : [speech.buffer])
})
