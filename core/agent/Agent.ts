/** A voice agent ("workflow" in the API) and its versions. A call keeps the id of the version that it was placed with. */
import { Schema } from "effect"
import { faultFields } from "#core/Problem.ts"
import type { FolderId } from "#core/folder/Folder.ts"
import type { JsonObject } from "#core/Json.ts"
import type { AgentDefinitionId, AgentId, OrganizationId } from "#core/Id.ts"

export type AgentStatus = "active" | "archived"
/** An agent has one published version, which calls use, unless its graph was never finished; at most one draft; and any number of archived versions. */
export type VersionStatus = "draft" | "published" | "archived"

/** The content of a version. All three parts are stored as the client sent them, including unknown keys. */
export interface AgentContent {
  readonly definition: JsonObject
  readonly configurations: JsonObject
  readonly templateContextVariables: JsonObject
}

/** A version's content never changes: changing a draft creates a new version as well. */
export interface AgentVersion extends AgentContent {
  readonly definitionId: AgentDefinitionId
  readonly agentId: AgentId
  readonly organizationId: OrganizationId
  readonly versionNumber: number
  readonly versionStatus: VersionStatus
}

/** A version as the list of versions shows it. */
export interface AgentVersionRecord extends AgentVersion {
  readonly createdAt: Date
  /** Null for a version that was never published. */
  readonly publishedAt: Date | null
}

export interface AgentSummary {
  readonly id: AgentId
  readonly name: string
  readonly status: AgentStatus
  readonly createdAt: Date
  readonly totalRuns: number
  readonly folderId: FolderId | null
  /** The UUID that names the agent in the public call routes. */
  readonly workflowUuid: string
}

/** An agent with one of its versions. */
export interface Agent extends AgentSummary, AgentContent {
  readonly organizationId: OrganizationId
  /** The published version, whichever one is shown; null while there is none. */
  readonly currentDefinitionId: AgentDefinitionId | null
  readonly versionNumber: number
  readonly versionStatus: VersionStatus
  /** The dispositions of the agent's finished calls, in alphabetical order. */
  readonly dispositionCodes: ReadonlyArray<string>
}

/** The part of an agent that is needed to start a call. */
export interface CallableAgent extends Pick<Agent, "id" | "name" | "status" | "workflowUuid"> {
  /** Null: no call can use the agent yet. */
  readonly publishedDefinitionId: AgentDefinitionId | null
  readonly draftDefinitionId: AgentDefinitionId | null
}

/** An agent that was found by the path of its API trigger. */
export interface TriggeredAgent extends CallableAgent {
  /** Whether the trigger is enabled in the published version, and whether it is in the draft. */
  readonly isPublished: boolean
  readonly isInDraft: boolean
}

export interface AgentCount {
  readonly total: number
  readonly active: number
  readonly archived: number
}

/** `id` is the requested one: the number, or the UUID. */
export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("AgentNotFound", {
  id: Schema.Union([Schema.Int, Schema.String])
}) {}
/** No call can be started with an archived agent. */
export class AgentArchived extends Schema.TaggedError<AgentArchived>()("AgentArchived", { id: Schema.Int }) {}
/** No published version or draft has an enabled trigger with this path. */
export class AgentTriggerNotFound extends Schema.TaggedError<AgentTriggerNotFound>()("AgentTriggerNotFound", {}) {}
/** Another agent of the organization has a trigger with the same path. */
export class AgentTriggerTaken extends Schema.TaggedError<AgentTriggerTaken>()("AgentTriggerTaken", {}) {}
/** The agent has no version that a call can use; `reason` is a full sentence. */
export class AgentUnpublished extends Schema.TaggedError<AgentUnpublished>()("AgentUnpublished", {
  id: Schema.Int,
  reason: Schema.String
}) {}
export class AgentDraftMissing extends Schema.TaggedError<AgentDraftMissing>()("AgentDraftMissing", {}) {}

/** A fault in a definition, and its place. */
export const GraphProblem = Schema.Struct({
  kind: Schema.Literals(["node", "edge", "workflow"]),
  /** The id of the node or edge, if it has one. */
  id: Schema.NullOr(Schema.String),
  /** The path from the definition's root, such as `["nodes", 2, "type"]`. */
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  ...faultFields
})
export type GraphProblem = typeof GraphProblem.Type
export class AgentDefinitionRefused extends Schema.TaggedError<AgentDefinitionRefused>()("AgentDefinitionRefused", {
  problems: Schema.Array(GraphProblem)
}) {}
/** The version that was to be published or validated is not fit to be published. */
export class AgentInvalid extends Schema.TaggedError<AgentInvalid>()("AgentInvalid", { problems: Schema.Array(GraphProblem) }) {}
