/**
 * The states of one outbound call, the events that can happen to it, and the commands to its actor. The transitions are in `CallMachine.ts`.
 */
import { Schema } from "effect"
import { HangupCause } from "#core/outcome/HangupCause.ts"
import { fatalReasons } from "#core/provider/FatalReason.ts"

const RefusalReason = Schema.Literals([
  ...fatalReasons,
  "unreachable",
  "rate_limited",
  "caller_id_refused",
  // Refused for a reason that the adapter does not know, and it is open whose fault that is: the contact has its turn later.
  "undecided",
  // The permit to dial ended before the request left, or before the call left the provider's queue: pause, closed window, new owner.
  "permit_lapsed"
])

/** The number of looks that did not find the call, and of looks that got no answer. */
const Looks = { missed: Schema.Int, silences: Schema.Int }
/** Nothing has shown that the call has left the provider's queue. If its record proves that its phone never rang, the call is void. */
const IsUndialed = { isUndialed: Schema.optionalKey(Schema.Literal(true)) }
const AnsweredAt = { answeredAt: Schema.optionalKey(Schema.Finite) }
/** The provider's own timestamp of an event, in epoch milliseconds of its clock. Only differences are meaningful. */
const ToldAt = { toldAt: Schema.optionalKey(Schema.Finite) }
const AnswerTimes = { dialedAt: Schema.optionalKey(Schema.Finite), answerToldAt: Schema.optionalKey(Schema.Finite) }
/**
 * What else is known of an answered call. `dialedAt`: it was answered no earlier. `answerToldAt`: the provider's timestamp of the answer.
 * `isJudged`: the provider has reported who answered.
 */
const Talk = {
  ...AnswerTimes,
  isJudged: Schema.optionalKey(Schema.Boolean),
  /** How many transfers have been begun. */
  transfers: Schema.optionalKey(Schema.Int)
}

export const CallState = Schema.TaggedUnion({
  /**
   * `inFlight`: the reply to the request is still awaited. `accepted`: the provider has the call. `doubtful`: it is unknown whether the request
   * arrived. Looks that do not find the call write the attempt off no earlier than `giveUpAt`. `queue`: what the provider has reported about its
   * own queue. `isWithdrawn`: the call must leave the queue without being dialed.
   */
  Dialing: {
    request: Schema.Literals(["inFlight", "accepted", "doubtful"]),
    giveUpAt: Schema.Finite,
    queue: Schema.optionalKey(Schema.Literals(["waiting", "left"])),
    isWithdrawn: Schema.optionalKey(Schema.Literal(true)),
    ...Looks
  },
  /** `upAt`: when a look found it answered. The answer event may still be on its way. */
  Ringing: { giveUpAt: Schema.Finite, upAt: Schema.optionalKey(Schema.Finite), ...Looks },
  /**
   * Its end was reported, but the report of an answer, or of who answered, may still be on its way. `found`: what the last look found; a record
   * that lags behind still has the call.
   */
  Held: {
    endedAt: Schema.Finite,
    cause: HangupCause,
    found: Schema.Literals(["unknown", "gone", "alive"]),
    ...IsUndialed,
    ...AnsweredAt,
    ...Talk,
    ...ToldAt
  },
  Up: { answeredAt: Schema.Finite, ...Talk },
  /**
   * Answered, but its audio is gone: usually the callee has hung up and the provider has not reported it yet. Until `graceUntil`, no look proves
   * that the call continues without audio: the look may have begun earlier, and the record may lag behind. `isBroken`: the provider has not
   * ended the audio, so this says nothing about when the call ended.
   */
  Muted: {
    answeredAt: Schema.Finite,
    mutedAt: Schema.Finite,
    graceUntil: Schema.Finite,
    isBroken: Schema.optionalKey(Schema.Literal(true)),
    ...Talk,
    ...Looks
  },
  /**
   * The callee is being transferred. If no outcome is reported by `until`, the audio decides. `isMuted`: it has ended, as with most providers.
   * `backAt`: when it came back, which is usually followed by the outcome.
   */
  Transferring: {
    answeredAt: Schema.Finite,
    until: Schema.Finite,
    isMuted: Schema.Boolean,
    backAt: Schema.optionalKey(Schema.Finite),
    ...Talk
  },
  /**
   * The callee talks to somebody else, without audio to us. `isAssumed`: that was not reported. `isRecovered`: the call's process has died, so
   * there is no agent that the callee could come back to.
   */
  Transferred: {
    answeredAt: Schema.Finite,
    isAssumed: Schema.optionalKey(Schema.Literal(true)),
    isRecovered: Schema.optionalKey(Schema.Literal(true)),
    ...Talk,
    ...Looks
  },
  /**
   * We have asked the provider to hang up and wait for the end. `placed`: it has shown that the call exists, so it can never be void. `aliveAt`:
   * when the call's process, which has died since, was last known to be alive. `isUnheard`: its events go to a process that has died, so only
   * looks can tell what became of it. `quietAt`: when the provider ended its audio.
   */
  Closing: {
    request: Schema.Literals(["inFlight", "doubtful", "placed"]),
    cause: HangupCause,
    aliveAt: Schema.optionalKey(Schema.Finite),
    isUnheard: Schema.optionalKey(Schema.Literal(true)),
    quietAt: Schema.optionalKey(Schema.Finite),
    ...IsUndialed,
    ...AnsweredAt,
    ...Talk,
    ...Looks
  },
  /**
   * `inferred`: absent when the provider reported the end; `gone` when it no longer had the call or stopped answering; `unseen` when there
   * was never a trace of the call, which may therefore still appear.
   */
  Ended: {
    endedAt: Schema.Finite,
    cause: HangupCause,
    inferred: Schema.optionalKey(Schema.Literals(["gone", "unseen"])),
    ...AnsweredAt,
    ...AnswerTimes
  },
  Void: { reason: RefusalReason, at: Schema.Finite }
})
export type CallState = typeof CallState.Type

