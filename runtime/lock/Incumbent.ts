/** The engine that has the lock, as seen by another one that wants it, and what the other one does next. Pure. */

/** The lock's row, and which session holds the lock itself. */
export interface Seen {
  readonly epoch: number
  readonly node: string
  readonly host: string
  readonly pid: number
  readonly process: string
  /** The server process that its holder named. */
  readonly backend: number
  readonly since: Date
  readonly beat: number
  readonly released: boolean
  /** Since its last beat, by the clock of the database, which may have been set meanwhile. */
  readonly ageMillis: number
  /** The server process that holds the lock now. */
  readonly holder: number | undefined
}

export interface Situation {
  /** Undefined: no engine has ever had the lock. */
  readonly seen: Seen | undefined
  /** The session that holds the lock while there is no row yet. */
  readonly holder: number | undefined
  /** Its process has certainly ended. */
  readonly isGone: boolean
  /** For how long no new beat has been seen, in steady time. */
  readonly silentMillis: number
  /** Since we began to wait. */
  readonly waitedMillis: number
  /** For how long an engine that is being stopped may go on. */
  readonly patienceMillis: number
}

/** `end_session`: the server still keeps the session of an engine that is gone. */
export type Verdict = "take" | "end_session" | "wait" | "refuse"

/** A holder whose last proof is older than this no longer dials; see `EngineLock.isHeld`. */
export const PROOF_MILLIS = 2000
/** By then an engine that lost the lock has stopped dialing, however much the two clocks disagree. */
const FENCED_MILLIS = PROOF_MILLIS + 1000
/** How long an engine whose session vanished, as in a restart of the database, may take to come back. */
const RETURN_MILLIS = 5000
/** After so long without a beat, a session that still exists belongs to a vanished host or a frozen process. */
const STALE_MILLIS = 30_000

const isStale = ({ silentMillis }: Situation, { ageMillis }: Seen): boolean =>
  silentMillis >= STALE_MILLIS || (ageMillis >= STALE_MILLIS && silentMillis >= FENCED_MILLIS)

export const judge = (situation: Situation): Verdict => {
  const { isGone, patienceMillis, seen, silentMillis, waitedMillis } = situation
  const isLate = waitedMillis >= patienceMillis
  if (seen === undefined || seen.released) {
    // Whoever holds it is about to write its row, or has just released it.
    if ((seen?.holder ?? situation.holder) === undefined) return "take"
    return isLate ? "refuse" : "wait"
  }
  if (seen.holder === undefined) return isGone || silentMillis >= RETURN_MILLIS ? "take" : "wait"
  // A holder that has not written its row yet is not the one that the row is silent about.
  if (seen.holder !== seen.backend) return isLate ? "refuse" : "wait"
  if (isStale(situation, seen) || (isGone && silentMillis >= FENCED_MILLIS)) return "end_session"
  return isLate && silentMillis < FENCED_MILLIS ? "refuse" : "wait"
}
