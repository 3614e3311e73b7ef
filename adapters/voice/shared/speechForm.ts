/** A form with a recording of a phone call, as browsers send it: https://www.rfc-editor.org/rfc/rfc7578 */
import { randomUUID } from "node:crypto"
import { sampleRate } from "#core/audio/Mulaw.ts"

const headerBytes = 44
const sampleBytes = 2

/** WAV: PCM16, one channel, 8 kHz. Shorter speech is followed by silence. */
const wavOf = (frames: ReadonlyArray<Int16Array>, leastMillis: number): Buffer => {
  const samples = frames.reduce((sum, { length }) => sum + length, 0)
  const dataBytes = Math.max(samples, (leastMillis * sampleRate) / 1000) * sampleBytes
  const wav = Buffer.alloc(headerBytes + dataBytes)
  wav.write("RIFF", 0)
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write("WAVEfmt ", 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(sampleRate, 24)
  wav.writeUInt32LE(sampleRate * sampleBytes, 28)
  wav.writeUInt16LE(sampleBytes, 32)
  wav.writeUInt16LE(8 * sampleBytes, 34)
  wav.write("data", 36)
  wav.writeUInt32LE(dataBytes, 40)
  let at = headerBytes
  for (const { buffer, byteLength, byteOffset } of frames) {
    wav.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return wav
}

interface SpeechForm {
  /** Of the header `Content-Type`. */
  readonly mediaType: string
  readonly body: Uint8Array
}

/** The recording is the member `file`, and lasts at least `leastMillis`. */
export const speechForm = (
  members: Readonly<Record<string, string>>,
  frames: ReadonlyArray<Int16Array>,
  leastMillis: number
): SpeechForm => {
  const boundary = `part-${randomUUID()}`
  const partOf = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`
  const texts = Object.entries(members).map(([name, value]) => `${partOf(name)}\r\n\r\n${value}\r\n`)
  const head = `${texts.join("")}${partOf("file")}; filename="speech.wav"\r\nContent-Type: audio/wav\r\n\r\n`
  return {
    mediaType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), wavOf(frames, leastMillis), Buffer.from(`\r\n--${boundary}--\r\n`)])
  }
}
