/**
 * A campaign: an agent that calls every contact in a list.
 *
 *     draft --start--> running --pause, or the engine stops it--> paused --start, resume--> running
 *     running --last contact is done--> completed
 *
 * `completed` and `failed` are final. Nothing sets `failed` yet: every problem so far is one that an operator can repair, and ends in `paused`.
 */
import { Schema } from "effect"
import type { AgentId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Compatibility } from "#core/Compatibility.ts"
import type { CampaignSettings } from "./CampaignSettings.ts"

export const campaignStates = ["draft", "running", "paused", "completed", "failed"] as const
export type CampaignState = (typeof campaignStates)[number]

/** The states under the names that clients see. The existing product calls a draft `created`. */
export const shownStates = ["draft", "created", "running", "paused", "completed", "failed"] as const
type ShownState = (typeof shownStates)[number]
export const shownState = (state: CampaignState, compatibility: Compatibility): ShownState =>
  state === "draft" && compatibility === "dograh" ? "created" : state

export interface CampaignCounters {
  readonly totalRows: number
  /** Contacts dialed at least once. */
  readonly processedRows: number
  readonly completedRows: number
  readonly failedRows: number
  readonly cancelledRows: number
  /** Attempts that ended as failed, error, busy, no_answer or unknown. */
  readonly failedCalls: number
  /** Attempts that were not void. */
  readonly executedCount: number
  readonly retriesQueued: number
}

export interface SourceSync {
  readonly status: "pending" | "in_progress" | "completed" | "failed"
  /** ISO 8601, UTC. */
  readonly lastSyncedAt: string | null
  readonly error: string | null
  readonly rowsInFile: number
  readonly accepted: number
  readonly skipped: number
  readonly warnings: ReadonlyArray<string>
}

export interface Campaign extends CampaignSettings {
  readonly id: CampaignId
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly agentName: string
  readonly telephonyConfigurationId: TelephonyConfigId | undefined
  readonly telephonyConfigurationName: string | undefined
  readonly state: CampaignState
  readonly sourceType: "csv"
  readonly sourceId: string
  readonly sourceSync: SourceSync
  readonly counters: CampaignCounters
  readonly parentCampaignId: CampaignId | undefined
  readonly redialedCampaignId: CampaignId | undefined
  readonly createdAt: Date
  readonly startedAt: Date | undefined
  readonly completedAt: Date | undefined
}

export class CampaignNotFound extends Schema.TaggedError<CampaignNotFound>()("CampaignNotFound", { id: Schema.Int }) {}
/** The requested action is not possible in this state. States have the names that clients see. */
export class CampaignStateConflict extends Schema.TaggedError<CampaignStateConflict>()("CampaignStateConflict", {
  action: Schema.Literals(["start", "resume", "pause", "update", "redial"]),
  state: Schema.String,
  /** The states in which it is possible. */
  expected: Schema.Array(Schema.String)
}) {}
/** The campaign cannot be started as things stand; `reason` is a sentence for the operator. */
export class CampaignNotReady extends Schema.TaggedError<CampaignNotReady>()("CampaignNotReady", { reason: Schema.String }) {}
