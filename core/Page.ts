import { Effect } from "effect"
import { jsonSize } from "./jsonSize.ts"

/** A part of a list. Asking for one row more than is shown tells whether the list goes on. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

/** The default for clients that ask for no page. */
export const firstPage: Page = { limit: 1000, offset: 0 }

/** The maximum characters of JSON in one answer. A single item may have half a million. */
const largestPart = 2_000_000
const firstAtOnce = 8
const mostAtOnce = 64

export interface Part<Row> {
  readonly rows: ReadonlyArray<Row>
  /** Whether rows were left out because they would have made the answer too large. */
  readonly isCut: boolean
}

/** Reads a list whose items may be large, a few rows at a time: as many as fit into one answer, but always the first. */
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
