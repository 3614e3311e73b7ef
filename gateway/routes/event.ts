/** /api/v1/events */
import Type from "typebox"
import { Effect, Stream } from "effect"
import { Compatibility } from "#core/Compatibility.ts"
import { beginning } from "#core/event/Event.ts"
import { Events } from "#core/event/Events.ts"
import { LiveEvents } from "#core/event/LiveEvents.ts"
import { followersOf } from "#core/organization/Quota.ts"
import type { Identities } from "#gateway/request/authenticate.ts"
import { isWhole } from "#gateway/http/Endpoint.ts"
import { Closing } from "#gateway/http/Closing.ts"
import { credentialLost, FollowingTimes, longestFollowing } from "#gateway/events/followerLimits.ts"
import { LiveFigures } from "#gateway/events/LiveFigures.ts"
import { socketPath } from "#gateway/events/liveEvents.ts"
import { eventFrames } from "#gateway/events/toldOnce.ts"
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
  FeedbackWire,
  eventPageWire,
  positionOf,
  selectionOf
} from "#gateway/wire/Event.ts"

/** How soon a browser reconnects. */
const retryMillis = 2000

const begin: Uint8Array = Buffer.from(`retry: ${retryMillis}\n\n`)
const comment: Uint8Array = Buffer.from(":\n\n")

/** Ends the answer of a route once the credential that requested it is no longer valid. */
const whileWelcome = <R>(endless: Route<R>): Route<R | Identities> => ({
  ...endless,
  around: ({ caller }, reply, credential) =>
    Effect.gen(function* () {
      const answer = yield* reply
      if (isWhole(answer.body) || answer.body.endless === undefined || caller === undefined) return answer
      const { endless } = answer.body
      const lost = Effect.provideContext(Effect.exit(credentialLost(credential, caller)), yield* Effect.context<Identities>())
      return { ...answer, body: { ...answer.body, endless: { ...endless, until: Effect.raceFirst(endless.until, lost) } } }
    })
})

export const eventRoutes = tagged({ name: "Events", about: "What happens to campaigns and calls, as it happens." }, [
  route({
    method: "get",
    path: "/api/v1/events",
    name: "listEvents",
    summary: "List what happened to campaigns and runs, oldest first",
    description:
      "Events are kept for seven days. A client that continues from an older event is told about the gap by an `events.gap` event.",
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
        "Each event is one message, with its id. The connection ends after an hour at the latest, or when the client reads nothing for half a minute; the client then reconnects and continues from the last id it received. It also ends when the credential becomes invalid. A comment line is sent every 15 seconds.",
      query: EventStreamQuery,
      headers: EventStreamHeaders,
      mediaTypes: ["text/event-stream"],
      errors: ["TooManyFollowers"],
      handle: ({ caller, headers, query }) =>
        Effect.gen(function* () {
          const { begun } = yield* Closing
          // On a reconnect, the header has the newer id.
          const after = positionOf(headers["Last-Event-ID"] ?? query.last_event_id)
          const follow = yield* LiveEvents.use((_) => _.follow(selectionOf(caller.organizationId, query), after, followersOf(caller)))
          const { heartbeat } = yield* FollowingTimes
          const compatibility = yield* Compatibility
          const { of: figures } = yield* LiveFigures
          const content: Content = {
            mediaType: "text/event-stream",
            body: Stream.make(begin),
            endless: {
              tell: ({ write, writeNow }) => {
                const told = follow({
                  write: (events) => write(eventFrames(events, compatibility)),
                  writeNow: (events) => writeNow(eventFrames(events, compatibility))
                })
                if (!query.figures) return told
                const shown = Effect.scoped(Effect.flatMap(figures(caller.organizationId), ({ tell }) => tell(writeNow)))
                return Effect.raceFirst(told, shown)
              },
              heartbeat: { every: heartbeat, bytes: comment },
              until: Effect.race(begun, Effect.sleep(longestFollowing))
            }
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
      "After the upgrade, each text message is one event. With `run_id`, what happens in that run's conversation comes between them. The connection is closed with 4401 for an invalid credential, including one that becomes invalid later, 4403 for an API key without the scope `read`, 4400 for an invalid query, 4429 for too many connections, 4408 when the client reads nothing for half a minute, and 1001 when the service stops; a client then continues from the last id it received.",
    query: EventSocketQuery,
    success: Type.Union([EventWire, FeedbackWire]),
    errors: ["UpgradeRequired"],
    handle: () => Effect.fail(new UpgradeRequired())
  })
])