/** Who is dialed in a transfer, see `TransferRequest`. */
const Destination = Schema.Struct({
  to: Schema.String,
  from: Schema.optionalKey(Schema.String),
  kind: Schema.Literals(["blind", "attended"]),
  timeoutSeconds: Schema.Finite
})

/** `at` is when we learned of the event, in steady milliseconds. */
export const CallEvent = Schema.TaggedUnion({
  Accepted: {},
  /** It waits in the provider's queue. Events may be late: a call that has left the queue never returns to it. */
  Queued: {},
  /** It is not in the provider's queue. */
  Placed: {},
  /** Its campaign may no longer dial, for whatever reason: if the call is still in the provider's queue, its phone must not ring. */
  DialingWithdrawn: {},
  Refused: { at: Schema.Finite, reason: RefusalReason },
  /** The outcome of our request is unknown. */
  Doubted: { at: Schema.Finite },
  Rang: {},
  Answered: { at: Schema.Finite, ...ToldAt },
  /** The provider has reported who answered, or that it cannot tell. */
  Judged: {},
  HungUp: { at: Schema.Finite, cause: HangupCause, ...ToldAt },
  /** Somebody who may be lying says that the call has ended. */
  EndClaimed: {},
  /** A claim was checked: the provider has no such live call. Its record, which says how the call ended, may lag behind. */
  EndChecked: { at: Schema.Finite },
  /** The audio has ended. `failed`: it was never set up, or is certainly lost. */
  MediaLost: { at: Schema.Finite, failed: Schema.Boolean },
  /** The audio continues over a new stream. */
  MediaBack: { at: Schema.Finite },
  /** The agent transfers the callee. Ignored unless the callee is with the agent. */
  TransferAsked: { at: Schema.Finite, destination: Destination },
  /** The callee is with the destination of this transfer; if not `answered`, the callee is with the agent. */
  Transferred: { at: Schema.Finite, transfer: Schema.Int, answered: Schema.Boolean },
  /** We want the call to end: because of an operator, a shutdown, the agent or answering-machine detection. */
  EndAsked: { at: Schema.Finite, cause: HangupCause },
  DeadlinePassed: { at: Schema.Finite },
  /**
   * The provider's answer to `Look`; `silent` when it gave none. `deaf`: its events do not reach us at the moment, so the call may have ended
   * without us having heard of it yet.
   */
  Looked: {
    at: Schema.Finite,
    presence: Schema.Literals(["queued", "ringing", "up", "ended", "gone", "never_placed", "silent"]),
    deaf: Schema.Boolean
  }
})
export type CallEvent = typeof CallEvent.Type

export const CallCommand = Schema.TaggedUnion({
  Originate: {},
  AttachVoice: {},
  Hangup: { cause: HangupCause },
  /** Ask the provider to transfer the callee: once, whatever becomes of the request. */
  Transfer: { transfer: Schema.Int, destination: Destination },
  /** Ask the provider for the call's state. */
  Look: {},
  /**
   * Ask the provider whether the call has ended, repeatedly if necessary. Its record then gives the end; a look without a record changes
   * nothing.
   */
  CheckEnd: {},
  SetDeadline: { afterMillis: Schema.Finite }
})
export type CallCommand = typeof CallCommand.Type

export interface CallLimits {
  /** How long the callee's phone may ring. The provider then ends the call. */
  readonly ringTimeoutSeconds: number
  readonly maxDurationSeconds: number
  /** The provider was asked to detect who answers, so an end that arrives before that result is held. */
  readonly detects?: boolean
  /** The provider may keep the call in its own queue, where it must wait only for as long as its campaign may dial. */
  readonly queues?: boolean
}

/** The call's new state, and the commands that its actor must carry out, in order. */
export interface Step {
  readonly state: CallState
  readonly commands: ReadonlyArray<CallCommand>
}

export type Over = CallState & { readonly _tag: "Ended" | "Void" }
export const isOver = (state: CallState): state is Over => state._tag === "Ended" || state._tag === "Void"
