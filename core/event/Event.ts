/**
 * Events: what happened to the campaigns, runs and contacts of an organization. The database writes an event in the transaction of the change
 * itself, so that there is no change without its event and no event without its change. Events are kept for seven days; a follower that was away
 * for longer gets a notice.
 */
import { Schema } from "effect"
import type { OrganizationId } from "#core/Id.ts"

/** A position in the order of all events. Once an event is visible, so is every event with a lower id. */
export const EventId = Schema.Int.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type
/** The position before the first event. No event has this id. */
export const beginning = EventId.make(0)

/** The types that clients can choose to follow. */
export const eventTypes = [
  "campaign.created",
  "campaign.started",
  "campaign.paused",
  "campaign.resumed",
  "campaign.completed",
  "campaign.failed",
  /** For the campaign that was redialed. The new campaign has its own `campaign.created`. */
  "campaign.redialed",
  "run.answered",
  "run.completed",
  /** The organization no longer calls a number, because the callee asked for that in a call, or a client did through the API. */
  "contact.opted_out",
  /** The callee and the agent have agreed on a time for another call. */
  "contact.callback_agreed",
  /** Calls of the organization are not recorded until it stores less, or is allowed to store more. */
  "storage.full",
  /** Requested to test a webhook endpoint. No other endpoint gets it. */
  "webhook.test"
] as const
/** A notice for a follower that resumes after events that have been deleted, or at an id that never existed: some events may be missing here. */
export const gapType = "events.gap"
export type EventType = (typeof eventTypes)[number] | typeof gapType

export interface Event {
  readonly id: EventId
  readonly organizationId: OrganizationId
  readonly type: EventType
  /** What the event is about, such as `campaigns/7`, `runs/9` or `opt-outs/4`. */
  readonly subject: string
  /** As the API shows it. */
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** The events to read or follow. No types means every type. */
export interface EventSelection {
  readonly organizationId: OrganizationId
  readonly types: ReadonlyArray<EventType>
}

export const isSelected = ({ organizationId, types }: EventSelection, event: Event): boolean =>
  event.organizationId === organizationId && (types.length === 0 || types.includes(event.type))
