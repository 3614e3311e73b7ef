/** A voice agent ("workflow" in the API) and its versions. Calls keep the id of the version they were made with. */
import { Schema } from "effect"
import type { AgentDefinitionId, AgentId, OrganizationId } from "../Id.ts"

export type AgentStatus = "active" | "archived"
export type VersionStatus = "draft" | "published" | "archived"
export type JsonObject = Readonly<Record<string, unknown>>

/** What a version holds: never changed once published. All three as the client sent them, unknown keys included. */
export interface AgentVersion {
  readonly definitionId: AgentDefinitionId
  readonly agentId: AgentId
  readonly organizationId: OrganizationId
  readonly versionNumber: number
  readonly versionStatus: VersionStatus
  readonly definition: JsonObject
  readonly configurations: JsonObject
  readonly templateContextVariables: JsonObject
}

export interface AgentSummary {
  readonly id: AgentId
  readonly name: string
  readonly status: AgentStatus
  readonly createdAt: Date
  readonly totalRuns: number
  /** A UUID: how the public call routes name the agent. */
  readonly workflowUuid: string
}

/** An agent with its current version. */
export interface Agent extends AgentSummary {
  readonly organizationId: OrganizationId
  readonly currentDefinitionId: AgentDefinitionId
  readonly versionNumber: number
  readonly versionStatus: VersionStatus
  readonly definition: JsonObject
  readonly configurations: JsonObject
  readonly templateContextVariables: JsonObject
  readonly dispositionCodes: ReadonlyArray<string>
}

/** `id` is what was asked for: the number, or the UUID. */
export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("AgentNotFound", {
  id: Schema.Union([Schema.Int, Schema.String])
}) {}
/** An archived agent gets no calls by any way. */
export class AgentArchived extends Schema.TaggedError<AgentArchived>()("AgentArchived", { id: Schema.Int }) {}

/** One thing wrong with a definition, and where. */
export const GraphProblem = Schema.Struct({
  kind: Schema.Literals(["node", "edge", "workflow"]),
  /** The node's or edge's own id, as far as it has one. */
  id: Schema.NullOr(Schema.String),
  /** From the definition's root, such as `["nodes", 2, "type"]`. */
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.String
})
export type GraphProblem = typeof GraphProblem.Type
export class AgentDefinitionRefused extends Schema.TaggedError<AgentDefinitionRefused>()("AgentDefinitionRefused", {
  problems: Schema.Array(GraphProblem)
}) {}
