/** Whoever has the lock, as another engine that wants it sees it; and what that one does about it. Pure. */

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
  /** Who holds the lock while there is no row. */
  readonly holder: number | undefined
  /** Its process has certainly ended. */
  readonly isGone: boolean
  /** For how long we have seen no new beat, on a clock of ours that nobody sets. */
  readonly silentMillis: number
  /** Since we began to wait. */
  readonly waitedMillis: number
  /** For how long an engine that is being stopped may go on. */
  readonly patienceMillis: number
}

/** `end_session`: the server still keeps the session of an engine that is not there any more. */
export type Verdict = "take" | "end_session" | "wait" | "refuse"

/** A holder that has not proven for so long that it has the lock does not dial any more; see `EngineLock.isHeld`. */
export const PROOF_MILLIS = 2000
/** After that nobody who lost the lock dials, whatever the two clocks disagree on. */
const FENCED_MILLIS = PROOF_MILLIS + 1000
/** A session that is gone without a word, as after a restart of the database: its engine gets so long to come back. */
const RETURN_MILLIS = 5000
/** A session that is there and does not beat, as of a host that has vanished or a process that is frozen. */
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
