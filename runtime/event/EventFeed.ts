/**
 * Sends events to the clients that follow them on this node. One reader serves all followers, and it reads nothing while there are none. A
 * follower first gets the events since the one it names, from the database, and then those that the reader hands out, which are written to it
 * there and then. One whose client cannot take more is handed nothing until it has caught up from the database.
 */
import { Clock, Deferred, Effect, Layer, Queue, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type Event, EventId, type EventSelection, isSelected } from "#core/event/Event.ts"
import { readEvents } from "#core/event/EventReading.ts"
import { after, newest } from "#core/event/EventStore.ts"
import { type Follower, LiveEvents, TooManyFollowers } from "#core/event/LiveEvents.ts"
import type { OrganizationId } from "#core/Id.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { unending } from "./EventSequencer.ts"
import { EventWakes } from "./EventWakes.ts"
import { FollowerPlaces } from "./FollowerPlaces.ts"

const SAFETY = "5 seconds"
const READ_AT_ONCE = 500
/** Events that wait for a follower while it catches up; with more, it catches up once more. */
const BUFFERED = 1000
/** So many are handed events before anything else may happen, such as the next 20 ms of a call's audio. */
const HANDED_AT_ONCE = 32
/** How soon a client that exceeded the limit of followers may try again. */
const RETRY_SECONDS = 5

interface Listener {
  readonly selection: EventSelection
  readonly hear: (events: ReadonlyArray<Event>) => void
}

class Listeners {
  readonly #byOrganization = new Map<OrganizationId, Set<Listener>>()

  get areNone(): boolean {
    return this.#byOrganization.size === 0
  }
  add(listener: Listener): void {
    const { organizationId } = listener.selection
    const among = this.#byOrganization.get(organizationId) ?? new Set()
    this.#byOrganization.set(organizationId, among.add(listener))
  }
  remove(listener: Listener): void {
    const { organizationId } = listener.selection
    const among = this.#byOrganization.get(organizationId)
    among?.delete(listener)
    if (among?.size === 0) this.#byOrganization.delete(organizationId)
  }

  /** All who want the same get the same array. */
  handOut(events: ReadonlyArray<Event>): Effect.Effect<void> {
    const byOrganization = this.#byOrganization
    return Effect.gen(function* () {
      let handed = 0
      for (const [organizationId, own] of Map.groupBy(events, (event) => event.organizationId)) {
        // Those who come meanwhile wait for the end of this; those who go are left out.
        for (const listener of byOrganization.get(organizationId) ?? []) {
          const { selection } = listener
          const selected = selection.types.length === 0 ? own : own.filter((event) => isSelected(selection, event))
          if (selected.length > 0) listener.hear(selected)
          handed++
          if (handed % HANDED_AT_ONCE === 0) yield* Effect.yieldNow
        }
      }
    })
  }
}

/** A follower between one catching up and the next. */
class Live implements Listener {
  readonly selection: EventSelection
  readonly #writeNow: (events: ReadonlyArray<Event>) => boolean
  readonly #left = Deferred.makeUnsafe<EventId>()
  /** Handed out while it still catches up; undefined: no longer. */
  #early: Array<Event> | undefined = []
  #isLeft = false
  #at: EventId | undefined

  constructor(selection: EventSelection, writeNow: (events: ReadonlyArray<Event>) => boolean) {
    this.selection = selection
    this.#writeNow = writeNow
  }

