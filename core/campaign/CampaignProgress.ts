/** How far a campaign is, under both sets of names that the API has for it; they agree because each is made from the same counters. */
import type { CampaignId } from "#core/Id.ts"
import type { CampaignCounters, CampaignState, SourceSync } from "./Campaign.ts"

export interface CampaignProgress {
  readonly campaignId: CampaignId
  readonly state: CampaignState
  readonly totalRows: number
  readonly processedRows: number
  readonly failedCalls: number
  readonly progressPercentage: number
  readonly sourceSync: SourceSync
  readonly rateLimit: number
  readonly startedAt: Date | undefined
  readonly completedAt: Date | undefined

  readonly total: number
  readonly completed: number
  readonly failed: number
  /** Contacts that were never dialed and still may be. */
  readonly pending: number
  readonly processed: number
  readonly completionPercentage: number
}

/** Two decimals. */
const percentage = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100)

export const progressOf = (campaign: {
  readonly id: CampaignId
  readonly state: CampaignState
  readonly counters: CampaignCounters
  readonly sourceSync: SourceSync
  readonly rateLimit: number
  readonly startedAt: Date | undefined
  readonly completedAt: Date | undefined
}): CampaignProgress => {
  const { completedRows, failedCalls, failedRows, processedRows, totalRows } = campaign.counters
  const done = percentage(processedRows, totalRows)
  return {
    campaignId: campaign.id,
    state: campaign.state,
    totalRows,
    processedRows,
    failedCalls,
    progressPercentage: done,
    sourceSync: campaign.sourceSync,
    rateLimit: campaign.rateLimit,
    startedAt: campaign.startedAt,
    completedAt: campaign.completedAt,
    total: totalRows,
    completed: completedRows,
    failed: failedRows,
    // The failure of a campaign cancels whatever was left.
    pending: campaign.state === "failed" ? 0 : totalRows - processedRows,
    processed: processedRows,
    completionPercentage: done
  }
}
