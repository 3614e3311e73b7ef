/**
 * The life of one outbound call:
 *
 *     Dialing --Rang--> Ringing --Answered--> Up --HungUp--> Ended
 *        |                                     '--we end it--> Closing --HungUp--> Ended
 *        '--Refused--> Void: it was certainly never placed
 *
 * Any state but the last two may end early. `transition` is the only code that moves a call. Ended and Void are final: whatever a
 * provider says later changes nothing. Exactly one deadline is set at any time, by the newest `SetDeadline`; one
 * that had passed just before it was replaced does no harm.
 */
import { Schema } from "effect"
import { HangupCause } from "./HangupCause.ts"

const RefusalReason = Schema.Literals([
  "unreachable",
  "rate_limited",
  "auth_refused",
  "no_credit",
  "misconfigured",
  // The permit to dial ended before the request left: pause, closed window, new owner.
  "permit_lapsed"
])
export type RefusalReason = typeof RefusalReason.Type
/** How many looks have not found the call, and how many got no answer. */
const Looks = { missed: Schema.Int, silences: Schema.Int }

export const CallState = Schema.TaggedUnion({
  /** `doubtful`: it is unknown whether the request reached the provider. Without proof by `giveUpAt` the attempt is written off. */
  Dialing: { doubtful: Schema.Boolean, giveUpAt: Schema.Finite, ...Looks },
  Ringing: { giveUpAt: Schema.Finite, ...Looks },
  Up: { answeredAt: Schema.Finite },
  /** We have asked for the end and wait for it. `placed`: the provider has shown that the call exists, so it can never be void. */
  Closing: { placed: Schema.Boolean, answeredAt: Schema.optionalKey(Schema.Finite), cause: HangupCause, ...Looks },
  Ended: { answeredAt: Schema.optionalKey(Schema.Finite), endedAt: Schema.Finite, cause: HangupCause },
  Void: { reason: RefusalReason, at: Schema.Finite }
})
export type CallState = typeof CallState.Type

/** Times are epoch milliseconds of our own clock, at which we learned of it. */
export const CallEvent = Schema.TaggedUnion({
  Accepted: {},
  Refused: { at: Schema.Finite, reason: RefusalReason },
  /** No reply to our request. */
  Doubted: { at: Schema.Finite },
  Rang: {},
  Answered: { at: Schema.Finite },
  HungUp: { at: Schema.Finite, cause: HangupCause },
  /** We want it to end: an operator, a shutdown, the agent, answering machine detection, lost audio. */
  EndAsked: { at: Schema.Finite, cause: HangupCause },
  DeadlinePassed: { at: Schema.Finite },
  /** The provider's answer to `Look`; `silent` when it gave none. */
  Looked: { at: Schema.Finite, presence: Schema.Literals(["ringing", "up", "gone", "never_placed", "silent"]) }
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

/** After the ring timeout, how long we wait for the provider's word before we ask. */
const PATIENCE_MILLIS = 30_000
const LOOK_AGAIN_MILLIS = 10_000
/** So often must a call not be found, ten seconds apart, until we believe it. */
const MISSES_TO_BELIEVE = 3
/** A provider that gives no answer at all for ten minutes has lost the call. */
const SILENCES_TO_BELIEVE = 60

const { Closing, Dialing, Ended, Ringing, Up, Void } = CallState.cases
const { AttachVoice, Hangup, Look, Originate, SetDeadline } = CallCommand.cases

/** Where the call now stands, and what its actor must do about it, in order. */
export interface Step {
  readonly state: CallState
  readonly commands: ReadonlyArray<CallCommand>
}
const to = (state: CallState, ...commands: ReadonlyArray<CallCommand>): Step => ({ state, commands })
const lookAgain = SetDeadline.make({ afterMillis: LOOK_AGAIN_MILLIS })
const notLooked = { missed: 0, silences: 0 }
const ringMillis = (limits: CallLimits) => limits.ringTimeoutSeconds * 1000 + PATIENCE_MILLIS

/** A new call. */
export const dial = (limits: CallLimits, at: number): Step =>
  to(
    Dialing.make({ doubtful: false, giveUpAt: at + ringMillis(limits), ...notLooked }),
    SetDeadline.make({ afterMillis: ringMillis(limits) }),
    Originate.make({})
  )

/** A call whose request had been sent when the node that dialed it died. */
export const recoverSent = (limits: CallLimits, sentAt: number): Step =>
  to(Dialing.make({ doubtful: true, giveUpAt: sentAt + ringMillis(limits), ...notLooked }), lookAgain, Look.make({}))

/** A call that was answered when the node that carried it died: its audio is gone, so it is ended. */
export const recoverAnswered = (answeredAt: number): Step => close("node_lost", { placed: true, answeredAt })

const close = (cause: HangupCause, call: { readonly placed: boolean; readonly answeredAt?: number }): Step =>
  to(Closing.make({ ...answeredOf(call), cause, placed: call.placed, ...notLooked }), lookAgain, Hangup.make({ cause }))

export const isOver = (state: CallState): state is typeof Ended.Type | typeof Void.Type => state._tag === "Ended" || state._tag === "Void"

export const transition = (state: CallState, event: CallEvent, limits: CallLimits): Step =>
  CallState.match(state, {
    Dialing: (call) => dialing(call, event, limits),
    Ringing: (call) => ringing(call, event, limits),
    Up: (call) => up(call, event, limits),
    Closing: (call) => closing(call, event),
    Ended: (call) => to(call),
    Void: (call) => to(call)
  })

const answer = (at: number, limits: CallLimits): Step =>
  to(Up.make({ answeredAt: at }), SetDeadline.make({ afterMillis: limits.maxDurationSeconds * 1000 }), AttachVoice.make({}))

const dialing = (call: typeof Dialing.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => to(Dialing.make({ ...call, doubtful: false })),
    Refused: ({ at, reason }) => to(Void.make({ at, reason })),
    Doubted: () => to(Dialing.make({ ...call, doubtful: true }), lookAgain, Look.make({})),
    Rang: () => to(Ringing.make({ giveUpAt: call.giveUpAt, ...notLooked })),
    Answered: ({ at }) => answer(at, limits),
    HungUp: ({ at, cause }) => to(Ended.make({ cause, endedAt: at })),
    EndAsked: ({ cause }) => close(cause, { placed: false }),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "ringing":
          // Once it is past the time it may ring, only a lost end can be the reason that it still does.
          return at >= call.giveUpAt
            ? close("ring_timeout", { placed: true })
            : to(Ringing.make({ giveUpAt: call.giveUpAt, ...notLooked }), SetDeadline.make({ afterMillis: call.giveUpAt - at }))
        case "up":
          // Answered while nobody listened for its events: the callee has been hearing nothing.
          return close("trunk_lost", { placed: true, answeredAt: at })
        case "never_placed":
          // While the request itself may still be under way, nothing can be proven of it.
          return call.doubtful ? to(Void.make({ at, reason: "unreachable" })) : missed(call, at, call.giveUpAt)
        case "gone":
          return missed(call, at, call.giveUpAt)
        case "silent":
          return unheard(call, at)
      }
    }
  })

