/** The browser's clock. */

/** Epoch milliseconds. */
export const now = (): number => Date.now()
