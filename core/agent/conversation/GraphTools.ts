/** The tools that a graph's nodes name, in their current form: tools have no versions. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import * as store from "#core/tool/ToolStore.ts"
import { compileTools, type ConversationTool } from "./ConversationTool.ts"

export interface GraphTools {
  /** By UUID, as far as the organization has them and conversations can use them. */
  readonly tools: ReadonlyMap<string, ConversationTool>
  /** The names of those that cannot be read, because they were sealed with a key that this installation does not have. */
  readonly unreadableTools: ReadonlyArray<string>
}

const none: GraphTools = { tools: new Map(), unreadableTools: [] }

/**
 * Conversations do without a tool that cannot be read, as they do when a service does not answer: a contact that is not dialed because of one
 * tool would wait until somebody finds out why.
 */
export const loadTools = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  uuids: ReadonlyArray<string>
) {
  if (uuids.length === 0) return none
  const stored = yield* Effect.orDie(store.named(sql, organizationId, uuids))
  const unreadable = stored.filter(({ definition }) => definition === undefined)
  for (const { toolUuid } of unreadable)
    yield* Effect.logError("a tool cannot be opened with the key of this installation: conversations go on without it", {
      organizationId,
      toolUuid
    })
  return {
    tools: compileTools(stored.flatMap((tool) => (tool.definition === undefined ? [] : [{ ...tool, definition: tool.definition }]))),
    unreadableTools: unreadable.map(({ name }) => name)
  }
})
