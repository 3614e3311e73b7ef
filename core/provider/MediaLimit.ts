/**
 * How many calls with audio a node can carry. The limit is derived from how late audio frames leave, kept, and raised again in small steps.
 * Callees notice lost frames but not late ones, so the limit is found before audio is lost. Pure.
 */

/** Frame counts over about one second. */
export interface MediaLoad {
  /** Calls with audio. */
  readonly streams: number
  /** Frames that were due. */
  readonly due: number
  /** Of those, frames that left more than `lateMillis` after they were due, or never. */
  readonly late: number
}

export interface MediaLimit {
  /** How many calls may be placed, including ringing ones. Infinite until a limit has been found. */
  readonly limit: number
  /** The number of streams that were late when the limit was found. */
  readonly tooMany: number
  /** Whether each of the latest loads had many streams and late frames; newest last. */
  readonly strained: ReadonlyArray<boolean>
  /** The number of consecutive loads without lateness. */
  readonly calm: number
}

/** A frame that leaves later than this is late; at twice that, frames begin to be lost. */
export const lateMillis = 30
/** More than garbage collection causes in a busy second, less than a stall that loses frames. */
const lateShare = 0.05
/** With fewer streams, their number is not the cause of lateness. This is also the lowest possible limit. */
export const fewestStreams = 20
/** A single hiccup does not mean that there are too many streams: it takes three strained loads out of five. */
const lookedAt = 5
const strainedOf = 3
/** The new limit, as a share of the streams that were too many. */
const lowered = 0.9
/** The limit is raised after this many loads in a row without lateness, but only while calls are being held back by it. */
const calmEnough = 10
const raised = 0.02
/** Beyond `tooMany`, the limit rises faster: either something else caused the lateness, or fewer callees answer now. */
const raisedBeyond = 0.2

export const unlimited: MediaLimit = { limit: Number.POSITIVE_INFINITY, tooMany: Number.POSITIVE_INFINITY, strained: [], calm: 0 }

/** `placed`: the calls with audio, including ringing ones. */
export const judge = (before: MediaLimit, { due, late, streams }: MediaLoad, placed: number): MediaLimit => {
  const isLate = late > lateShare * due
  const strained = [...before.strained, isLate && streams >= fewestStreams].slice(-lookedAt)
  if (strained.filter((one) => one).length >= strainedOf) {
    // The limit counts calls, because each ringing call may become a stream; the load counts streams.
    const found = Math.max(fewestStreams, Math.floor(streams * lowered))
    return { limit: Math.min(before.limit, found), tooMany: streams, strained: [], calm: 0 }
  }
  const calm = isLate ? 0 : before.calm + 1
  if (calm < calmEnough || placed < before.limit) return { ...before, strained, calm }
  const share = before.limit > before.tooMany ? raisedBeyond : raised
  return { ...before, limit: before.limit + Math.max(1, Math.floor(before.limit * share)), strained, calm: 0 }
}
