/** The record of one call, created with its attempt and completed when the call ends, or the record of one text chat. */
import { Schema } from "effect"
import type { CallCost } from "#core/provider/CallCost.ts"
import type { AgentDefinitionId, AgentId, CallId, CampaignId, OrganizationId, RunId } from "#core/Id.ts"

type JsonObject = Readonly<Record<string, unknown>>

/** The JSON columns have the shape that the API shows. */
export interface Run {
  readonly id: RunId
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly definitionId: AgentDefinitionId
  readonly campaignId: CampaignId | undefined
  /** Undefined for a text chat. */
  readonly callId: CallId | undefined
  readonly name: string
  readonly mode: string
  readonly callType: "inbound" | "outbound"
  readonly isCompleted: boolean
  readonly createdAt: Date
  readonly completedAt: Date | undefined
  readonly initialContext: JsonObject
  readonly gatheredContext: JsonObject | undefined
  readonly usageInfo: JsonObject | undefined
  readonly costInfo: JsonObject | undefined
  readonly cost: CallCost | undefined
  readonly logs: JsonObject | undefined
  readonly annotations: JsonObject | undefined
  readonly transcriptKey: string | undefined
  readonly recordingKey: string | undefined
}

export class RunNotFound extends Schema.TaggedError<RunNotFound>()("RunNotFound", { id: Schema.Int }) {}
