/**
 * How the sounds of an acoustic model change on the phone, which carries nothing above 4 kHz. Speech was measured twice: as the model hears it, and as
 * the phone carries it. The features of the second follow from those of the first by a linear map, except for a spread; the mean of each feature over
 * an utterance is zero. This is a property of the line and not of the measured voices, so the map suits other voices too.
 */
import type { Gaussians } from "./Gaussians.ts"

export interface LinearMap {
  /** What each feature of the model contributes to each feature on the phone. */
  readonly rows: ReadonlyArray<ReadonlyArray<number>>
  /** The variance that the map does not explain. */
  readonly spread: ReadonlyArray<number>
}
/** By stream of features: the cepstra, their slopes, and the slopes of those. */
export type PhoneBand = ReadonlyArray<LinearMap>

interface Model {
  readonly means: Gaussians
  readonly variances: Gaussians
}

export const meanOn = ({ rows, spread }: LinearMap, mean: ArrayLike<number>): ReadonlyArray<number> =>
  spread.map((_, to) => rows.reduce((sum, row, from) => sum + (mean[from] ?? 0) * (row[to] ?? 0), 0))
const varianceOn = ({ rows, spread }: LinearMap, variance: ArrayLike<number>): ReadonlyArray<number> =>
  spread.map((base, to) => rows.reduce((sum, row, from) => sum + (variance[from] ?? 0) * (row[to] ?? 0) ** 2, base))

const mapped = (band: PhoneBand, gaussians: Gaussians, one: (map: LinearMap, values: Float32Array) => ReadonlyArray<number>): Gaussians => {
  const { densities, streams, values, width } = gaussians
  const result = new Float32Array(values.length)
  for (let at = 0; at < values.length; at += width) {
    const map = band[Math.floor(at / (densities * width)) % streams]
    if (map === undefined) throw new Error("a stream of features that was not measured")
    result.set(one(map, values.subarray(at, at + width)), at)
  }
  return { ...gaussians, values: result }
}

/** The model for the phone. */
export const onThePhone = (band: PhoneBand, { means, variances }: Model): Model => ({
  means: mapped(band, means, meanOn),
  variances: mapped(band, variances, varianceOn)
})
