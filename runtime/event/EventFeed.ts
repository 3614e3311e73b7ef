/**
 * Events to whoever follows them on this node. One reader for all of them, and none while there are no followers. A follower first gets
 * what has happened since the event it names, from the database, and then what the reader hands out. Its buffer is bounded: when that is
 * full it is handed nothing more, and when it has emptied it, it catches up from the database again.
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
/** For one who finds no place. */
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

export const layer = Layer.effect(
  LiveEvents,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wakes = yield* EventWakes
    const followers = new Followers()
    // Whoever reads, or finds out from where to read, is alone.
    const reading = yield* Semaphore.make(1)
    let last: EventId | undefined

    const readOn = Effect.gen(function* () {
      if (followers.areNone) last = undefined
      if (last === undefined) return
      const events = yield* after(sql, last, READ_AT_ONCE)
      for (const event of events) followers.handOut(event)
      last = events.at(-1)?.id ?? last
      if (events.length === READ_AT_ONCE) wakes.events.up()
    })
    yield* Effect.forkScoped(
      unending("events could not be read", Effect.andThen(wakes.events.wait(SAFETY), reading.withPermits(1)(readOn)))
    )

    // Also when a request asks, which sees its own organization's events alone.
    const newestOfAll = Effect.provideService(Effect.orDie(newest(sql)), CurrentTenant, undefined)

    /** From now on the follower is handed what comes after the event that is returned. */
    const attach = (follower: Follower) =>
      reading.withPermits(1)(
        Effect.gen(function* () {
          last ??= yield* newestOfAll
          followers.add(follower)
          return last
        })
      )

    const follow = (selection: EventSelection, from: EventId | undefined) => {
      /** What has been handed on, or looked at and left out. */
      let at = from
      const recorded = (until: EventId | undefined) =>
        Stream.paginate(undefined, () => {
          if (at === undefined || (until !== undefined && at >= until)) return Effect.succeed([[], Option.none()] as const)
          return Effect.orDie(readEvents(sql, selection, { after: at, limit: READ_AT_ONCE })).pipe(
            Effect.map((page) => {
              at = page.last ?? at
              return [page.events, page.isWhole ? Option.none() : Option.some(undefined)] as const
            })
          )
        })
      const live = Effect.gen(function* () {
        const queue = yield* Queue.dropping<Event, Cause.Done>(BUFFERED)
        const follower: Follower = { selection, queue }
        yield* Effect.addFinalizer(() => Effect.sync(() => followers.remove(follower)))
        const joined = yield* attach(follower)
        at ??= joined
        const handed = Stream.fromQueue(queue).pipe(
          // What a page had already.
          Stream.filter(({ id }) => id > (at ?? joined)),
          Stream.tap(({ id }) => Effect.sync(() => void (at = id)))
        )
        // What came between the last page and our joining, and then what we are handed.
        return Stream.concat(recorded(joined), handed)
      })
      // It ends when the buffer was full, and begins again with what has come since.
      return Stream.forever(Stream.concat(recorded(undefined), Stream.unwrap(live)))
    }

    const places = new FollowerPlaces(yield* Clock.Clock)
    return {
      following: places.count,
      follow: (selection, from, most) =>
        Effect.suspend(() => {
          const { organizationId } = selection
          if (!places.take(organizationId, most))
            return Effect.fail(new TooManyFollowers({ limit: most, retryAfterSeconds: RETRY_SECONDS }))
          return Effect.succeed(Stream.unwrap(Effect.as(places.begun(organizationId), follow(selection, from))))
        })
    }
  })
)
