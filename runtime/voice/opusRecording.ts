/**
 * Compresses the recording of a call to Opus in Ogg: the same two sides at the same times, in a twelfth of the bytes. Reads and writes the
 * files synchronously, piece by piece, so it needs a thread of its own.
 */
import { Application, createEncoder, EncoderCtl, type OpusEncoderHandle, Signal } from "libopus-wasm"
import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs"
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import { startOggOpus } from "./OggOpus.ts"
import { bytesPerSample, channels, headerBytes, isRecording } from "./RecordingHeader.ts"

/** Below 20,000 the codec mixes both sides into one. */
const bitsPerSecond = 24_000
/** Out of 10. A higher value costs time and makes no audible difference at this rate. */
const complexity = 5
const opusRate = 48_000
const perSample = opusRate / sampleRate
const frameBytes = frameSize * bytesPerSample
const framesAtOnce = 100
/** Only the engine's own user may read and write the file. */
const ownFile = 0o600

const within = <A>(path: string, flags: "r" | "w", act: (file: number) => A): A => {
  const file = openSync(path, flags, ownFile)
  try {
    return act(file)
  } finally {
    closeSync(file)
  }
}

/** Fills the buffer from a position in the file, with zeros after its end, and returns how many bytes were read. */
const fill = (file: number, buffer: Uint8Array, position: number): number => {
  let filled = 0
  while (filled < buffer.length) {
    const read = readSync(file, buffer, filled, buffer.length - filled, position + filled)
    if (read === 0) break
    filled += read
  }
  buffer.fill(0, filled)
  return filled
}

const encode = (wav: number, opus: number, encoder: OpusEncoderHandle): number => {
  let written = 0
  const lookahead = encoder.getLookahead()
  const ogg = startOggOpus({
    channels,
    inputRate: sampleRate,
    preSkip: lookahead * perSample,
    packetSamples: frameSize * perSample,
    write: (page) => {
      for (let at = 0; at < page.length; ) at += writeSync(opus, page, at)
      written += page.length
    }
  })
  const buffer = new Uint8Array(frameBytes * framesAtOnce)
  let samples = 0
  for (let packets = 0, isAtEnd = false; !isAtEnd; ) {
    const read = fill(wav, buffer, headerBytes + packets * frameBytes)
    samples += Math.floor(read / bytesPerSample)
    isAtEnd = read < buffer.length
    // The encoder's output lags behind its input by this much.
    const wanted = isAtEnd ? Math.ceil((samples + lookahead) / frameSize) : packets + framesAtOnce
    for (let from = 0; packets < wanted; packets++, from += frameBytes) {
      ogg.push(encoder.encode(from < buffer.length ? buffer.subarray(from, from + frameBytes) : new Uint8Array(frameBytes)))
    }
  }
  ogg.end(samples * perSample)
  fsyncSync(opus)
  return written
}

/** Returns the number of bytes written, all of them on disk; undefined if the file is not a recording of a call. */
export const compressRecording = async (wav: string, opus: string): Promise<number | undefined> => {
  const encoder = await createEncoder({
    channels,
    sampleRate,
    application: Application.Voip,
    bitrate: bitsPerSecond,
    complexity,
    signal: Signal.Voice
  })
  encoder.encoderCtl(EncoderCtl.SetForceChannels, channels)
  try {
    return within(wav, "r", (from) => {
      const header = new Uint8Array(headerBytes)
      return fill(from, header, 0) === headerBytes && isRecording(header) ? within(opus, "w", (to) => encode(from, to, encoder)) : undefined
    })
  } finally {
    encoder.free()
  }
}
