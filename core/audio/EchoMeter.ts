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

// Shared by all calls: the levels of one call, in order, while they are measured.
const sentInOrder = new Float64Array(keptFrames)
const heardInOrder = new Float64Array(keptFrames)

const productsAt = (lag: number): number => {
  let products = 0
  for (let at = longestLag; at < keptFrames; at++) products += (sentInOrder[at - lag] ?? 0) * (heardInOrder[at] ?? 0)
  return products
}

/** The sum of what lies in the window, or of its squares. */
const sumOf = (levels: Float64Array): number => {
  let sum = 0
  for (let at = longestLag; at < keptFrames; at++) sum += levels[at] ?? 0
  return sum
}
const squaresOf = (levels: Float64Array): number => {
  let squares = 0
  for (let at = longestLag; at < keptFrames; at++) squares += (levels[at] ?? 0) ** 2
  return squares
}

interface Likeness {
  readonly lag: number
  readonly correlation: number
  /** Of what is heard to what was sent. */
  readonly slope: number
}

/** The lag at which the two are most alike. */
const mostAlike = (): Likeness => {
  const sumHeard = sumOf(heardInOrder)
  const varianceHeard = squaresOf(heardInOrder) - sumHeard ** 2 / windowFrames
  let sumSent = sumOf(sentInOrder)
  let squaresSent = squaresOf(sentInOrder)
  let [lag, correlation, slope] = [0, 0, 0]
  for (let by = 0; by <= longestLag; by++) {
    const varianceSent = squaresSent - sumSent ** 2 / windowFrames
    const covariance = productsAt(by) - (sumSent * sumHeard) / windowFrames
    const now = varianceSent > 0 && varianceHeard > 0 ? covariance / Math.sqrt(varianceSent * varianceHeard) : 0
    if (now > correlation) {
      lag = by
      correlation = now
      slope = covariance / varianceSent
    }
    // The window of what was sent moves on by a frame.
    const [first, last] = [sentInOrder[longestLag - by - 1] ?? 0, sentInOrder[keptFrames - by - 1] ?? 0]
    sumSent += first - last
    squaresSent += first ** 2 - last ** 2
  }
  return { lag, correlation, slope }
}

export const makeEchoMeter = (): EchoMeter => {
  const sent = new Float64Array(keptFrames)
  const heard = new Float64Array(keptFrames)
  let frames = 0
  let spoken = 0
  let suspectedLag: number | undefined
  let lag = 0
  let gain: number | undefined

  const sentAgo = (ago: number): number => sent[(frames - 1 - ago + keptFrames) % keptFrames] ?? 0

  const unroll = (levels: Float64Array, into: Float64Array): void => {
    const oldest = frames % keptFrames
    into.set(levels.subarray(oldest))
    into.set(levels.subarray(0, oldest), keptFrames - oldest)
  }

  const measure = (): void => {
    unroll(sent, sentInOrder)
    unroll(heard, heardInOrder)
    const likeness = mostAlike()
    const isAgain = suspectedLag !== undefined && Math.abs(likeness.lag - suspectedLag) <= lagTolerance
    suspectedLag = likeness.correlation >= leastCorrelation ? likeness.lag : undefined
    if (suspectedLag === undefined || !isAgain) return
    lag = likeness.lag
    gain = likeness.slope
  }

  return {
    push: (sentLevel, heardLevel) => {
      if (frames >= windowFrames && sentAgo(windowFrames - 1) > spokenLevel) spoken--
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
      for (let ago = Math.max(0, lag - 2); ago <= lag + 2; ago++) loudest = Math.max(loudest, sentAgo(ago))
      return gain * loudest
    }
  }
}
