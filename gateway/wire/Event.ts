/** Events, in the shape in which they also go to webhooks: CloudEvents 1.0. */
import Type, { type Static } from "typebox"
import type { Compatibility } from "#core/Compatibility.ts"
import { cloudEventOf } from "#core/webhook/CloudEvent.ts"
import { type Event, EventId, type EventSelection, type EventType, eventTypes, gapType } from "#core/event/Event.ts"
import type { EventPage } from "#core/event/Events.ts"
import type { OrganizationId, RunId } from "#core/Id.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import { id, instant, object, optional, orUndefined } from "#gateway/request/Field.ts"

export const EventWire = Type.Object(
  {
    specversion: Type.Literal("1.0"),
    id: Type.String({ description: "A number that increases with each event; use it to resume from there." }),
    source: Type.String(),
    type: Type.Enum([...eventTypes, gapType], {
      description:
        "`events.gap` is sent no matter which types were requested: the events after the requested one are no longer kept, or there is no such event. Look up what happened between `after_id` and `until_id` of `data`."
    }),
    subject: Type.String({
      description:
        "`campaigns/{id}`, `runs/{id}` or `opt-outs/{id}`; `webhook-endpoints/{id}` for a test, `organization` for its storage, `events` for a gap."
    }),
    time: instant(),
    datacontenttype: Type.Literal("application/json"),
    data: object("The subject of the event, as it was at that time. Keys may be added.")
  },
  { title: "Event" }
)

export const eventWire = (event: Event, compatibility: Compatibility): Static<typeof EventWire> => cloudEventOf(event, compatibility)

export const FeedbackWire = Type.Object(
  {
    type: Type.String({ pattern: "^rtf-" }),
    payload: object("As in `logs.realtime_feedback_events` of the run."),
    timestamp: Type.String({ format: "date-time" }),
    turn: Type.Integer({ description: "How many times the callee had spoken by then." }),
    node_id: Type.Optional(Type.String()),
    node_name: Type.Optional(Type.String()),
    workflow_run_id: id<RunId>()
  },
  { title: "FeedbackEvent", description: "Not stored until the call is over. It has no id, and cannot be resumed from." }
)

export const feedbackWire = (event: FeedbackEvent, runId: RunId): Static<typeof FeedbackWire> => ({ ...event, workflow_run_id: runId })

const position = (description: string) => optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }))
const oneType = `(${eventTypes.join("|").replaceAll(".", "\\.")})`
const types = optional(Type.String({ pattern: `^${oneType}(,${oneType})*$`, description: "Only these types, separated by commas." }))

/** After validation, the text consists of types separated by commas. */
const typesOf = (text: string | null): ReadonlyArray<EventType> => (text === null ? [] : (text.split(",") as ReadonlyArray<EventType>))

export const selectionOf = (organizationId: OrganizationId, query: { readonly types: string | null }): EventSelection => ({
  organizationId,
  types: typesOf(query.types)
})

export const EventListQuery = Type.Object({
  after_id: position("The id of the last known event, or `next_after_id` of the previous page."),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  types
})

export const EventPageWire = Type.Object(
  {
    events: Type.Array(EventWire),
    next_after_id: Type.Integer({
      description: "`after_id` of the next page. If it does not change, there are no more events at the moment."
    })
  },
  { title: "EventPage" }
)
export const eventPageWire = ({ events, next }: EventPage, compatibility: Compatibility): Static<typeof EventPageWire> => ({
  events: events.map((event) => eventWire(event, compatibility)),
  next_after_id: next
})

const lastEventId = position("Start after this event. If left out, start with new events.")
export const EventStreamQuery = Type.Object({
  last_event_id: lastEventId,
  types,
  figures: Type.Boolean({
    default: false,
    description:
      "Also send figures that change with each call: messages without an id, named `quotas`, with what `GET /organizations/quotas` answers, and `progress`, with what `GET /campaign/{campaign_id}/progress` answers, for each campaign that is running or paused (a hundred of them at most). All of them at first, then those that have changed, at most once a second."
  })
})
export const EventStreamHeaders = Type.Object({ "Last-Event-ID": lastEventId })
export const EventSocketQuery = Type.Object({
  last_event_id: lastEventId,
  types,
  run_id: optional(
    id<RunId>("Also send what happens in the conversation of this run, from now on: its `rtf-*` events, as they will be in the run's logs.")
  ),
  api_key: optional(Type.String({ description: "For clients that cannot send headers." }))
})

export const positionOf = (value: number | null): EventId | undefined => {
  const given = orUndefined(value)
  return given === undefined ? undefined : EventId.make(given)
}
