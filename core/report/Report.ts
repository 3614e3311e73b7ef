/** Reports of runs: their rows and totals, and the errors of a request for one. */
import { Schema, type Stream } from "effect"
import type { AgentDefinitionId, AgentId, CampaignId, RunId } from "#core/Id.ts"

/** One run, which is one attempt. */
export interface ReportRow {
  readonly id: RunId
  readonly campaignId: CampaignId | undefined
  readonly agentId: AgentId
  readonly definitionId: AgentDefinitionId
  readonly createdAt: Date
  readonly phoneNumber: string | undefined
  readonly disposition: string | undefined
  readonly durationSeconds: number | undefined
  /** The variables that the agent extracted from the conversation, by name. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly tags: ReadonlyArray<string>
  readonly transcriptKey: string | undefined
  readonly recordingKey: string | undefined
  /** The line in the campaign's list; undefined for a call without a campaign, or whose attempt is no longer kept. */
  readonly rowNo: number | undefined
  readonly attempt: number | undefined
  readonly outcome: string | undefined
  /** True when the contact will not be dialed again. */
  readonly isFinal: boolean
  readonly fromNumber: string | undefined
}

export interface Report {
  /** The names of all variables in the report; those of the newest run come first. */
  readonly variables: ReadonlyArray<string>
  /** Newest first. Each batch is read on demand. */
  readonly batches: Stream.Stream<ReadonlyArray<ReportRow>>
}

/** A day in a time zone, as instants. */
export interface ReportedDay {
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly until: Date
}

/** The date or the time zone is not valid. */
export class ReportDayInvalid extends Schema.TaggedError<ReportDayInvalid>()("ReportDayInvalid", { reason: Schema.String }) {}

export interface Share {
  readonly count: number
  /** Share of all that were counted: 0 to 100, two decimals. */
  readonly percentage: number
}

export interface DailyReport {
  readonly totalRuns: number
  readonly transferred: number
  /** The five most frequent, and the rest as one entry. Runs without a disposition are not counted. */
  readonly dispositions: ReadonlyArray<Share & { readonly disposition: string }>
  /** Ranges in seconds; the last one is open. Runs without a duration are not counted. */
  readonly durations: ReadonlyArray<Share & { readonly from: number; readonly until: number | undefined }>
}

export interface DailyRun {
  readonly id: RunId
  readonly agentId: AgentId
  readonly agentName: string
  readonly phoneNumber: string | null
  readonly disposition: string | null
  readonly durationSeconds: number | null
  readonly createdAt: Date
}

/** Totals of the runs of one day, in UTC. */
export interface UsageDay {
  /** `2026-01-31` */
  readonly date: string
  readonly calls: number
  readonly seconds: number
  /** What the services of the calls cost, as far as they have prices, in US dollars. Null if of no call is known what it cost. */
  readonly costUsd: number | null
}
