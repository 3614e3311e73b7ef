/**
 * What a campaign's log said last about things that it mentions once, or only from time to time. The log itself is where the next owner finds
 * this: after a resume, a restart, or on another node, it says nothing again that has been said.
 */
import type { CampaignEvent } from "#core/CampaignLog.ts"

/** An entry. No newer one says something about the same thing. */
export interface LastWord {
  readonly event: CampaignEvent
  readonly level: "info" | "warning" | "error"
  readonly details: Readonly<Record<string, unknown>> | null
  /** Steady time in a watch, epoch milliseconds in the database's answer. */
  readonly at: number
}

/** The detail that says when a window opens next. */
export const nextOpenAt = "next_open_at"
/** The detail that tells waiting for room for audio from waiting for anything else. */
export const ofMedia = "calls_with_audio"

/** Events whose entries a new owner has to know. */
export const rememberedEvents: ReadonlyArray<CampaignEvent> = [
  "schedule_window_closed",
  "schedule_window_opened",
  "waiting_for_capacity",
  "phone_number_pool_exhausted",
  "telephony_suspect",
  "provider_rate_limited",
  "telephony_recovered",
  "telephony_unreachable",
  "telephony_outage",
  "greeting_missed",
  "contacts_refused"
]

/** The newest of `words`, which are in this order, about any of the events. */
export const lastOf = (
  words: ReadonlyArray<LastWord>,
  events: ReadonlyArray<CampaignEvent>,
  isMeant: (word: LastWord) => boolean = () => true
): LastWord | undefined => words.find((word) => events.includes(word.event) && isMeant(word))

/** When that was; long ago if never. */
export const lastAt = (...of: Parameters<typeof lastOf>): number => lastOf(...of)?.at ?? Number.NEGATIVE_INFINITY

export const detailOf = (word: LastWord | undefined, name: string): string | undefined => {
  const detail = word?.details?.[name]
  return typeof detail === "string" ? detail : undefined
}
