/**
 * What happened to a campaign or a run of an organization. Written by the database's triggers together with the change itself, so that there
 * is no change without its event and no event without its change. Kept for seven days; whoever was away for longer is told so.
 */
import { Schema } from "effect"
import type { OrganizationId } from "#core/Id.ts"

/** A place in the one order of all events: whoever has seen an id has seen, or can see, every lower one. */
export const EventId = Schema.Int.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type
/** No event has this id: all come after it. */
export const beginning = EventId.make(0)

/** What there is to follow. */
export const eventTypes = [
  "campaign.created",
  "campaign.started",
  "campaign.paused",
  "campaign.resumed",
  "campaign.completed",
  "campaign.failed",
  /** On the campaign that was redialed; the new one is also `created`. */
  "campaign.redialed",
  "run.answered",
  "run.completed",
  /** Calls of the organization are not recorded until it keeps less, or may keep more. */
  "storage.full",
  /** Asked for, to try a webhook endpoint: of the endpoints it goes to that one alone. */
  "webhook.test"
] as const
/** Told to a follower who goes on from an event that is not kept any more, or that there never was: some may be missing from here on. */
export const gapType = "events.gap"
export type EventType = (typeof eventTypes)[number] | typeof gapType

export interface Event {
  readonly id: EventId
  readonly organizationId: OrganizationId
  readonly type: EventType
  /** `campaigns/7`, `runs/9` */
  readonly subject: string
  /** As the API shows it. */
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** No types: every one. */
export interface EventSelection {
  readonly organizationId: OrganizationId
  readonly types: ReadonlyArray<EventType>
}

export const isSelected = ({ organizationId, types }: EventSelection, event: Event): boolean =>
  event.organizationId === organizationId && (types.length === 0 || types.includes(event.type))
