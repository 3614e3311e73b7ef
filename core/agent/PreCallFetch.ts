/** Where the variables of a call are fetched before it, as read from a definition, which may never have been validated. Pure. */
import type { JsonObject } from "#core/Json.ts"
import { startDataOf } from "./AgentGraph.ts"

export interface PreCallFetch {
  readonly url: string
  readonly credentialUuid: string | undefined
}

const textIn = (part: JsonObject, name: string): string => {
  const value = part[name]
  return typeof value === "string" ? value.trim() : ""
}

/** All of the engine's calls are outbound. Without a mode, the older switch decides. */
const isWanted = (start: JsonObject): boolean => {
  const mode = textIn(start, "pre_call_fetch_mode")
  return mode === "" ? start["pre_call_fetch_enabled"] === true : mode === "always" || mode === "outbound"
}

/** Undefined: calls of this agent fetch nothing. */
export const preCallFetchOf = (definition: JsonObject): PreCallFetch | undefined => {
  const start = startDataOf(definition)
  const url = textIn(start, "pre_call_fetch_url")
  if (url === "" || !isWanted(start)) return undefined
  const credential = textIn(start, "pre_call_fetch_credential_uuid")
  return { url, credentialUuid: credential === "" ? undefined : credential }
}
