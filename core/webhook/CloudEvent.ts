/** The form in which events leave the engine, however they are sent: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md */
import type { Compatibility } from "#core/Compatibility.ts"
import { campaignStates, shownState } from "#core/campaign/Campaign.ts"
import type { Event, EventType } from "#core/event/Event.ts"

interface CloudEvent {
  readonly specversion: "1.0"
  /** The event's id in decimal. It is the same for every try. */
  readonly id: string
  readonly source: string
  readonly type: EventType
  readonly subject: string
  readonly time: string
  readonly datacontenttype: "application/json"
  readonly data: Readonly<Record<string, unknown>>
}

const stateKeys = ["state", "previous_state"] as const

/** In compatibility mode, events use the existing product's names for a campaign's states, as the rest of the API does. */
const shownData = ({ data, subject }: Event, compatibility: Compatibility): Event["data"] => {
  if (compatibility === undefined || !subject.startsWith("campaigns/")) return data
  const shown = stateKeys.flatMap((key) => {
    const state = campaignStates.find((one) => one === data[key])
    return state === undefined ? [] : [[key, shownState(state, compatibility)]]
  })
  return { ...data, ...Object.fromEntries(shown) }
}

export const cloudEventOf = (event: Event, compatibility: Compatibility): CloudEvent => ({
  specversion: "1.0",
  id: String(event.id),
  source: `/organizations/${event.organizationId}`,
  type: event.type,
  subject: event.subject,
  time: event.createdAt.toISOString(),
  datacontenttype: "application/json",
  data: shownData(event, compatibility)
})
