/** A voice agent ("workflow" in the API) and its versions. Calls keep the id of the version they were made with. */
import { Schema } from "effect"
import type { FolderId } from "#core/folder/Folder.ts"
import type { JsonObject } from "#core/Json.ts"
import type { AgentDefinitionId, AgentId, OrganizationId } from "#core/Id.ts"

export type AgentStatus = "active" | "archived"
/** An agent has one published version, which calls use, unless its graph was never finished, at most one draft, and any number of archived versions. */
export type VersionStatus = "draft" | "published" | "archived"

/** What a version is made of. All three as the client sent them, unknown keys included. */
export interface AgentContent {
  readonly definition: JsonObject
  readonly configurations: JsonObject
  readonly templateContextVariables: JsonObject
}

/** Its content never changes: a change of a draft, too, makes another version. */
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
  /** Null for what never was more than a draft. */
  readonly publishedAt: Date | null
}

export interface AgentSummary {
  readonly id: AgentId
  readonly name: string
  readonly status: AgentStatus
  readonly createdAt: Date
  readonly totalRuns: number
  readonly folderId: FolderId | null
  /** A UUID: how the public call routes name the agent. */
  readonly workflowUuid: string
}

/** An agent with one of its versions. */
export interface Agent extends AgentSummary, AgentContent {
  readonly organizationId: OrganizationId
  /** The published one, whichever is shown; null while there is none. */
  readonly currentDefinitionId: AgentDefinitionId | null
  readonly versionNumber: number
  readonly versionStatus: VersionStatus
  /** What the agent's finished calls have come to, in alphabetical order. */
  readonly dispositionCodes: ReadonlyArray<string>
}

/** As much as starting a call takes. */
export interface CallableAgent extends Pick<Agent, "id" | "name" | "status" | "workflowUuid"> {
  /** Null: no call can be made with it yet. */
  readonly publishedDefinitionId: AgentDefinitionId | null
  readonly draftDefinitionId: AgentDefinitionId | null
}

/** An agent by the path of its API trigger. */
export interface TriggeredAgent extends CallableAgent {
  /** Whether the published version has the trigger, turned on, and whether the draft has it so. */
  readonly isPublished: boolean
  readonly isInDraft: boolean
}

export interface AgentCount {
  readonly total: number
  readonly active: number
  readonly archived: number
}

/** `id` is what was asked for: the number, or the UUID. */
export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("AgentNotFound", {
  id: Schema.Union([Schema.Int, Schema.String])
}) {}
/** An archived agent gets no calls by any way. */
export class AgentArchived extends Schema.TaggedError<AgentArchived>()("AgentArchived", { id: Schema.Int }) {}
/** No version that could run has a trigger of this path. */
export class AgentTriggerNotFound extends Schema.TaggedError<AgentTriggerNotFound>()("AgentTriggerNotFound", {}) {}
/** Another agent of the organization has a trigger of the same path. */
export class AgentTriggerTaken extends Schema.TaggedError<AgentTriggerTaken>()("AgentTriggerTaken", {}) {}
/** There is no version that a call could be made with; `reason` is a sentence. */
export class AgentUnpublished extends Schema.TaggedError<AgentUnpublished>()("AgentUnpublished", {
  id: Schema.Int,
  reason: Schema.String
}) {}
export class AgentDraftMissing extends Schema.TaggedError<AgentDraftMissing>()("AgentDraftMissing", {}) {}

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
/** What was to be published, or asked about, could not be published. */
export class AgentInvalid extends Schema.TaggedError<AgentInvalid>()("AgentInvalid", { problems: Schema.Array(GraphProblem) }) {}