  hear(events: ReadonlyArray<Event>): void {
    if (this.#isLeft) return
    if (this.#at === undefined) return this.#keep(events)
    const at = this.#at
    const [first] = events
    // A page from the database may already have included some.
    const fresh = first !== undefined && first.id > at ? events : events.filter(({ id }) => id > at)
    const [oldest] = fresh
    if (oldest === undefined) return
    if (this.#writeNow(fresh)) this.#at = fresh.at(-1)?.id
    else this.#leave(EventId.make(oldest.id - 1))
  }

  /** It has caught up to there. Returns with the event from which it has to catch up again, when its client cannot take more. */
  from(at: EventId): Effect.Effect<EventId> {
    return Effect.suspend(() => {
      if (this.#isLeft) return Effect.succeed(at)
      const early = this.#early ?? []
      this.#early = undefined
      this.#at = at
      this.hear(early)
      return Deferred.await(this.#left)
    })
  }

  #keep(events: ReadonlyArray<Event>): void {
    this.#early?.push(...events)
    if ((this.#early?.length ?? 0) <= BUFFERED) return
    this.#early = undefined
    this.#isLeft = true
  }

  #leave(at: EventId): void {
    this.#isLeft = true
    Deferred.doneUnsafe(this.#left, Effect.succeed(at))
  }
}

/** What the reader and the followers share. */
interface Feed {
  readonly sql: SqlClient.SqlClient
  readonly listeners: Listeners
  /** Held while events are read and handed out, and while a follower determines where its reading starts. */
  readonly reading: Semaphore.Semaphore
  /** The newest event handed out; undefined while nobody follows. */
  last: EventId | undefined
}

const readOn = (feed: Feed, wakes: EventWakes["Service"]) =>
  Effect.gen(function* () {
    if (feed.listeners.areNone) feed.last = undefined
    if (feed.last === undefined) return
    const events = yield* after(feed.sql, feed.last, READ_AT_ONCE)
    yield* feed.listeners.handOut(events)
    feed.last = events.at(-1)?.id ?? feed.last
    if (events.length === READ_AT_ONCE) wakes.events.up()
  })

/** From now on, until the scope closes, the listener is handed every event after the returned one. */
const attach = (feed: Feed, listener: Listener) =>
  Effect.andThen(
    Effect.addFinalizer(() => Effect.sync(() => feed.listeners.remove(listener))),
    feed.reading.withPermits(1)(
      Effect.gen(function* () {
        // The newest of all organizations, although the request sees only its own.
        feed.last ??= yield* Effect.provideService(Effect.orDie(newest(feed.sql)), CurrentTenant, undefined)
        feed.listeners.add(listener)
        return feed.last
      })
    )
  )

const follow = <E>(feed: Feed, selection: EventSelection, { write, writeNow }: Follower<E>, from: EventId | undefined) => {
  /** The newest event that the follower has been told, or that was skipped because it is not selected. */
  let at = from
  const catchUp = Effect.gen(function* () {
    while (at !== undefined) {
      const page = yield* Effect.orDie(readEvents(feed.sql, selection, { after: at, limit: READ_AT_ONCE }))
      at = page.last ?? at
      if (page.events.length > 0) yield* write(page.events)
      if (page.isWhole) return
    }
  })
  const round = Effect.gen(function* () {
    yield* catchUp
    const live = new Live(selection, writeNow)
    const joined = yield* attach(feed, live)
    // Events between the last page and joining.
    if (at !== undefined && at < joined) yield* catchUp
    at = yield* live.from(at ?? joined)
  })
  return Effect.forever(Effect.scoped(round)).pipe(Effect.provideService(CurrentTenant, selection.organizationId))
}

const stirs = (feed: Feed, organizationId: OrganizationId): Stream.Stream<void> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const queue = yield* Queue.sliding<void>(1)
      const stir = () => void Queue.offerUnsafe(queue, undefined)
      yield* attach(feed, { selection: { organizationId, types: [] }, hear: stir })
      stir()
      return Stream.fromQueue(queue)
    })
  )

export const layer = Layer.effect(
  LiveEvents,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wakes = yield* EventWakes
    const feed: Feed = { sql, listeners: new Listeners(), reading: yield* Semaphore.make(1), last: undefined }
    const read = feed.reading.withPermits(1)(readOn(feed, wakes))
    yield* Effect.forkScoped(unending("events could not be read", Effect.andThen(wakes.events.wait(SAFETY), read)))

    const places = new FollowerPlaces(yield* Clock.Clock)
    return {
      following: places.count,
      stirs: (organizationId) => stirs(feed, organizationId),
      follow: (selection, from, most) =>
        Effect.suspend(() => {
          const { organizationId } = selection
          if (!places.take(organizationId, most))
            return Effect.fail(new TooManyFollowers({ limit: most, retryAfterSeconds: RETRY_SECONDS }))
          return Effect.succeed(<E>(follower: Follower<E>) =>
            Effect.scoped(Effect.andThen(places.begun(organizationId), follow(feed, selection, follower, from)))
          )
        })
    }
  })
)
