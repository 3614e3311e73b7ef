/** The mean of an utterance's cepstra, without silent frames: what the line and the voice add equally to each frame. */
import { cepstrumSize } from "./SphinxLibrary.ts"

interface CepstralMean {
  readonly add: (cepstra: Float32Array) => void
  /** Returns these cepstra minus the mean of all that were added so far. */
  readonly removedFrom: (cepstra: Float32Array) => Float32Array
}

export const makeCepstralMean = (): CepstralMean => {
  const sums = new Float64Array(cepstrumSize)
  let frames = 0
  return {
    add: (cepstra) => {
      for (let at = 0; at < cepstra.length; at += cepstrumSize) {
        // The first coefficient is the frame's energy.
        if ((cepstra[at] ?? 0) < 0) continue
        frames++
        for (let index = 0; index < cepstrumSize; index++) sums[index] = (sums[index] ?? 0) + (cepstra[at + index] ?? 0)
      }
    },
    removedFrom: (cepstra) => cepstra.map((value, at) => value - (sums[at % cepstrumSize] ?? 0) / Math.max(1, frames))
  }
}
