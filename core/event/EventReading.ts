/**
 * Reads an organization's events after a given id. If some events after that id are no longer kept, or if there has never been such an id (as
 * after a database was restored from a backup), the page starts with a notice: its id is where to continue, and its data names the range in
 * which events may be missing. Reading from the beginning gives no notice.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { beginning, type Event, EventId, type EventSelection, gapType } from "./Event.ts"
import { type Kept, kept, type Scan, scan } from "./EventStore.ts"

/** Considers the organization's own events only: all organizations share the ids, which must not reveal how many events the others have. */
const isSeamless = (after: EventId, { goneUntil, newest }: Kept): boolean => after === beginning || (after >= goneUntil && after <= newest)

export const readEvents = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, selection: EventSelection, page: Scan) {
  const found = yield* scan(sql, selection, page)
  // Read after the rows, so that a deletion in between does not go unnoticed.
  const now = yield* kept(sql, selection.organizationId)
  if (isSeamless(page.after, now)) return found
  // The rows are read once more, so that the notice does not skip events that were added in between.
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
