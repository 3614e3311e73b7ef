/**
 * How loud the agent's own voice comes back from the callee's end, from the levels of what is sent and of what arrives: where they rise and fall
 * together, one is the echo of the other.
 */

export interface EchoMeter {
  /** The levels of the frames of one tick. */
  readonly push: (sent: number, heard: number) => void
  /** In decibels below what is sent; undefined while no echo has been noticed. */
  readonly decibels: () => number | undefined
  /** The level that an echo has now, at most; zero while none has been noticed. */
  readonly expected: () => number
}

/** Two seconds, of which the agent must speak in one. */
const windowFrames = 100
const spokenFrames = 50
const spokenLevel = 300
/** Longer than the way to the other side of the earth and back. */
const longestLag = 30
const measureEvery = 25
/** Two people who speak at the same time come to 0.6 at some lag. */
const leastCorrelation = 0.8
/** Measured twice at the same lag, give or take one, it is no coincidence. */
const lagTolerance = 1
const keptFrames = windowFrames + longestLag

export const makeEchoMeter = (): EchoMeter => {
  const sent = new Float64Array(keptFrames)
  const heard = new Float64Array(keptFrames)
  let frames = 0
  let spoken = 0
  let suspectedLag: number | undefined
  let lag = 0
  let gain: number | undefined
  /** The slope and the correlation at the lag that was looked at last. */
  let slope = 0
  let correlation = 0

  const at = (levels: Float64Array, ago: number): number => levels[(frames - 1 - ago + keptFrames) % keptFrames] ?? 0

  const correlate = (by: number): void => {
    let [sumSent, sumHeard, squaresSent, squaresHeard, products] = [0, 0, 0, 0, 0]
    for (let ago = 0; ago < windowFrames; ago++) {
      const [one, other] = [at(sent, ago + by), at(heard, ago)]
      sumSent += one
      sumHeard += other
      squaresSent += one * one
      squaresHeard += other * other
      products += one * other
    }
    const covariance = products - (sumSent * sumHeard) / windowFrames
    const varianceSent = squaresSent - sumSent ** 2 / windowFrames
    const varianceHeard = squaresHeard - sumHeard ** 2 / windowFrames
    slope = varianceSent > 0 ? covariance / varianceSent : 0
    correlation = varianceSent > 0 && varianceHeard > 0 ? covariance / Math.sqrt(varianceSent * varianceHeard) : 0
  }

  const measure = (): void => {
    let best = 0
    let bestCorrelation = 0
    for (let by = 0; by <= longestLag; by++) {
      correlate(by)
      if (correlation <= bestCorrelation) continue
      bestCorrelation = correlation
      best = by
    }
    const isAgain = suspectedLag !== undefined && Math.abs(best - suspectedLag) <= lagTolerance
    suspectedLag = bestCorrelation >= leastCorrelation ? best : undefined
    if (suspectedLag === undefined || !isAgain) return
    correlate(best)
    lag = best
    gain = slope
  }

  return {
    push: (sentLevel, heardLevel) => {
      if (frames >= windowFrames && at(sent, windowFrames - 1) > spokenLevel) spoken--
      sent[frames % keptFrames] = sentLevel
      heard[frames % keptFrames] = heardLevel
      frames++
      if (sentLevel > spokenLevel) spoken++
      if (frames >= keptFrames && frames % measureEvery === 0 && spoken >= spokenFrames) measure()
    },
    decibels: () => (gain === undefined ? undefined : 20 * Math.log10(gain)),
    expected: () => {
      if (gain === undefined) return 0
      let loudest = 0
      for (let ago = Math.max(0, lag - 2); ago <= lag + 2; ago++) loudest = Math.max(loudest, at(sent, ago))
      return gain * loudest
    }
  }
}
