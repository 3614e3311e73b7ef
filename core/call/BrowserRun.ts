/**
 * A call that somebody makes from a browser, by WebRTC. Its run is there before the call, and has at most one: the call begins with the first
 * offer of its page.
 */
import type { AgentDefinitionId, AgentId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { reservedNames } from "#core/run/RunRecord.ts"

/** The mode of its run, and the name of its provider, in the API's terms. */
export const browserMode = "smallwebrtc"

export interface BrowserRun {
  readonly id: RunId
  readonly agentId: AgentId
  readonly definitionId: AgentDefinitionId
  readonly name: string
  readonly createdAt: Date
  readonly initialContext: JsonObject
}

/** Only the engine writes reserved names. */
export const unreserved = (given: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !reservedNames.includes(name)))

/** What the agent knows: its own variables may say that the call counts as outbound. */
export const contextOf = (variables: JsonObject): JsonObject => ({
  direction: "inbound",
  ...unreserved(variables),
  provider: browserMode
})

export const callTypeOf = ({ direction }: JsonObject): "inbound" | "outbound" => (direction === "outbound" ? "outbound" : "inbound")
