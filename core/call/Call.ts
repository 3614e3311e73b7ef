/**
 * The words for the life of one outbound call: the states it can be in, what can happen to it, and what its actor can be told to do. What
 * follows from what is in `CallMachine.ts`.
 */
import { Schema } from "effect"
import { HangupCause } from "#core/outcome/HangupCause.ts"

const RefusalReason = Schema.Literals([
  "unreachable",
  "rate_limited",
  "auth_refused",
  "no_credit",
  "misconfigured",
  // The permit to dial ended before the request left: pause, closed window, new owner.
  "permit_lapsed"
])
/** How many looks have not found the call, and how many got no answer. */
const Looks = { missed: Schema.Int, silences: Schema.Int }
const AnsweredAt = { answeredAt: Schema.optionalKey(Schema.Finite) }
/** The provider's own time of an event, in epoch milliseconds of its clock: only differences mean anything. */
const ToldAt = { toldAt: Schema.optionalKey(Schema.Finite) }

export const CallState = Schema.TaggedUnion({
  /**
   * `request`: the reply to it is still awaited; the provider has the call; or nobody knows whether the request got there. Without proof by
   * `giveUpAt` the attempt is written off.
   */
  Dialing: { request: Schema.Literals(["inFlight", "accepted", "doubtful"]), giveUpAt: Schema.Finite, ...Looks },
  Ringing: { giveUpAt: Schema.Finite, ...Looks },
  /** It has ended without an answer, for a cause that an answered call may have as well: the answer may be on its way. */
  Held: { endedAt: Schema.Finite, cause: HangupCause, dialedAt: Schema.optionalKey(Schema.Finite), looked: Schema.Boolean, ...ToldAt },
  Up: { answeredAt: Schema.Finite },
  /** Answered, and its audio is gone: usually because the callee has hung up and the provider has not said so yet. */
  Muted: { answeredAt: Schema.Finite, mutedAt: Schema.Finite, ...Looks },
  /** We have asked for the end and wait for it. `placed`: the provider has shown that the call exists, so it can never be void. */
  Closing: { request: Schema.Literals(["inFlight", "doubtful", "placed"]), cause: HangupCause, ...AnsweredAt, ...Looks },
  /**
   * `inferred`: absent when the provider told of the end; `gone` when it no longer had the call; `unseen` when there was never a trace of the
   * call, which may therefore still appear.
   */
  Ended: { endedAt: Schema.Finite, cause: HangupCause, inferred: Schema.optionalKey(Schema.Literals(["gone", "unseen"])), ...AnsweredAt },
  Void: { reason: RefusalReason, at: Schema.Finite }
})
export type CallState = typeof CallState.Type

/** Times are steady milliseconds, at which we learned of it. */
export const CallEvent = Schema.TaggedUnion({
  Accepted: {},
  Refused: { at: Schema.Finite, reason: RefusalReason },
  /** No reply to our request. */
  Doubted: { at: Schema.Finite },
  Rang: {},
  Answered: { at: Schema.Finite, ...ToldAt },
  HungUp: { at: Schema.Finite, cause: HangupCause, ...ToldAt },
  /** The audio has ended. `failed`: it never came about, or is certainly lost. */
  MediaLost: { at: Schema.Finite, failed: Schema.Boolean },
  /** We want it to end: an operator, a shutdown, the agent, answering machine detection. */
  EndAsked: { at: Schema.Finite, cause: HangupCause },
  DeadlinePassed: { at: Schema.Finite },
  /**
   * The provider's answer to `Look`; `silent` when it gave none. `deaf`: its events are not being heard at the moment, so an end of which it
   * will tell may not have been told yet.
   */
  Looked: { at: Schema.Finite, presence: Schema.Literals(["ringing", "up", "gone", "never_placed", "silent"]), deaf: Schema.Boolean }
})
export type CallEvent = typeof CallEvent.Type

export const CallCommand = Schema.TaggedUnion({
  Originate: {},
  AttachVoice: {},
  Hangup: { cause: HangupCause },
  /** Ask the provider where the call stands. */
  Look: {},
  SetDeadline: { afterMillis: Schema.Finite }
})
export type CallCommand = typeof CallCommand.Type

export interface CallLimits {
  /** How long the callee's phone may ring; the provider ends the call then. */
  readonly ringTimeoutSeconds: number
  readonly maxDurationSeconds: number
}

/** Where the call now stands, and what its actor must do about it, in order. */
export interface Step {
  readonly state: CallState
  readonly commands: ReadonlyArray<CallCommand>
}

export type Over = CallState & { readonly _tag: "Ended" | "Void" }
export const isOver = (state: CallState): state is Over => state._tag === "Ended" || state._tag === "Void"
