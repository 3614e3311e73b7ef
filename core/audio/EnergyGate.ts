/**
 * Tells whether a frame is louder than the noise on the line, which is estimated from the quietest frames of the last seconds. Voice detectors
 * alone mistake steady noise for voice.
 */

export interface EnergyGate {
  readonly push: (level: number) => boolean
  /** The current estimate of the noise level. */
  readonly noise: () => number
}

const windowFrames = 150
const quietShare = 0.15
const overNoise = 1.9
/** Root mean square; quieter frames are never voice. */
const lowestGate = 120
/** The window starts with this many silent frames, so that speech at the beginning of a call is not taken for noise. */
const assumedQuietFrames = 8

export const makeEnergyGate = (): EnergyGate => {
  const levels = new Float32Array(windowFrames)
  /** The same levels in ascending order. */
  const sorted = new Float32Array(windowFrames)
  let count = assumedQuietFrames
  let next = assumedQuietFrames

  /** The first position, within the first `length` sorted levels, at which `level` can be inserted. */
  const placeOf = (level: number, length: number): number => {
    let [from, until] = [0, length]
    while (from < until) {
      const middle = (from + until) >> 1
      if ((sorted[middle] ?? 0) < level) from = middle + 1
      else until = middle
    }
    return from
  }
  const remember = (level: number): void => {
    if (count === windowFrames) {
      const oldest = placeOf(levels[next] ?? 0, count)
      sorted.copyWithin(oldest, oldest + 1, count)
      count--
    }
    const place = placeOf(Math.fround(level), count)
    sorted.copyWithin(place + 1, place, count)
    sorted[place] = level
    count++
    levels[next] = level
    next = (next + 1) % windowFrames
  }
  const noise = (): number => sorted[Math.floor(quietShare * count)] ?? 0

  return {
    noise,
    push: (level) => {
      remember(level)
      return level > Math.max(lowestGate, overNoise * noise())
    }
  }
}
