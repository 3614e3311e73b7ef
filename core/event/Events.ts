/** Reads the events of an organization by the page, oldest first, for clients that poll. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Event, EventId, EventSelection } from "./Event.ts"
import { readEvents } from "./EventReading.ts"

/** The events that a page looks at when only some types are selected: few of them may match. */
const scannedAtOnce = 1000

export interface EventPage {
  readonly events: ReadonlyArray<Event>
  /** The `after` of the next page. */
  readonly next: EventId
}

export class Events extends Context.Service<
  Events,
  {
    /** At most `limit` events after `after`. Fewer, or none, does not mean that there are no more: only `next` equal to `after` does. */
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
          // If the page does not show all that was found, the next one starts after the last event shown; otherwise after the last row read.
          const next = shown.length < events.length ? shown.at(-1)?.id : last
          return { events: shown, next: next ?? after }
        })
      })
    )
  )
}
