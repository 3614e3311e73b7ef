/** Which version of an agent a call runs. A graph that is not finished is never dialed with: the callee would hear nothing. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Sealer } from "../Sealer.ts"
import type { AgentDefinitionId, AgentId, OrganizationId } from "../Id.ts"
import { AgentUnpublished, type CallableAgent, type GraphProblem } from "./Agent.ts"
import * as versions from "./AgentVersionStore.ts"
import { problemsOf } from "./GraphRules.ts"

type Sql = SqlClient.SqlClient

const reasonOf = (problems: ReadonlyArray<GraphProblem>): string => {
  const [first] = problems
  const where = first === undefined || first.id === null ? "" : ` (${first.kind} ${first.id})`
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : ""
  return first === undefined ? "nobody has published its draft" : `${first.message.replace(/^Value error, /, "")}${where}${more}`
}

/** Why no call can be made with the agent, which has no published version. */
export const unpublished = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId) {
  const draft = yield* versions.findDraft(sql, organizationId, id)
  return new AgentUnpublished({
    id,
    reason: `Workflow has no published version: ${reasonOf(draft === undefined ? [] : problemsOf(draft.definition))}`
  })
})

/** The published version; for whoever tries an agent out, its draft, if there is one. */
export const calledVersion = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  { draftDefinitionId, id, publishedDefinitionId }: CallableAgent,
  isTest: boolean
): Effect.fn.Return<AgentDefinitionId, AgentUnpublished, Sealer> {
  if (!isTest || draftDefinitionId === null) {
    return publishedDefinitionId ?? (yield* yield* Effect.orDie(unpublished(sql, organizationId, id)))
  }
  const draft = yield* Effect.orDie(versions.find(sql, organizationId, draftDefinitionId))
  const problems = draft === undefined ? [] : problemsOf(draft.definition)
  if (problems.length > 0) return yield* new AgentUnpublished({ id, reason: `Workflow's draft is not finished: ${reasonOf(problems)}` })
  return draftDefinitionId
})
