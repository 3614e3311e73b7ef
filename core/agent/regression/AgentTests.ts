/** Port: tests an agent with scripted callees. Places no call, stores nothing, and sends no tool's request. */
import { Context, type Effect, Schema } from "effect"
import type { AgentInvalid, AgentNotFound, VersionStatus } from "#core/agent/Agent.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { CalleeScriptsRefused } from "./readScripts.ts"
import type { Verdict } from "./Verdict.ts"

export interface AgentTestRequest {
  /** As `readScripts` takes it. */
  readonly document: JsonObject
  /** Undefined: the draft or, without one, the published version. */
  readonly versionNumber: number | undefined
}

export interface AgentTestRun {
  readonly versionNumber: number
  readonly versionStatus: VersionStatus
  /** In the order of the scripts. */
  readonly verdicts: ReadonlyArray<Verdict>
}

/** Tests are limited because their conversations share the thread with the calls, and the model's account with them. */
export class TooManyAgentTests extends Schema.TaggedError<TooManyAgentTests>()("TooManyAgentTests", {
  retryAfterSeconds: Schema.Int
}) {}

export class AgentTests extends Context.Service<
  AgentTests,
  {
    /** Takes at most half a minute: conversations that have not ended by then have failed. */
    readonly run: (
      organizationId: OrganizationId,
      id: AgentId,
      request: AgentTestRequest
    ) => Effect.Effect<AgentTestRun, AgentInvalid | AgentNotFound | CalleeScriptsRefused | TooManyAgentTests>
  }
>()("core/agent/regression/AgentTests") {}
