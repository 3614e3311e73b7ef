import { Effect } from "effect"
import { jsonSize } from "./jsonSize.ts"

/** A part of a list. Whoever asks for one row more than is shown learns whether the list goes on. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

/** What is given to those who ask for no part. */
export const firstPage: Page = { limit: 1000, offset: 0 }

/** Characters of JSON in one answer. An item of a list may have half a million. */
const largestPart = 2_000_000
const firstAtOnce = 8
const mostAtOnce = 64

export interface Part<Row> {
  readonly rows: ReadonlyArray<Row>
  /** There are more, which would have made it too large. */
  readonly isCut: boolean
}

/** Of a list whose items may be large: as many as make no large answer, and the first in any case. They are read a few at a time. */
export const fitting = Effect.fnUntraced(function* <Row, E, R>(
  { limit, offset }: Page,
  ask: (page: Page) => Effect.Effect<ReadonlyArray<Row>, E, R>
) {
  const rows: Array<Row> = []
  let left = largestPart
  for (let atOnce = firstAtOnce; rows.length < limit; atOnce = Math.min(2 * atOnce, mostAtOnce)) {
    const wanted = Math.min(atOnce, limit - rows.length)
    const more = yield* ask({ limit: wanted, offset: offset + rows.length })
    for (const row of more) {
      left -= jsonSize(row, left)
      if (left < 0 && rows.length > 0) return { rows, isCut: true } satisfies Part<Row>
      rows.push(row)
    }
    if (more.length < wanted) break
  }
  return { rows, isCut: false } satisfies Part<Row>
})
