/**
 * What a contact that is still to be called waits for, as far as the database knows. It is asked in the order in which the owner of a campaign
 * decides (`decide`). Who waits for a rate, a caller number or room for audio has its turn ahead like everybody else: only the engine that dials
 * knows of these, and only for a moment.
 */
import type { Contact } from "#core/contact/Contact.ts"
import type { CampaignState } from "./Campaign.ts"
import type { ScheduleState } from "./Schedule.ts"

/**
 * - `campaign_not_running`: the campaign is a draft or paused, by a person or by the engine: its log has the reason.
 * - `retry_due`: its retry is not due yet.
 * - `window`: the campaign's calling window is closed.
 * - `trunk_down`: the provider cannot be reached.
 * - `number_in_call`: another call of the organization has its number, or it is not confirmed yet that it has ended.
 * - `slot`: as many calls are up as may be.
 * - `turn`: others come first, or nothing is known that is in its way.
 */
export const waitReasons = ["campaign_not_running", "retry_due", "window", "trunk_down", "number_in_call", "slot", "turn"] as const
type WaitReason = (typeof waitReasons)[number]

/** What all contacts of a campaign wait for. */
export interface CampaignStanding {
  readonly state: CampaignState
  readonly window: ScheduleState
  readonly isTrunkDown: boolean
  /** Calls that are up, and how many may be at most. Undefined: no limit. */
  readonly calls: ReadonlyArray<{ readonly up: number; readonly limit: number | undefined }>
}

export interface Waiting {
  readonly reason: WaitReason
  /** With `window` alone; undefined also if it never opens. */
  readonly windowOpensAt: Date | undefined
}

/** Undefined for a contact that is in a call, or is not called any more. `now` in epoch milliseconds. */
export const waitingFor = (
  { awaitsNumber, dueAt, state }: Pick<Contact, "awaitsNumber" | "dueAt" | "state">,
  campaign: CampaignStanding,
  now: number
): Waiting | undefined => {
  if (state !== "pending" && state !== "retry_wait") return undefined
  const because = (reason: WaitReason): Waiting => ({ reason, windowOpensAt: undefined })
  if (campaign.state !== "running") return because("campaign_not_running")
  const due = dueAt?.getTime() ?? now
  const opensAt = campaign.window.open ? now : (campaign.window.opensAt ?? Number.POSITIVE_INFINITY)
  // Of two waits, the one that ends last.
  if (due > now && due > opensAt) return because("retry_due")
  if (opensAt > now) return { reason: "window", windowOpensAt: Number.isFinite(opensAt) ? new Date(opensAt) : undefined }
  if (campaign.isTrunkDown) return because("trunk_down")
  if (awaitsNumber) return because("number_in_call")
  return because(campaign.calls.some(({ limit, up }) => limit !== undefined && up >= limit) ? "slot" : "turn")
}
