/** Port: follow an organization's events as they happen. */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { Event, EventId, EventSelection } from "./Event.ts"

/** The organization has as many followers on this node as its quota allows. */
export class TooManyFollowers extends Schema.TaggedError<TooManyFollowers>()("TooManyFollowers", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {}

/** Whom events are told, in order. */
export interface Follower<E> {
  /** Returns once it can take more. */
  readonly write: (events: ReadonlyArray<Event>) => Effect.Effect<void, E>
  /** Whether these are on their way now. If not, because it still has to take what came before, it has got none of them. */
  readonly writeNow: (events: ReadonlyArray<Event>) => boolean
}

export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    /**
     * Tells the follower the events after `after`, and then new ones as they happen: each event once, in order, at the follower's own pace. If
     * `after` is undefined, it is told new events only. A notice takes the place of events that are no longer kept. `most` is how many followers
     * the organization may have on this node.
     */
    readonly follow: (
      selection: EventSelection,
      after: EventId | undefined,
      most: number
    ) => Effect.Effect<<E>(follower: Follower<E>) => Effect.Effect<never, E>, TooManyFollowers>
    /** A stream with an element at once, and another when something has happened in the organization since the last. It takes no follower's place. */
    readonly stirs: (organizationId: OrganizationId) => Stream.Stream<void>
    /** How many followers the organization has on this node. */
    readonly following: (organizationId: OrganizationId) => number
  }
>()("core/event/LiveEvents") {}
