/** Runs in a worker thread: takes the bytes of a recording and returns mu-law for the phone. */
import { parentPort } from "node:worker_threads"
import { MPEGDecoder } from "mpg123-decoder"
import { makePhoneSound, type PhoneSound } from "./PhoneSound.ts"
import type { SpeechReply } from "./SpeechThread.ts"
import { isWav, readWav } from "./Wav.ts"

export interface RecordingRequest {
  readonly bytes: Uint8Array
}

// The decoder writes every error in a file to the console, and a bad file has thousands.
Reflect.set(globalThis.console, "error", () => {})

/** Bytes passed to the MPEG decoder at once: some eight seconds at the lowest bit rate. */
const pieceBytes = 8192

const isMpeg = (file: Uint8Array): boolean => {
  const [first = 0, second = 0, third = 0] = file
  const isTagged = first === 0x49 && second === 0x44 && third === 0x33
  return isTagged || (first === 0xff && (second & 0xe0) === 0xe0)
}

const mixed = (channels: ReadonlyArray<Float32Array>, samples: number): Int16Array => {
  const mono = new Int16Array(samples)
  for (let at = 0; at < samples; at++) {
    let sum = 0
    for (const channel of channels) sum += channel[at] ?? 0
    mono[at] = Math.max(-32_768, Math.min(32_767, Math.round((sum / channels.length) * 32_767)))
  }
  return mono
}

const readMpeg = async (file: Uint8Array, sound: PhoneSound): Promise<boolean> => {
  const decoder = new MPEGDecoder()
  await decoder.ready
  for (let at = 0; at < file.length && !sound.isFull(); at += pieceBytes) {
    const { channelData, sampleRate, samplesDecoded } = decoder.decode(file.subarray(at, at + pieceBytes))
    if (samplesDecoded > 0 && channelData.length > 0) sound.push(mixed(channelData, samplesDecoded), sampleRate)
  }
  decoder.free()
  return true
}

const readAny = async (file: Uint8Array, sound: PhoneSound): Promise<boolean> => {
  if (isWav(file)) return readWav(file, sound)
  return isMpeg(file) ? await readMpeg(file, sound) : false
}

const speechOf = async ({ bytes }: RecordingRequest): Promise<SpeechReply> => {
  const sound = makePhoneSound()
  return (await readAny(bytes, sound)) ? sound.end() : undefined
}

parentPort?.on("message", async (request: RecordingRequest) => {
  const speech = await speechOf(request)
  parentPort?.postMessage(speech, speech === undefined ? [] : [speech.buffer])
})
