import { decode } from "#core/audio/Mulaw.ts"
import { makeHeader } from "#runtime/voice/RecordingHeader.ts"

/** A recording like those of calls: the callee is left, the agent right. Each side in mu-law. */
export const stereoWav = (sides: Iterable<readonly [callee: Uint8Array, agent: Uint8Array]>): Uint8Array => {
  const parts: Array<Uint8Array> = []
  for (const [callee, agent] of sides) {
    const [left, right] = [decode(callee), decode(agent)]
    const both = Int16Array.from({ length: 2 * left.length }, (_, at) => (at % 2 === 0 ? left : right)[at >> 1] ?? 0)
    parts.push(new Uint8Array(both.buffer))
  }
  const data = Buffer.concat(parts)
  return Buffer.concat([makeHeader(data.length), data])
}
