/**
 * Measures how loudly the agent's own voice comes back from the callee's end, from the levels of the audio sent and received: if they rise and
 * fall together, one is the echo of the other.
 */

export interface EchoMeter {
  /** Takes the levels of the frames of one tick. */
  readonly push: (sent: number, heard: number) => void
  /** The echo's level relative to what is sent: negative for a fainter echo. Undefined until an echo has been detected. */
  readonly decibels: () => number | undefined
  /** The highest level that an echo can have now. Zero until an echo has been detected. */
  readonly expected: () => number
}

/** Echo is measured over two seconds, in at least one of which the agent must have spoken. */
const windowFrames = 100
const spokenFrames = 50
const spokenLevel = 300
/** 600 ms, which is longer than the round trip to the far side of the earth. */
const longestLag = 30
const measureEvery = 25
/** Two people who speak at the same time reach 0.6 at some lag. */
const leastCorrelation = 0.8
/** An echo must be found twice in a row at the same lag, within this tolerance: once may be coincidence. */
const lagTolerance = 1
const keptFrames = windowFrames + longestLag

// Scratch space shared by all calls: the levels of one call, oldest first, while it is being measured.
const sentInOrder = new Float64Array(keptFrames)
const heardInOrder = new Float64Array(keptFrames)

const productsAt = (lag: number): number => {
  let products = 0
  for (let at = longestLag; at < keptFrames; at++) products += (sentInOrder[at - lag] ?? 0) * (heardInOrder[at] ?? 0)
  return products
}

/** The sum of the levels in the window; `squaresOf` is the sum of their squares. */
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
  /** Received level per sent level. */
  readonly slope: number
}

/** The lag at which received and sent levels correlate best. */
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
    // With each lag, the window over the sent levels moves back by one frame.
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
