/** Which other engine has a call that a carrier speaks of. */
import type { PassedTo } from "#core/provider/CarrierCallbacks.ts"
import type { CallId } from "#core/Id.ts"
import type { Charge } from "#runtime/lock/Charge.ts"
import type { CallsElsewhere } from "./CallsElsewhere.ts"
import type { CallSupervisor } from "./CallSupervisor.ts"

interface Known {
  readonly charge: Pick<Charge["Service"], "deciderAt" | "isTaken" | "successor">
  readonly elsewhere: Pick<CallsElsewhere["Service"], "addressOf">
  readonly supervisor: Pick<CallSupervisor["Service"], "has">
}

export interface OtherEnd {
  /** As `host:port`. */
  readonly address: string
  readonly who: PassedTo
}

/** `passedTo`: what another engine took this one for. Undefined: nobody else, as far as this engine knows. */
export const otherEngineOf = (
  { charge, elsewhere, supervisor }: Known,
  callId: CallId,
  passedTo: string | undefined
): OtherEnd | undefined => {
  if (passedTo === "owner" || supervisor.has(callId)) return undefined
  // A leaving engine has it, or a call node, or this engine is leaving and its successor dialed it.
  const owner = elsewhere.addressOf(callId) ?? charge.successor()
  if (owner !== undefined) return { address: owner, who: "owner" }
  // An engine that only carries calls knows no others.
  const decider = passedTo === undefined && !charge.isTaken() ? charge.deciderAt() : undefined
  return decider && { address: `${decider.host}:${decider.port}`, who: "decider" }
}
