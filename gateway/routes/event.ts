/** /api/v1/events */
import { type Duration, Effect, Schedule, Stream } from "effect"
import { Compatibility } from "#core/Compatibility.ts"
import { type Event, beginning } from "#core/event/Event.ts"
import { Events } from "#core/event/Events.ts"
import { LiveEvents } from "#core/event/LiveEvents.ts"
import { followersOf } from "#core/organization/Quota.ts"
import type { Identities } from "#gateway/request/authenticate.ts"
import { Closing } from "#gateway/http/Closing.ts"
import { credentialLost, FollowingTimes, longestFollowing } from "#gateway/events/followerLimits.ts"
import { socketPath } from "#gateway/events/liveEvents.ts"
import { UpgradeRequired } from "#gateway/request/Refusal.ts"
import { shown } from "#gateway/request/shown.ts"
import { type Content, download, type Route, route, tagged } from "#gateway/request/Route.ts"
import {
  EventListQuery,
  EventPageWire,
  EventSocketQuery,
  EventStreamHeaders,
  EventStreamQuery,
  EventWire,
  eventPageWire,
  eventWire,
  positionOf,
  selectionOf
} from "#gateway/wire/Event.ts"

/** How soon a browser comes back. */
const retryMillis = 2000

const frameOf =
  (compatibility: Compatibility) =>
  (event: Event): string =>
    `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(eventWire(event, compatibility))}\n\n`

/** https://html.spec.whatwg.org/multipage/server-sent-events.html */
const frames = (events: Stream.Stream<string>, heartbeat: Duration.Input, ending: Effect.Effect<void>) => {
  const heartbeats = Stream.fromSchedule(Schedule.spaced(heartbeat)).pipe(Stream.map(() => ":\n\n"))
  return Stream.make(`retry: ${retryMillis}\n\n`).pipe(
    Stream.concat(events.pipe(Stream.merge(heartbeats, { haltStrategy: "left" }))),
    Stream.interruptWhen(ending),
    Stream.encodeText
  )
}

/** The route, whose answer ends with the credential that it was asked with. */
const whileWelcome = <R>(endless: Route<R>): Route<R | Identities> => ({
  ...endless,
  around: ({ caller }, reply, credential) =>
    Effect.gen(function* () {
      const answer = yield* reply
      if (typeof answer.body === "string" || caller === undefined) return answer
      const lost = Effect.provideContext(Effect.exit(credentialLost(credential, caller)), yield* Effect.context<Identities>())
      return { ...answer, body: { ...answer.body, stream: Stream.interruptWhen(answer.body.stream, lost) } }
    })
})

export const eventRoutes = tagged({ name: "Events", about: "What happens to campaigns and calls, as it happens." }, [
  route({
    method: "get",
    path: "/api/v1/events",
    name: "listEvents",
    summary: "List what happened to campaigns and runs, oldest first",
    description:
      "Events are kept for seven days. Whoever asks for what came after an older one is told of the gap by an event `events.gap`.",
    query: EventListQuery,
    success: EventPageWire,
    handle: ({ caller, query }) =>
      Events.use((_) =>
        _.list(selectionOf(caller.organizationId, query), { after: positionOf(query.after_id) ?? beginning, limit: query.limit })
      ).pipe(shown(eventPageWire))
  }),
  whileWelcome(
    download({
      method: "get",
      path: "/api/v1/events/stream",
      name: "followEvents",
      summary: "Follow events as they happen (server-sent events)",
      description:
        "Each event is one message, with its id. The connection ends after an hour at the latest, or when nothing is read from it for half a minute; a client then comes back and goes on from the last id it got. It ends too when the credential is void; there is a comment line every 15 seconds.",
      query: EventStreamQuery,
      headers: EventStreamHeaders,
      mediaTypes: ["text/event-stream"],
      errors: ["TooManyFollowers"],
      handle: ({ caller, headers, query }) =>
        Effect.gen(function* () {
          const { begun } = yield* Closing
          // A client that comes back names the newer one in the header.
          const after = positionOf(headers["Last-Event-ID"] ?? query.last_event_id)
          const events = yield* LiveEvents.use((_) => _.follow(selectionOf(caller.organizationId, query), after, followersOf(caller)))
          const { heartbeat } = yield* FollowingTimes
          const content: Content = {
            mediaType: "text/event-stream",
            body: frames(Stream.map(events, frameOf(yield* Compatibility)), heartbeat, Effect.race(begun, Effect.sleep(longestFollowing)))
          }
          return content
        })
    })
  ),
  route({
    method: "get",
    path: socketPath,
    name: "followEventsBySocket",
    summary: "Follow events as they happen (websocket)",
    description:
      "After the upgrade, each text message is one event. Closed with 4401 for a bad credential, also for one that becomes void meanwhile, 4403 for a key without the scope `read`, 4400 for a bad query, 4429 for too many connections, 4408 when nothing is read for half a minute, 1001 when the service stops; a client goes on from the last id it got.",
    query: EventSocketQuery,
    success: EventWire,
    errors: ["UpgradeRequired"],
    handle: () => Effect.fail(new UpgradeRequired())
  })
])
