/** The header of a call's recording: PCM16, two channels, 8 kHz. The callee is left, the agent right. */
import { sampleRate } from "#core/audio/Mulaw.ts"

export const headerBytes = 44
export const channels = 2
/** Bytes of one sample of both sides. */
export const bytesPerSample = channels * 2
/** Stands for a length that is not yet known. */
export const open32 = 0xffffffff

export const makeHeader = (dataBytes: number): Uint8Array => {
  const header = Buffer.alloc(headerBytes)
  header.write("RIFF", 0)
  header.writeUInt32LE(dataBytes === open32 ? open32 : dataBytes + headerBytes - 8, 4)
  header.write("WAVEfmt ", 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * bytesPerSample, 28)
  header.writeUInt16LE(bytesPerSample, 32)
  header.writeUInt16LE(16, 34)
  header.write("data", 36)
  header.writeUInt32LE(dataBytes, 40)
  return header
}

/** Whether this is the header of our recordings, with any length. */
export const isRecording = (header: Uint8Array): boolean => {
  const expected = makeHeader(0)
  const isSame = (from: number, until: number) => Buffer.compare(header.subarray(from, until), expected.subarray(from, until)) === 0
  return header.length === headerBytes && isSame(0, 4) && isSame(8, 40)
}
