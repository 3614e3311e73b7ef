/** Port: follow an organization's events as they happen. */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { Event, EventId, EventSelection } from "./Event.ts"

/** The organization has as many followers on this node as its quota allows. */
export class TooManyFollowers extends Schema.TaggedError<TooManyFollowers>()("TooManyFollowers", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {}

export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    /**
     * An endless stream of the events after `after`, followed by new ones as they happen: each event once, in order, at the pace of the
     * consumer. If `after` is undefined, the stream has new events only. A notice takes the place of events that are no longer kept. `most`
     * is how many followers the organization may have on this node.
     */
    readonly follow: (
      selection: EventSelection,
      after: EventId | undefined,
      most: number
    ) => Effect.Effect<Stream.Stream<Event>, TooManyFollowers>
    /** How many followers the organization has on this node. */
    readonly following: (organizationId: OrganizationId) => number
  }
>()("core/event/LiveEvents") {}
