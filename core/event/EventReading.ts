/**
 * What an organization is told of its events after the one it names. When some that followed it are not kept any more, or when there never
 * was such an id, as after a database was put back from a backup, a notice comes first: its id is where to go on, its data what to look up.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { beginning, type Event, EventId, type EventSelection, gapType } from "./Event.ts"
import { type Kept, kept, type Scan, scan } from "./EventStore.ts"

/** Judged by the organization's own events alone: ids are given to all organizations in turn, and how far they have come is nobody's business. */
const isSeamless = (after: EventId, { goneUntil, newest }: Kept): boolean => after === beginning || (after >= goneUntil && after <= newest)

export const readEvents = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, selection: EventSelection, page: Scan) {
  const found = yield* scan(sql, selection, page)
  // Later than the rows, so that nothing is deleted unnoticed in between.
  const now = yield* kept(sql, selection.organizationId)
  if (isSeamless(page.after, now)) return found
  // And once more, so that nothing that came in between is passed over.
  const left = yield* scan(sql, selection, page)
  const id = left.first === undefined ? now.newest : EventId.make(left.first - 1)
  const notice: Event = {
    id,
    organizationId: selection.organizationId,
    type: gapType,
    subject: "events",
    data: { after_id: page.after, until_id: id },
    createdAt: new Date(yield* Clock.currentTimeMillis)
  }
  return { ...left, events: [notice, ...left.events], last: left.last ?? id }
})
