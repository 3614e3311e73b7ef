/** Handing the callee of a live call to somebody else: the request to an adapter, and how it can fail. `Transferred` reports the outcome. */
import { Schema } from "effect"

/** The most transfers that are tried in one call. */
export const MOST_TRANSFERS = 26

export interface TransferRequest {
  /** The number of this transfer in its call, from 1 to `MOST_TRANSFERS`. `Transferred` repeats it, so that outcomes are not confused. */
  readonly transfer: number
  /** Digits, with or without a plus: a number, an extension or a queue that the configuration allows to be dialed. */
  readonly to: string
  /** The number shown to the destination. Undefined: the one that the callee was shown, or whatever the provider shows. */
  readonly from?: string
  /** `blind`: the call goes to the destination whether it answers or not. `attended`: only once the destination has answered. */
  readonly kind: "blind" | "attended"
  /** How long the destination of an attended transfer may ring. The callee hears that, or music, meanwhile. */
  readonly timeoutSeconds: number
  /**
   * Whether the request may still leave, as in `OriginateRequest`: the destination's phone rings from then on. Ask exactly once, right before the
   * first byte. False: send nothing, and fail with `TransferRefused`. Never throws.
   */
  readonly leave: () => boolean
}

/** Nobody was dialed, and nobody will be: the callee is still with the agent, unless the call has ended. */
export class TransferRefused extends Schema.TaggedError<TransferRefused>()("TransferRefused", {
  /** For the operator. Must not hold a phone number or a credential. */
  detail: Schema.String,
  /** The account dials too much or too fast: what it dials next leaves further apart for a while. */
  isRateLimited: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    return this.detail
  }
}

/** The request may have reached the provider: the destination may be ringing. It is never repeated; events may still report the outcome. */
export class TransferDoubtful extends Schema.TaggedError<TransferDoubtful>()("TransferDoubtful", {
  /** For the operator. Must not hold a phone number or a credential. */
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}
