/**
 * How many calls with audio a node can carry: found by how late their audio leaves, remembered, and raised again a little at a time. A late
 * frame is heard as one that came in time; a lost one is not, so that the limit is found before sound is lost. Pure.
 */

/** What became of the frames of about a second. */
export interface MediaLoad {
  /** Calls whose audio flowed. */
  readonly streams: number
  /** Frames that were due. */
  readonly due: number
  /** Of those, frames that left more than `lateMillis` after their moment, or never. */
  readonly late: number
}

export interface MediaLimit {
  /** Calls that may be placed, those that still ring included. Infinite until it has been found. */
  readonly limit: number
  /** Streams that were late when it was found. */
  readonly tooMany: number
  /** Of the latest loads, the newest last: whether there were many streams, and late ones. */
  readonly strained: ReadonlyArray<boolean>
  /** How many loads in a row were in time. */
  readonly calm: number
}

/** A frame that leaves later than this is late; twice that, and frames begin to be lost. */
export const lateMillis = 30
/** The garbage collector of a busy second is late with fewer; a stall in which frames are lost, with more. */
const lateShare = 0.05
/** Whatever makes fewer streams late, it is not their number: this is also the least that the limit can be. */
export const fewestStreams = 20
/** One hiccup is no sign of too many streams: it takes three late seconds of five. */
const lookedAt = 5
const strainedOf = 3
/** What is left of as many streams as were too many. */
const lowered = 0.9
/** As many loads in time in a row as it takes for the limit to be raised, where it is what holds calls back. */
const calmEnough = 10
const raised = 0.02
/** Past what was too many, something else had made it late, or fewer answer than before. */
const raisedBeyond = 0.2

export const unlimited: MediaLimit = { limit: Number.POSITIVE_INFINITY, tooMany: Number.POSITIVE_INFINITY, strained: [], calm: 0 }

/** `placed`: calls with audio, those that still ring included. */
export const judge = (before: MediaLimit, { due, late, streams }: MediaLoad, placed: number): MediaLimit => {
  const isLate = late > lateShare * due
  const strained = [...before.strained, isLate && streams >= fewestStreams].slice(-lookedAt)
  if (strained.filter((one) => one).length >= strainedOf) {
    // Each call that rings may become a stream: counted are the calls, and measured the streams.
    const found = Math.max(fewestStreams, Math.floor(streams * lowered))
    return { limit: Math.min(before.limit, found), tooMany: streams, strained: [], calm: 0 }
  }
  const calm = isLate ? 0 : before.calm + 1
  if (calm < calmEnough || placed < before.limit) return { ...before, strained, calm }
  const share = before.limit > before.tooMany ? raisedBeyond : raised
  return { ...before, limit: before.limit + Math.max(1, Math.floor(before.limit * share)), strained, calm: 0 }
}
