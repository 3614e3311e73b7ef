/**
 * Sends events to the clients that follow them on this node. One reader serves all followers, and it reads nothing while there are none. A
 * follower first gets the events since the one it names, from the database, and then those that the reader hands out. Its buffer is bounded:
 * once the buffer is full, the follower is handed nothing more, and after emptying the buffer it catches up from the database.
 */
import { type Cause, Clock, Effect, Layer, Option, Queue, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type Event, type EventId, type EventSelection, isSelected } from "#core/event/Event.ts"
import { readEvents } from "#core/event/EventReading.ts"
import { after, newest } from "#core/event/EventStore.ts"
import { LiveEvents, TooManyFollowers } from "#core/event/LiveEvents.ts"
import type { OrganizationId } from "#core/Id.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { FollowerPlaces } from "./FollowerPlaces.ts"
import { unending } from "./EventSequencer.ts"
import { EventWakes } from "./EventWakes.ts"

const SAFETY = "5 seconds"
const READ_AT_ONCE = 500
const BUFFERED = 1000
/** How soon a client that exceeded the limit of followers may try again. */
const RETRY_SECONDS = 5

interface Follower {
  readonly selection: EventSelection
  readonly queue: Queue.Queue<Event, Cause.Done>
}

class Followers {
  private readonly byOrganization = new Map<OrganizationId, Set<Follower>>()

  get areNone(): boolean {
    return this.byOrganization.size === 0
  }
  add(follower: Follower): void {
    const { organizationId } = follower.selection
    const among = this.byOrganization.get(organizationId) ?? new Set()
    this.byOrganization.set(organizationId, among.add(follower))
  }
  remove(follower: Follower): void {
    const { organizationId } = follower.selection
    const among = this.byOrganization.get(organizationId)
    among?.delete(follower)
    if (among?.size === 0) this.byOrganization.delete(organizationId)
  }
  handOut(event: Event): void {
    for (const follower of this.byOrganization.get(event.organizationId) ?? []) {
      if (!isSelected(follower.selection, event) || Queue.offerUnsafe(follower.queue, event)) continue
      this.remove(follower)
      Queue.endUnsafe(follower.queue)
    }
  }
}

/** What the reader and the followers' streams share. */
interface Feed {
  readonly sql: SqlClient.SqlClient
  readonly followers: Followers
  /** Held while events are read, and while a follower determines where its reading starts. */
  readonly reading: Semaphore.Semaphore
  /** The newest event handed out; undefined while nobody follows. */
  last: EventId | undefined
}

const readOn = (feed: Feed, wakes: EventWakes["Service"]) =>
  Effect.gen(function* () {
    if (feed.followers.areNone) feed.last = undefined
    if (feed.last === undefined) return
    const events = yield* after(feed.sql, feed.last, READ_AT_ONCE)
    for (const event of events) feed.followers.handOut(event)
    feed.last = events.at(-1)?.id ?? feed.last
    if (events.length === READ_AT_ONCE) wakes.events.up()
  })

/** From now on the follower is handed every event after the returned one. */
const attach = (feed: Feed, follower: Follower) =>
  feed.reading.withPermits(1)(
    Effect.gen(function* () {
      // The newest of all organizations, although the request sees only its own.
      feed.last ??= yield* Effect.provideService(Effect.orDie(newest(feed.sql)), CurrentTenant, undefined)
      feed.followers.add(follower)
      return feed.last
    })
  )

const follow = (feed: Feed, selection: EventSelection, from: EventId | undefined) => {
  /** The newest event that the follower has received, or that was skipped because it is not selected. */
  let at = from
  const recorded = (until: EventId | undefined) =>
    Stream.paginate(undefined, () => {
      if (at === undefined || (until !== undefined && at >= until)) return Effect.succeed([[], Option.none()] as const)
      return Effect.orDie(readEvents(feed.sql, selection, { after: at, limit: READ_AT_ONCE })).pipe(
        Effect.map((page) => {
          at = page.last ?? at
          return [page.events, page.isWhole ? Option.none() : Option.some(undefined)] as const
        })
      )
    })
  const live = Effect.gen(function* () {
    const queue = yield* Queue.dropping<Event, Cause.Done>(BUFFERED)
    const follower: Follower = { selection, queue }
    yield* Effect.addFinalizer(() => Effect.sync(() => feed.followers.remove(follower)))
    const joined = yield* attach(feed, follower)
    at ??= joined
    const handed = Stream.fromQueue(queue).pipe(
      Stream.filter(({ id }) => {
        // A page may already have included the event.
        if (id <= (at ?? joined)) return false
        at = id
        return true
      })
    )
    // First the events between the last page and joining, then those that the reader hands out.
    return Stream.concat(recorded(joined), handed)
  })
  // A full buffer ends the live stream; the next round starts with the events recorded since.
  return Stream.forever(Stream.concat(recorded(undefined), Stream.unwrap(live)))
}

export const layer = Layer.effect(
  LiveEvents,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wakes = yield* EventWakes
    const feed: Feed = { sql, followers: new Followers(), reading: yield* Semaphore.make(1), last: undefined }
    const read = feed.reading.withPermits(1)(readOn(feed, wakes))
    yield* Effect.forkScoped(unending("events could not be read", Effect.andThen(wakes.events.wait(SAFETY), read)))

    const places = new FollowerPlaces(yield* Clock.Clock)
    return {
      following: places.count,
      follow: (selection, from, most) =>
        Effect.suspend(() => {
          const { organizationId } = selection
          if (!places.take(organizationId, most))
            return Effect.fail(new TooManyFollowers({ limit: most, retryAfterSeconds: RETRY_SECONDS }))
          return Effect.succeed(Stream.unwrap(Effect.as(places.begun(organizationId), follow(feed, selection, from))))
        })
    }
  })
)
