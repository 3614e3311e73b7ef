/** The versions of an agent. */
import Type, { type Static } from "typebox"
import type { AgentVersionRecord } from "#core/agent/Agent.ts"
import { masked } from "#core/model/ModelSecrets.ts"
import type { AgentDefinitionId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { definition, VersionStatusWire } from "./Agent.ts"
import { id, instant, instantOf, nullable, object, optional, orUndefined } from "#gateway/request/Field.ts"

export const VersionQuery = Type.Object({
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, description: "Versions per page, 100 by default." })),
  offset: optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: "How many of the newest versions to skip." }))
})
const largestPage = 100
export const versionPageOf = (query: Static<typeof VersionQuery>): Page => ({
  limit: orUndefined(query.limit) ?? largestPage,
  offset: orUndefined(query.offset) ?? 0
})

export const AgentVersionWire = Type.Object(
  {
    id: id<AgentDefinitionId>(),
    version_number: Type.Integer(),
    status: VersionStatusWire,
    workflow_json: definition,
    workflow_configurations: object(),
    template_context_variables: object(),
    created_at: instant(),
    published_at: nullable(instant())
  },
  { title: "WorkflowVersion" }
)

export const agentVersionWire = (version: AgentVersionRecord): Static<typeof AgentVersionWire> => ({
  id: version.definitionId,
  version_number: version.versionNumber,
  status: version.versionStatus,
  workflow_json: masked(version.definition),
  workflow_configurations: masked(version.configurations),
  template_context_variables: version.templateContextVariables,
  created_at: version.createdAt.toISOString(),
  published_at: instantOf(version.publishedAt ?? undefined)
})

export const PublishedWire = Type.Object(
  { id: id<AgentDefinitionId>(), version_number: Type.Integer(), status: VersionStatusWire, published_at: nullable(instant()) },
  { title: "PublishedWorkflowVersion" }
)

export const publishedWire = (version: AgentVersionRecord): Static<typeof PublishedWire> => ({
  id: version.definitionId,
  version_number: version.versionNumber,
  status: version.versionStatus,
  published_at: instantOf(version.publishedAt ?? undefined)
})

export const ValidWire = Type.Object(
  {
    is_valid: Type.Literal(true),
    errors: Type.Array(Type.Unknown(), { maxItems: 0, description: "Always empty: errors are answered with 422." })
  },
  { title: "WorkflowValid" }
)
