/**
 * Tells whether a frame is louder than the line's noise, which is what the quietest frames of the last seconds have in common. Detectors of voice
 * take steady noise for voice without it.
 */

export interface EnergyGate {
  readonly push: (level: number) => boolean
  /** The level of the noise. */
  readonly noise: () => number
}

const windowFrames = 150
const quietShare = 0.15
const overNoise = 1.9
/** Root mean square; quieter frames are never voice. */
const lowestGate = 120
/** A call may begin with speech: until this many frames are outweighed, the line counts as quiet. */
const assumedQuietFrames = 8

export const makeEnergyGate = (): EnergyGate => {
  const levels = new Float32Array(windowFrames)
  /** The same, from the lowest to the highest. */
  const sorted = new Float32Array(windowFrames)
  let count = assumedQuietFrames
  let next = assumedQuietFrames

  /** The first place at which it could stand in the first `length` of the sorted levels. */
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
