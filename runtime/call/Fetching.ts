/**
 * The pre-call fetch: while the phone rings, an agent's owner can have its own server asked about the call, and the agent opens with the answer.
 * Calls of other agents have no `Fetching`.
 */
import { type Cause, Clock, Deferred, Effect, type Fiber, Latch } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { PreCallFetch } from "#core/agent/PreCallFetch.ts"
import { questionOf } from "#core/call/PreCallFetch.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import type { RunProblem } from "#core/run/RunProblem.ts"
import type { ContextFetcher } from "./ContextFetcher.ts"

interface FetchRequest {
  readonly fetch: PreCallFetch
  readonly agentId: AgentId
  readonly organizationId: OrganizationId
  /** What is known about the call without the fetch. */
  readonly context: JsonObject
  readonly to: string
}

export class Fetching {
  readonly request: FetchRequest
  /** What is known about the call, with what was fetched, if anything was. */
  readonly context = Deferred.makeUnsafe<JsonObject>()
  /** Opens when the request to the provider is sent. */
  readonly left = Latch.makeUnsafe(false)
  /** The number shown to the callee; set when the request is sent. */
  from: string | undefined
  fiber: Fiber.Fiber<unknown> | undefined
  /** What was fetched, or why nothing was; neither is set if the call ended first. */
  fetched: JsonObject | undefined
  problem: RunProblem | undefined

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

/** Waits until the request is sent, and fetches. If that fails, the call goes on without it. */
export const fetchContext = Effect.fnUntraced(function* (fetching: Fetching, fetcher: ContextFetcher["Service"]) {
  const { agentId, context, fetch, organizationId, to } = fetching.request
  yield* fetching.left.await
  // The request to the provider comes first.
  yield* Effect.yieldNow
  fetching.fetched = yield* fetcher.fetch({ ...fetch, organizationId, body: questionOf({ agentId, from: fetching.from, to }) }).pipe(
    Effect.catchTag("NothingFetched", ({ reason }) => noteFailure(fetching, reason)),
    Effect.catchCause((cause) => noteFailure(fetching, "internal_error", cause))
  )
  Deferred.doneUnsafe(fetching.context, Effect.succeed({ ...context, ...fetching.fetched }))
})

/** Notes only the reason: neither the log nor the run shows the URL or its answer. */
const noteFailure = Effect.fnUntraced(function* (fetching: Fetching, reason: string, ...fault: ReadonlyArray<Cause.Cause<never>>) {
  const at = yield* Clock.currentTimeMillis
  fetching.problem = { at, error: `Nothing was fetched before the call: ${reason}`, processor: "pre_call_fetch" }
  yield* Effect.logWarning("nothing was fetched for a call", { reason }, ...fault)
  return undefined
})
