/** What changes for a campaign when one of its calls has been recorded. */
export interface Recorded {
  /** The campaign's row changed in a way that its owner has to see: completed, or stopped by the breaker. */
  readonly look: boolean
  /** When the contact's retry falls due, in epoch milliseconds; undefined: no retry. */
  readonly dueAt: number | undefined
  /** Whether the circuit breaker counts the call. */
  readonly isEntry: boolean
}
