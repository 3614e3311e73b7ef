/**
 * Where a call's time went: one span from its claim until it is recorded, with a child span for each step. The trace of a campaign's call has
 * the call's id, so that an engine that takes over the call of a dead one adds to the same trace.
 */
import { Effect, Option, Tracer } from "effect"
import type { Attempt } from "#core/call/Attempt.ts"
import type { Over } from "#core/call/Call.ts"
import { outcomeOfEnd } from "#core/call/outcomeOfEnd.ts"
import type { CallId } from "#core/Id.ts"
import type { Traces } from "#runtime/trace/Traces.ts"
import { tracedIn } from "#runtime/trace/tracers.ts"
import type { SpanRef, TraceSpan } from "#runtime/trace/TraceSpan.ts"
import type { ClaimTrace } from "./ClaimTrace.ts"

/**
 * `claim`: the contact is being claimed, together with others. `wait`: for the call's dial time. `originate`: the request, until its reply.
 * `ring`: from the request to the answer. `media`: audio is being opened. `conversation`: from then to the end. `record`: the end is being
 * written.
 */
type Part = "claim" | "wait" | "originate" | "ring" | "media" | "conversation" | "record"

/** Where a call comes from. */
interface Origin {
  /** The statement that claimed the call's contact. */
  readonly claim: ClaimTrace | undefined
  /** Another process dialed the call. */
  readonly isAdopted: boolean
}

export class CallTrace {
  readonly root: TraceSpan
  private readonly traces: Traces
  private readonly parts = new Map<Part, TraceSpan>()

  constructor(traces: Traces, root: TraceSpan) {
    this.traces = traces
    this.root = root
  }

  /** The call has its actor, and waits for its dial time. */
  claimed({ claim }: Origin): void {
    if (claim !== undefined) this.begin("claim", claim.begunAt)
    this.end("claim")
    this.begin("wait")
  }
  /** The request leaves. */
  left(): void {
    this.end("wait")
    this.begin("originate")
    this.begin("ring")
  }
  /** `failure`: why the request was refused, or that it is in doubt. */
  replied(failure?: string): void {
    if (failure !== undefined) this.parts.get("originate")?.fail(failure)
    this.end("originate")
  }
  answered(): void {
    this.end("ring")
  }
  mediaWanted(): void {
    this.begin("media")
  }
  mediaOpen(): void {
    this.end("media")
    this.begin("conversation")
  }
  over(how: Over, isMachine: boolean): void {
    this.endParts()
    if (how._tag === "Void") this.root.tell({ "trunkline.outcome": how.reason })
    else this.root.tell({ "trunkline.outcome": outcomeOfEnd(how, isMachine), "trunkline.hangup_cause": how.cause })
    this.begin("record")
  }
  /** The call's actor has ended, and nothing more follows. */
  gone(): void {
    this.endParts()
    this.traces.end(this.root)
  }

  private begin(part: Part, startTime?: bigint): void {
    const start = { name: `call.${part}`, ...(startTime === undefined ? {} : { startTime }) }
    this.parts.set(part, this.traces.child(this.root, part === "originate" ? { ...start, kind: "client" } : start))
  }
  private end(part: Part): void {
    const span = this.parts.get(part)
    if (span === undefined) return
    this.parts.delete(part)
    this.traces.end(span)
  }
  private endParts(): void {
    for (const part of this.parts.keys()) this.end(part)
  }
}

const traceIdOf = (callId: CallId): string => callId.replaceAll("-", "")

/** Undefined if the call is not traced. A single call is part of the request that asked for it, and is traced if that request is. */
export const traceCall = Effect.fnUntraced(function* (traces: Traces, attempt: Attempt, provider: string, origin: Origin) {
  const parent = attempt.campaign === undefined && !origin.isAdopted ? yield* Effect.serviceOption(Tracer.ParentSpan) : Option.none()
  const root = Option.isNone(parent) ? rootOf(traces, attempt.callId, origin) : partOf(traces, tracedIn(parent.value))
  root?.tell({
    "trunkline.call_id": attempt.callId,
    "trunkline.run_id": attempt.runId,
    "trunkline.campaign_id": attempt.campaign?.campaignId,
    "trunkline.provider": provider,
    "trunkline.is_adopted": origin.isAdopted || undefined
  })
  return root === undefined ? undefined : new CallTrace(traces, root)
})

const rootOf = (traces: Traces, callId: CallId, { claim }: Origin) =>
  traces.root({
    name: "call",
    linked: claim?.span === undefined ? [] : [claim.span],
    startTime: claim?.begunAt ?? traces.now(),
    traceId: traceIdOf(callId)
  })

const partOf = (traces: Traces, parent: SpanRef | undefined) => parent && traces.child(parent, { name: "call" })
