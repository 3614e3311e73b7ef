/**
 * The pre-call fetch: while the phone rings, an agent's owner can have its own server asked about the call, and the agent opens with the answer.
 * Calls of other agents have no `Fetching`.
 */
import { type Cause, Clock, Deferred, Effect, type Fiber, Latch } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { PreCallFetch } from "#core/agent/PreCallFetch.ts"
import { questionOf } from "#core/call/PreCallFetch.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import type { Problem } from "#runtime/voice/Transcript.ts"
import type { PlannedOpening } from "#runtime/voice/VoiceSession.ts"
import type { ContextFetcher } from "./ContextFetcher.ts"
import { plannedOpening } from "./plannedOpening.ts"

interface FetchRequest {
  readonly fetch: PreCallFetch
  readonly agentId: AgentId
  readonly organizationId: OrganizationId
  readonly definition: JsonObject
  /** Template of the message left on an answering machine. */
  readonly message: string | undefined
  /** What is known about the call without the fetch. */
  readonly context: JsonObject
  readonly to: string
}

export class Fetching {
  readonly request: FetchRequest
  readonly opening = Deferred.makeUnsafe<PlannedOpening>()
  /** Opens when the request to the provider is sent. */
  readonly left = Latch.makeUnsafe(false)
  /** The number shown to the callee; set when the request is sent. */
  from: string | undefined
  fiber: Fiber.Fiber<unknown> | undefined
  /** What was fetched, or why nothing was; neither is set if the call ended first. */
  fetched: JsonObject | undefined
  problem: Problem | undefined

  constructor(request: FetchRequest) {
    this.request = request
  }

  leave(from: string | undefined): void {
    this.from = from
    this.left.openUnsafe()
  }
  stop(): void {
    this.fiber?.interruptUnsafe()
  }
}

/** Waits until the request is sent, fetches, and returns the call's opening. If the fetch fails, the call goes on without it. */
export const fetchOpening = Effect.fnUntraced(function* (fetching: Fetching, fetcher: ContextFetcher["Service"]) {
  const { agentId, context, definition, fetch, message, organizationId, to } = fetching.request
  yield* fetching.left.await
  // The request to the provider comes first.
  yield* Effect.yieldNow
  fetching.fetched = yield* fetcher.fetch({ ...fetch, organizationId, body: questionOf({ agentId, from: fetching.from, to }) }).pipe(
    Effect.catchTag("NothingFetched", ({ reason }) => noteFailure(fetching, reason)),
    Effect.catchCause((cause) => noteFailure(fetching, "internal_error", cause))
  )
  const opening = yield* plannedOpening(definition, { ...context, ...fetching.fetched }, message)
  Deferred.doneUnsafe(fetching.opening, Effect.succeed(opening))
  return opening
})

/** Notes only the reason: neither the log nor the run shows the URL or its answer. */
const noteFailure = Effect.fnUntraced(function* (fetching: Fetching, reason: string, ...fault: ReadonlyArray<Cause.Cause<never>>) {
  const at = yield* Clock.currentTimeMillis
  fetching.problem = { at, error: `Nothing was fetched before the call: ${reason}`, processor: "pre_call_fetch" }
  yield* Effect.logWarning("nothing was fetched for a call", { reason }, ...fault)
  return undefined
})
