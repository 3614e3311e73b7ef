/** What an engine that stands by sees of the engine that has the lock, and what it decides to do. Pure. */
import type { Seen } from "#runtime/postgres/LockStore.ts"

export interface Situation {
  /** Undefined while no engine has ever had the lock. */
  readonly seen: Seen | undefined
  /** The backend of the session that holds the lock. */
  readonly holder: number | undefined
  /** The process of the engine in the row has certainly ended. */
  readonly isGone: boolean
  /** How long no new beat has been seen while we looked, in steady time. */
  readonly silentMillis: number
  /** After so long a silence the other engine is replaced; at least `FENCED_MILLIS`. */
  readonly takeoverMillis: number
}

/** `end_session`: the server still keeps the session of an engine that is gone, frozen or cut off, and we end it. */
export type Verdict = "take" | "end_session" | "wait"

/** A holder whose last proof is older than this no longer dials; see `EngineLock.isHeld`. */
export const PROOF_MILLIS = 2000
/** By then an engine that lost the lock has stopped dialing, however much the two clocks disagree: the least that `TAKEOVER_AFTER` may be. */
const FENCED_MILLIS = PROOF_MILLIS + 500

/**
 * The most that one look adds to a silence. Whoever looks less often has stood still, or the database has, and then the other engine could not have
 * been heard.
 */
const MOST_PER_LOOK_MILLIS = 500

/** Measures the silence of whoever has the lock: tell it at each look what there is to see, and the steady time. Returns milliseconds. */
export const makeSilence = () => {
  let lookedAt: number | undefined
  let lastHolder: number | undefined
  let seenLast = ""
  let silentMillis = 0
  return (seen: Seen | undefined, holder: number | undefined, now: number): number => {
    // Whose session has ended goes on being silent; whoever takes the lock then does not.
    lastHolder = holder ?? lastHolder
    const latest = `${seen?.epoch} ${seen?.beat} ${lastHolder}`
    silentMillis = latest === seenLast ? silentMillis + Math.min(now - (lookedAt ?? now), MOST_PER_LOOK_MILLIS) : 0
    seenLast = latest
    lookedAt = now
    return silentMillis
  }
}

export const judge = ({ holder, isGone, seen, silentMillis, takeoverMillis }: Situation): Verdict => {
  const isSilent = silentMillis >= takeoverMillis
  if (holder === undefined) return seen === undefined || seen.released || isGone || isSilent ? "take" : "wait"
  // Otherwise somebody is about to write his row or has just come back, and the process in the row is not his.
  const isItsOwn = seen?.backend === holder
  return isSilent || (isItsOwn && isGone && silentMillis >= FENCED_MILLIS) ? "end_session" : "wait"
}
