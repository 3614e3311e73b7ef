/** How long a request may take. */
export interface Limits {
  /** From the last byte of the request to its answer. */
  readonly answerMillis: number
  /** From the first byte of a request to its last. */
  readonly bodyMillis: number
  /** The same for a body that is streamed, its answer included. */
  readonly uploadMillis: number
  /** How long live requests may take to finish when the server closes. */
  readonly drainMillis: number
}
export const defaultLimits: Limits = { answerMillis: 30_000, bodyMillis: 30_000, uploadMillis: 300_000, drainMillis: 10_000 }
