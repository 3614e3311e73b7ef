/** What is new for the campaign once its call has been recorded. */
export interface Recorded {
  /** The campaign's row changed in a way that its owner has to see: completed, or stopped by the breaker. */
  readonly look: boolean
  /** The contact waits for a retry: epoch milliseconds. */
  readonly dueAt: number | undefined
  /** False: the breaker does not count it. */
  readonly isEntry: boolean
}
