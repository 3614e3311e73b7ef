/** An event as it leaves the engine, by whatever way: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md */
import type { Event, EventType } from "./Event.ts"

export interface CloudEvent {
  readonly specversion: "1.0"
  /** The event's id in decimal; the same at every try. */
  readonly id: string
  readonly source: string
  readonly type: EventType
  readonly subject: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly data: Readonly<Record<string, unknown>>
}

export const cloudEventOf = (event: Event): CloudEvent => ({
  specversion: "1.0",
  id: String(event.id),
  source: `/organizations/${event.organizationId}`,
  type: event.type,
  subject: event.subject,
  time: event.createdAt.toISOString(),
  datacontenttype: "application/json",
  data: event.data
})
