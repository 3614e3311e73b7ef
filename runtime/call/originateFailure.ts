/** Failed originates: what they mean for the call and its trunk, and what is logged. */
import { Effect } from "effect"
import { CallEvent } from "#core/call/Call.ts"
import { OriginateDoubtful, OriginateRefused } from "#core/provider/Adapter.ts"
import type { LiveCall } from "./LiveCall.ts"

const { Doubted, HungUp, Refused } = CallEvent.cases

/** The failure of an originate that took too long. A request that has not been sent by now never will be. */
export const overdue = (call: LiveCall): OriginateRefused | OriginateDoubtful => {
  if (call.dialing === undefined) return new OriginateDoubtful({ detail: "no reply" })
  call.dialing = undefined
  return new OriginateRefused({ reason: "unreachable", detail: "the request could not leave in time" })
}

/** Removes the dialed number from a provider's message before it is shown and logged. */
export const nameless = (detail: string, phoneNumber: string) => detail.replaceAll(phoneNumber.replace("+", ""), "{number}")

export const logRefusal = (error: OriginateRefused | OriginateDoubtful, detail: string) => {
  if (error._tag === "OriginateDoubtful") return Effect.logWarning("it is unknown whether an originate was taken", { detail })
  const { reason } = error
  if (reason === "permit_lapsed") return Effect.void
  // A number that does not exist is an error in the contact list, and there may be many.
  const log = reason === "number_refused" ? Effect.logInfo : Effect.logWarning
  return log("an originate was refused", { reason, detail })
}

const unexplained = ({ attempt, ref, trunk }: LiveCall, detail: string, at: number): CallEvent => {
  const blame = trunk.unexplained.blame(ref.to ?? "", detail)
  if (blame === "configuration") {
    trunk.dismiss(attempt.callId)
    return Refused.make({ at, reason: "unexplained" })
  }
  trunk.reached(attempt.callId)
  // Somebody waits for the result of a single call, which has no later turn.
  if (blame === "later" && attempt.campaign !== undefined) return Refused.make({ at, reason: "undecided" })
  return HungUp.make({ at, cause: "unexplained_refusal" })
}

/** The event for the call's actor. The trunk is told too, and the call remembers `detail`. */
export const eventOf = (call: LiveCall, error: OriginateRefused | OriginateDoubtful, detail: string, at: number): CallEvent => {
  const { attempt, ref, trunk } = call
  const { callId } = attempt
  if (error._tag === "OriginateDoubtful") {
    const { elsewhere, retryAfterMillis, status } = error
    if (elsewhere === true) trunk.dismiss(callId)
    else trunk.doubted(callId, { answered: status !== undefined, detail, retryAfterMillis })
    return Doubted.make({ at })
  }
  const { cause, elsewhere, reason, retryAfterMillis } = error
  call.refusal = detail
  if (elsewhere === true) {
    trunk.dismiss(callId)
    return Refused.make({ at, reason: "unreachable" })
  }
  switch (reason) {
    case "number_refused":
      trunk.reached(callId)
      trunk.unexplained.explained()
      return HungUp.make({ at, cause: cause ?? "unallocated_number" })
    case "unexplained":
      return unexplained(call, detail, at)
    case "unreachable":
      trunk.unreachable(callId, detail)
      break
    case "rate_limited":
      trunk.rateLimited(callId, retryAfterMillis, detail)
      break
    case "caller_id_refused":
      if (ref.from !== undefined) trunk.refuseCallerId(ref.from, detail)
      trunk.dismiss(callId)
      break
    default:
      trunk.dismiss(callId)
  }
  return Refused.make({ at, reason })
}
