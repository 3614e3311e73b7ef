/** What a call of an agent that wants it fetches while it rings, and then opens with. Calls of other agents have none of this. */
import { type Cause, Clock, Deferred, Effect, type Fiber, Latch } from "effect"
import type { JsonObject } from "#core/Json.ts"
import { type PreCallFetch, questionOf } from "#core/call/PreCallFetch.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import type { Problem } from "#runtime/voice/Transcript.ts"
import type { PlannedOpening } from "#runtime/voice/VoiceSession.ts"
import type { ContextFetcher } from "./ContextFetcher.ts"
import { plannedOpening } from "./plannedOpening.ts"

interface Wanted {
  readonly fetch: PreCallFetch
  readonly agentId: AgentId
  readonly organizationId: OrganizationId
  readonly definition: JsonObject
  /** The template of what a machine is told. */
  readonly message: string | undefined
  /** What is known of the call without it. */
  readonly known: JsonObject
  readonly to: string
}

export class Fetching {
  readonly wanted: Wanted
  readonly opening = Deferred.makeUnsafe<PlannedOpening>()
  /** Open once the request to the provider leaves. */
  readonly left = Latch.makeUnsafe(false)
  /** The number that the callee is shown, from then on. */
  from: string | undefined
  fiber: Fiber.Fiber<unknown> | undefined
  /** What came of it: either of these, or neither when the call was over first. */
  context: JsonObject | undefined
  problem: Problem | undefined

  constructor(wanted: Wanted) {
    this.wanted = wanted
  }

  leave(from: string | undefined): void {
    this.from = from
    this.left.openUnsafe()
  }
  stop(): void {
    this.fiber?.interruptUnsafe()
  }
}

/** Waits for the call to leave, and gives what it opens with. Whatever goes wrong, the call goes on with what is known of it. */
export const fetchOpening = Effect.fnUntraced(function* (fetching: Fetching, fetcher: ContextFetcher["Service"]) {
  const { agentId, definition, fetch, known, message, organizationId, to } = fetching.wanted
  yield* fetching.left.await
  // The request to the provider comes first.
  yield* Effect.yieldNow
  fetching.context = yield* fetcher.fetch({ ...fetch, organizationId, body: questionOf({ agentId, from: fetching.from, to }) }).pipe(
    Effect.catchTag("NothingFetched", ({ reason }) => told(fetching, reason)),
    Effect.catchCause((cause) => told(fetching, "internal_error", cause))
  )
  const opening = yield* plannedOpening(definition, { ...known, ...fetching.context }, message)
  Deferred.doneUnsafe(fetching.opening, Effect.succeed(opening))
  return opening
})

/** By its reason alone: neither the log nor the run names the address, or says what came from there. */
const told = Effect.fnUntraced(function* (fetching: Fetching, reason: string, ...fault: ReadonlyArray<Cause.Cause<never>>) {
  const at = yield* Clock.currentTimeMillis
  fetching.problem = { at, error: `Nothing was fetched before the call: ${reason}`, processor: "pre_call_fetch" }
  yield* Effect.logWarning("nothing was fetched for a call", { reason }, ...fault)
  return undefined
})
