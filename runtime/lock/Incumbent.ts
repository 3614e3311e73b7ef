/** How a standby engine sees the engine that has the lock, and what it decides to do. Pure. */
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Seen } from "#runtime/postgres/LockStore.ts"

export interface Situation {
  /** Undefined while no engine has ever had the lock. */
  readonly seen: Seen | undefined
  /** The backend of the session that holds the lock. */
  readonly holder: number | undefined
  /** The process of the engine in the row has certainly ended. */
  readonly isGone: boolean
  /** How long we have seen no new beat while looking, in steady time. */
  readonly silentMillis: number
  /** After this much silence the other engine is replaced; at least `FENCED_MILLIS`. */
  readonly takeoverMillis: number
}

/** `end_session`: the server still keeps the session of an engine that is gone, frozen or cut off, so we end it. */
export type Verdict = "take" | "end_session" | "wait"

/**
 * A holder whose last proof is older than this no longer dials; see `EngineLock.isHeld`. The next engine's first call waits for that, so a longer
 * proof makes each takeover later, and a shorter one makes an engine pause whose database takes a second for a beat.
 */
export const PROOF_MILLIS = 1500
/** By then an engine that lost the lock has stopped dialing, however much the two clocks disagree. The minimum for `TAKEOVER_AFTER`. */
const FENCED_MILLIS = PROOF_MILLIS + 1000

/**
 * The most that one look adds to a silence. If looks are further apart, this process or the database was stalled, and the other engine could not
 * have been heard.
 */
const MOST_PER_LOOK_MILLIS = 500

/** Measures how long something has not changed, in milliseconds. Call it at each look with what is seen and the steady time. */
export const makeStillness = () => {
  let lookedAt: number | undefined
  let seenLast: string | undefined
  let stillMillis = 0
  return (seen: string, now: number): number => {
    stillMillis = seen === seenLast ? stillMillis + Math.min(now - (lookedAt ?? now), MOST_PER_LOOK_MILLIS) : 0
    seenLast = seen
    lookedAt = now
    return stillMillis
  }
}

/** Measures the silence of the lock's holder in the same way. */
export const makeSilence = () => {
  const stillnessOf = makeStillness()
  let lastHolder: number | undefined
  return (seen: Seen | undefined, holder: number | undefined, now: number): number => {
    // When the holder's session ends, its silence continues; a new holder starts a new one.
    lastHolder = holder ?? lastHolder
    return stillnessOf(`${seen?.epoch} ${seen?.beat} ${lastHolder}`, now)
  }
}

export const judge = ({ holder, isGone, seen, silentMillis, takeoverMillis }: Situation): Verdict => {
  const isSilent = silentMillis >= takeoverMillis
  if (holder === undefined) return seen === undefined || seen.released || isGone || isSilent ? "take" : "wait"
  // Otherwise someone is about to write its row or has just come back, and the process in the row is not the holder's.
  const isItsOwn = seen?.backend === holder
  return isSilent || (isItsOwn && isGone && silentMillis >= FENCED_MILLIS) ? "end_session" : "wait"
}

/** The engine that had the lock before, in the steady time of the one that has taken it. */
export interface Former {
  /** It has decided nothing after that. */
  readonly decidedUntil: SteadyMillis
  /** Its last proof had lapsed by then. */
  readonly provenUntil: SteadyMillis
}

/**
 * `silentMillis`: how long its last beat had been seen at `lookedAt`; its last proof is at least as old. How old the beat is by the database's clock
 * proves nothing: that may have been set since.
 */
export const formerOf = (silentMillis: number, lookedAt: SteadyMillis, takenAt: SteadyMillis): Former => {
  const provenUntil = lookedAt + PROOF_MILLIS - silentMillis
  return { decidedUntil: Math.min(takenAt, provenUntil), provenUntil }
}

/**
 * When the last request may have left that it sent, or that it allowed a call node to send within this time. It allows that only while its proof
 * lasts for as long.
 */
export const lastDeparture = ({ decidedUntil, provenUntil }: Former, grantMillis: number): SteadyMillis =>
  Math.min(decidedUntil + grantMillis, provenUntil)
