/** What a report of runs is made of, and the errors of asking for one. */
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
  /** What the agent has found out, by name. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly tags: ReadonlyArray<string>
  readonly transcriptKey: string | undefined
  readonly recordingKey: string | undefined
  /** The line of the campaign's list; undefined for a call without a campaign, as for one whose attempt is not kept. */
  readonly rowNo: number | undefined
  readonly attempt: number | undefined
  readonly outcome: string | undefined
  /** Whether the contact is not dialed again. */
  readonly isFinal: boolean
  readonly fromNumber: string | undefined
}

export interface Report {
  /** The names of all variables in it, those of the first row first. */
  readonly variables: ReadonlyArray<string>
  /** Newest first. Each batch is read when it is asked for. */
  readonly batches: Stream.Stream<ReadonlyArray<ReportRow>>
}

/** A day of a time zone. */
export interface ReportedDay {
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly until: Date
}

/** No date, or no time zone. */
export class ReportDayInvalid extends Schema.TaggedError<ReportDayInvalid>()("ReportDayInvalid", { reason: Schema.String }) {}

export interface Share {
  readonly count: number
  /** Of those counted, 0 to 100, two decimals. */
  readonly percentage: number
}

export interface DailyReport {
  readonly totalRuns: number
  readonly transferred: number
  /** The five most frequent, and all the rest together; runs that have none yet are left out. */
  readonly dispositions: ReadonlyArray<Share & { readonly disposition: string }>
  /** By seconds; the last has no end. Runs that have no duration yet are left out. */
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

/** What runs of a day, by UTC, came to. */
export interface UsageDay {
  /** `2026-01-31` */
  readonly date: string
  readonly calls: number
  readonly seconds: number
}