const ringing = (call: typeof Ringing.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => to(call),
    Refused: () => to(call), // it rings, so it was placed
    Doubted: () => to(call),
    Rang: () => to(call), // late: providers repeat and reorder events
    Answered: ({ at }) => answer(at, limits),
    HungUp: ({ at, cause }) => to(Ended.make({ cause, endedAt: at })),
    EndAsked: ({ cause }) => close(cause, { placed: true }),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "ringing":
          return at >= call.giveUpAt
            ? close("ring_timeout", { placed: true })
            : to(call, SetDeadline.make({ afterMillis: call.giveUpAt - at }))
        case "up":
          return close("trunk_lost", { placed: true, answeredAt: at })
        case "gone":
        case "never_placed":
          return missed(call, at, Number.NEGATIVE_INFINITY)
        case "silent":
          return unheard(call, at)
      }
    }
  })

type Unanswered = typeof Dialing.Type | typeof Ringing.Type

const writeOff = (at: number): Step => to(Ended.make({ cause: "written_off", endedAt: at }))

/** It was not found once more. Often enough, and not before `notBefore`: there is no proof either way, and it is never dialed again by itself. */
const missed = (call: Unanswered, at: number, notBefore: number): Step =>
  at >= notBefore && call.missed + 1 >= MISSES_TO_BELIEVE ? writeOff(at) : to({ ...call, missed: call.missed + 1 }, lookAgain)

const unheard = (call: Unanswered, at: number): Step =>
  call.silences + 1 >= SILENCES_TO_BELIEVE ? writeOff(at) : to({ ...call, silences: call.silences + 1 }, lookAgain)

const up = (call: typeof Up.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => to(call),
    Refused: () => to(call),
    Doubted: () => to(call),
    Rang: () => to(call),
    Answered: () => to(call),
    HungUp: ({ at, cause }) => to(Ended.make({ answeredAt: call.answeredAt, cause, endedAt: at })),
    EndAsked: ({ cause }) => close(cause, { placed: true, answeredAt: call.answeredAt }),
    // The deadline of the ringing may have passed while the answer was being handled.
    DeadlinePassed: ({ at }) =>
      at >= call.answeredAt + limits.maxDurationSeconds * 1000
        ? close("duration_exceeded", { placed: true, answeredAt: call.answeredAt })
        : to(call),
    Looked: () => to(call)
  })

const closing = (call: typeof Closing.Type, event: CallEvent): Step => {
  const over = (at: number) => to(Ended.make({ ...answeredOf(call), cause: call.cause, endedAt: at }))
  const hangup = Hangup.make({ cause: call.cause })
  return CallEvent.match(event, {
    Accepted: () => to({ ...call, placed: true }, hangup), // asked to end before the provider knew of the call
    Refused: ({ at, reason }) => (call.placed ? to(call) : to(Void.make({ at, reason }))),
    Doubted: () => to(call),
    Rang: () => (call.placed ? to(call) : to({ ...call, placed: true }, hangup)),
    // Picked up while we hung up: of two signals the answer is the stronger.
    Answered: ({ at }) => to({ ...call, placed: true, answeredAt: call.answeredAt ?? at }, hangup),
    HungUp: ({ at }) => over(at),
    EndAsked: () => to(call),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "ringing":
        case "up":
          return to({ ...call, placed: true }, lookAgain, hangup)
        case "gone":
        case "never_placed":
          // Not answered: the request itself may still be under way, so not being found once proves nothing.
          return call.answeredAt !== undefined || call.missed > 0 ? over(at) : to({ ...call, missed: 1 }, lookAgain)
        case "silent":
          return call.silences + 1 >= SILENCES_TO_BELIEVE ? over(at) : to({ ...call, silences: call.silences + 1 }, lookAgain)
      }
    }
  })
}

const answeredOf = (call: { readonly answeredAt?: number }) => (call.answeredAt === undefined ? {} : { answeredAt: call.answeredAt })
