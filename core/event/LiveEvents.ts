/** Port: follow an organization's events as they happen. */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { Event, EventId, EventSelection } from "./Event.ts"

/** The organization has as many followers on this node as it may have. */
export class TooManyFollowers extends Schema.TaggedError<TooManyFollowers>()("TooManyFollowers", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {}

export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    /**
     * The events after `after` and then those that happen, each one once and in order, without end, as fast as they are taken. Undefined:
     * only those that happen from now on. Where what is no longer kept would be, there is a notice. `most`: followers that the organization
     * may have.
     */
    readonly follow: (
      selection: EventSelection,
      after: EventId | undefined,
      most: number
    ) => Effect.Effect<Stream.Stream<Event>, TooManyFollowers>
    /** How many of an organization follow on this node. */
    readonly following: (organizationId: OrganizationId) => number
  }
>()("core/event/LiveEvents") {}
