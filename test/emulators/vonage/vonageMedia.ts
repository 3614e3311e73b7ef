/**
 * Vonage's messages on a websocket: audio in binary messages of 20 ms, in 16-bit samples at 8 kHz; anything else is JSON. A stream ends without a message.
 * https://developer.vonage.com/en/voice/voice-api/guides/websockets
 */
import { frameBytes, fromMulaw, toMulaw } from "#test/emulators/ari/Sound.ts"
import { type MediaWords, parsed, type Said } from "#test/emulators/shared/MediaLeg.ts"

const toLinear = (codes: Buffer): Buffer => {
  const samples = Buffer.alloc(2 * codes.length)
  for (const [at, code] of codes.entries()) samples.writeInt16LE(fromMulaw(code), 2 * at)
  return samples
}

const fromLinear = (samples: Buffer): Buffer =>
  Buffer.from(Array.from({ length: samples.length / 2 }, (_, at) => toMulaw(samples.readInt16LE(2 * at))))

export const vonageWords: MediaWords = {
  start: () => ({ event: "websocket:connected", "content-type": "audio/l16;rate=8000" }),
  audio: toLinear,
  press: (digit) => ({ event: "websocket:dtmf", digit, duration: 260 }),
  played: (id) => ({ event: "websocket:notify", payload: { id } }),
  cleared: () => [{ event: "websocket:cleared" }],
  read: (data, isBinary): Said | undefined => {
    // The engine's messages must have the same size as Vonage's own.
    if (isBinary) return data.length === 2 * frameBytes ? { _tag: "Audio", audio: fromLinear(data) } : undefined
    const message = parsed(data, isBinary)
    if (message?.["action"] === "clear") return { _tag: "Clear" }
    const payload = message?.["payload"]
    const id: unknown = payload instanceof Object ? Reflect.get(payload, "id") : undefined
    return message?.["action"] === "notify" && typeof id === "string" ? { _tag: "Mark", name: id } : undefined
  }
}
