/** What a key with scopes needs for a route: the routes that belong together in the documentation go together here. */
import type { Scope } from "#core/organization/Scope.ts"
import type { Method } from "#gateway/http/Endpoint.ts"

const writing: Readonly<Record<string, Scope>> = {
  Agents: "agents",
  Calls: "calls",
  Campaigns: "campaigns",
  Files: "campaigns",
  Folders: "agents",
  "Knowledge base": "agents",
  Recordings: "agents",
  Tools: "agents"
}

export const scopeOf = (method: Method, tag: string): Scope => (method === "get" ? "read" : (writing[tag] ?? "admin"))
