/** The events of an organization, oldest first, for those who ask now and then. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Event, EventId, EventSelection } from "./Event.ts"
import { readEvents } from "./EventReading.ts"

/** Rows that one page looks at: with a choice of types, it may find few among many. */
const scannedAtOnce = 1000

export interface EventPage {
  readonly events: ReadonlyArray<Event>
  /** Where the next page begins. */
  readonly next: EventId
}

export class Events extends Context.Service<
  Events,
  {
    /** Those after `after`, at most `limit`. Fewer, or none, does not mean that there are no more: that is so when `next` stands still. */
    readonly list: (selection: EventSelection, page: { readonly after: EventId; readonly limit: number }) => Effect.Effect<EventPage>
  }
>()("core/event/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Events.of({
        list: Effect.fn("Events.list")(function* (selection, { after, limit }) {
          const rows = selection.types.length === 0 ? limit : scannedAtOnce
          const { events, last } = yield* Effect.orDie(readEvents(sql, selection, { after, limit: rows }))
          const shown = events.slice(0, limit)
          // When some are left for later, the next page begins behind the last one shown; else behind all that were looked at.
          const next = shown.length < events.length ? shown.at(-1)?.id : last
          return { events: shown, next: next ?? after }
        })
      })
    )
  )
}
