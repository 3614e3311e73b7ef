/** Decides which version of an agent a call uses. No call uses an unfinished graph: the callee would hear nothing. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Sealer } from "#core/Sealer.ts"
import type { AgentDefinitionId, AgentId, OrganizationId } from "#core/Id.ts"
import { AgentUnpublished, type CallableAgent } from "./Agent.ts"
import type { JsonObject } from "#core/Json.ts"
import type { AgentVersions } from "./AgentVersions.ts"
import * as versions from "./AgentVersionStore.ts"
import { flawOf } from "./GraphRules.ts"

type Sql = SqlClient.SqlClient

/** Says why no call can use an agent without a published version. */
export const unpublished = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId) {
  const draft = yield* versions.findDraft(sql, organizationId, id)
  const flaw = draft === undefined ? undefined : flawOf(draft.definition)
  return new AgentUnpublished({ id, reason: `Workflow has no published version: ${flaw ?? "nobody has published its draft"}` })
})

const unfinished = (id: AgentId, version: "draft" | "published version", flaw: string) =>
  new AgentUnpublished({ id, reason: `Workflow's ${version} is not finished: ${flaw}` })

/** Checks a published definition again, because an earlier release with laxer rules may have published it. */
export const finished = (id: AgentId, definition: JsonObject): Effect.Effect<void, AgentUnpublished> => {
  const flaw = flawOf(definition)
  return flaw === undefined ? Effect.void : Effect.fail(unfinished(id, "published version", flaw))
}

/** Returns the published version, or for a test call the draft, if there is one. */
export const calledVersion = Effect.fnUntraced(function* (
  sql: Sql,
  cachedVersions: AgentVersions["Service"],
  organizationId: OrganizationId,
  { draftDefinitionId, id, publishedDefinitionId }: CallableAgent,
  isTest: boolean
): Effect.fn.Return<AgentDefinitionId, AgentUnpublished, Sealer> {
  const isDraft = isTest && draftDefinitionId !== null
  const called = isDraft ? draftDefinitionId : publishedDefinitionId
  if (called === null) return yield* yield* Effect.orDie(unpublished(sql, organizationId, id))
  const { flaw } = yield* cachedVersions.get(called)
  return flaw === undefined ? called : yield* unfinished(id, isDraft ? "draft" : "published version", flaw)
})
