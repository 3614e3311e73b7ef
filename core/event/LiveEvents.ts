/** Port: follow an organization's events as they happen. */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { Event, EventId, EventSelection } from "./Event.ts"

/** The organization has as many followers on this node as it may have. */
export class TooManyFollowers extends Schema.TaggedError<TooManyFollowers>()("TooManyFollowers", { limit: Schema.Int }) {}

export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    /**
     * The events after `after` and then those that happen, each one once and in order, without end, as fast as they are taken. Undefined:
     * only those that happen from now on. Where what is no longer kept would be, there is a notice.
     */
    readonly follow: (selection: EventSelection, after: EventId | undefined) => Effect.Effect<Stream.Stream<Event>, TooManyFollowers>
  }
>()("core/event/LiveEvents") {}
