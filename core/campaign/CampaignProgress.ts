/** A campaign's progress, under both sets of names that the API has for it. They agree because both are computed from the same counters. */
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
  /** Contacts that were never dialed and never will be: their numbers have opted out. */
  readonly cancelled: number
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
  const { cancelledRows, completedRows, failedCalls, failedRows, processedRows, totalRows } = campaign.counters
  const done = percentage(processedRows + cancelledRows, totalRows)
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
    cancelled: cancelledRows,
    // A failed campaign no longer dials anybody.
    pending: campaign.state === "failed" ? 0 : totalRows - processedRows - cancelledRows,
    processed: processedRows,
    completionPercentage: done
  }
}
