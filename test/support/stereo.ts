/** The two sides of a call's recording, and where in them a sound is heard. */
import { headerBytes } from "#runtime/voice/RecordingHeader.ts"

interface Sides {
  readonly callee: Int16Array
  readonly agent: Int16Array
}

/** Reads a WAV file as the engine writes it. */
export const sidesOf = (wav: Buffer): Sides => {
  const samples = new Int16Array(wav.buffer, wav.byteOffset + headerBytes, (wav.length - headerBytes) / 2)
  const side = (at: number) => {
    const one = new Int16Array(samples.length >> 1)
    for (let index = 0; index < one.length; index++) one[index] = samples[2 * index + at] ?? 0
    return one
  }
  return { callee: side(0), agent: side(1) }
}

/** Where the side is most similar to this sound, and how similar: 1 if it is the same. */
export const likestPlace = (side: Int16Array, sound: Int16Array): { readonly at: number; readonly likeness: number } => {
  const energyOf = (samples: Int16Array) => samples.reduce((sum, sample) => sum + sample ** 2, 0)
  const wanted = Math.sqrt(energyOf(sound))
  let energy = energyOf(side.subarray(0, sound.length))
  let best = { at: 0, likeness: 0 }
  for (let at = 0; at + sound.length <= side.length; at++) {
    let product = 0
    for (let sample = 0; sample < sound.length; sample++) product += (side[at + sample] ?? 0) * (sound[sample] ?? 0)
    const likeness = energy <= 0 ? 0 : product / (wanted * Math.sqrt(energy))
    if (likeness > best.likeness) best = { at, likeness }
    energy += (side[at + sound.length] ?? 0) ** 2 - (side[at] ?? 0) ** 2
  }
  return best
}
