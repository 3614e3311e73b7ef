/**
 * What an organization is told of its events after the one it names. When some that followed it are not kept any more, or when there never
 * was such an id, as after a database was put back from a backup, a notice comes first: its id is where to go on, its data what to look up.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { CurrentTenant } from "../organization/CurrentTenant.ts"
import { beginning, type Event, EventId, type EventSelection, gapType } from "./Event.ts"
import { type Kept, kept, type Scan, scan } from "./EventStore.ts"

/** Ids are given to all organizations in turn: whether any are gone, no organization's own rows tell. */
const isSeamless = (after: EventId, { newest, oldest }: Kept): boolean => after === beginning || (after >= oldest - 1 && after <= newest)

export const readEvents = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, selection: EventSelection, page: Scan) {
  const found = yield* scan(sql, selection, page)
  // Later than the rows, so that nothing is deleted unnoticed in between.
  const now = yield* Effect.provideService(kept(sql), CurrentTenant, undefined)
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
