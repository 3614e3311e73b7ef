/** A part of a list. Whoever asks for one row more than is shown learns whether the list goes on. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

/** What is given to those who ask for no part. */
export const firstPage: Page = { limit: 1000, offset: 0 }
