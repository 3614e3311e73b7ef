/** What an engine that wants the lock sees of the engine that has it, and what it decides to do. Pure. */
import type { Seen } from "#runtime/postgres/LockStore.ts"

export interface Situation {
  /** Undefined while no engine has ever had the lock. */
  readonly seen: Seen | undefined
  /** The backend of the session that holds the lock; needed while there is no row yet. */
  readonly holder: number | undefined
  /** The process of the engine in the row has certainly ended. */
  readonly isGone: boolean
  /** How long no new beat has been seen, in steady time. */
  readonly silentMillis: number
  /** How long we have been waiting. */
  readonly waitedMillis: number
  /** How long an engine that is being stopped may go on. */
  readonly patienceMillis: number
}

/** `end_session`: the server still keeps the session of an engine that is gone, and we end it. */
export type Verdict = "take" | "end_session" | "wait" | "refuse"

/** A holder whose last proof is older than this no longer dials; see `EngineLock.isHeld`. */
export const PROOF_MILLIS = 2000
/** By then an engine that lost the lock has stopped dialing, however much the two clocks disagree. */
const FENCED_MILLIS = PROOF_MILLIS + 1000
/** How long an engine may take to come back after its session vanished, as in a restart of the database. */
const RETURN_MILLIS = 5000
/** After this long without a beat, a session that still exists belongs to a vanished host or a frozen process. */
const STALE_MILLIS = 30_000

const isStale = ({ silentMillis }: Situation, { ageMillis }: Seen): boolean =>
  silentMillis >= STALE_MILLIS || (ageMillis >= STALE_MILLIS && silentMillis >= FENCED_MILLIS)

export const judge = (situation: Situation): Verdict => {
  const { isGone, patienceMillis, seen, silentMillis, waitedMillis } = situation
  const isLate = waitedMillis >= patienceMillis
  if (seen === undefined || seen.released) {
    // The session that holds the lock is about to write its row, or has just released it.
    if ((seen?.holder ?? situation.holder) === undefined) return "take"
    return isLate ? "refuse" : "wait"
  }
  if (seen.holder === undefined) return isGone || silentMillis >= RETURN_MILLIS ? "take" : "wait"
  // The holder has not written its row yet: the silence in the row is that of another engine.
  if (seen.holder !== seen.backend) return isLate ? "refuse" : "wait"
  if (isStale(situation, seen) || (isGone && silentMillis >= FENCED_MILLIS)) return "end_session"
  return isLate && silentMillis < FENCED_MILLIS ? "refuse" : "wait"
}
