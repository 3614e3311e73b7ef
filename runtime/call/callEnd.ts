/** The last facts about a call that is over: what the provider reports after we inferred the end, and what the voice session reports. */
import { type Clock, Effect, Queue } from "effect"
import { CallState } from "#core/call/Call.ts"
import { transition } from "#core/call/CallMachine.ts"
import { reportDueAt } from "#core/call/ending.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CallServices } from "./CallServices.ts"
import type { LiveCall } from "./LiveCall.ts"

const { Ended, Void } = CallState.cases
type Ended = typeof Ended.Type
type Void = typeof Void.Type

/** Waits for the provider's report of an end that we have inferred, if it is due. */
export const awaitReport = Effect.fnUntraced(function* (call: LiveCall, inferred: Ended, clock: Clock.Clock) {
  const until = reportDueAt(inferred)
  let end = inferred
  while (until !== undefined && end.inferred !== undefined) {
    const event = yield* Effect.timeoutOption(Queue.take(call.mailbox), Math.max(0, until - SteadyTime.nowOf(clock)))
    if (event._tag === "None") break
    const { state } = transition(end, event.value, call.limits)
    if (state._tag === "Ended") end = state
  }
  return end
})

/** Closes the mailbox: what the provider has reported since the end was inferred replaces the inferred end; anything later is ignored. */
export const lastWord = (call: LiveCall, inferred: Ended): Ended => {
  call.isOver = true
  let end = inferred
  while (Queue.sizeUnsafe(call.mailbox) > 0) {
    const said = Queue.takeUnsafe(call.mailbox)
    if (said === undefined || said._tag === "Failure") break
    const { state } = transition(end, said.value, call.limits)
    if (state._tag === "Ended") end = state
  }
  return end
}

/** Actors use steady time; records use wall time. */
export const endedInWallTime = (clock: Clock.Clock, end: Ended): Ended => {
  const answeredAt = end.answeredAt === undefined ? {} : { answeredAt: SteadyTime.wallOf(clock, end.answeredAt) }
  return Ended.make({ ...end, ...answeredAt, endedAt: SteadyTime.wallOf(clock, end.endedAt) })
}

export const voidInWallTime = (clock: Clock.Clock, state: Void): Void => Void.make({ ...state, at: SteadyTime.wallOf(clock, state.at) })

export const voiceReport = ({ agent }: CallServices, { session, voice }: LiveCall, { answeredAt, cause }: Ended) => {
  session?.hungUp?.(cause)
  if (session !== undefined) return session.finish
  // An answered call without a session was answered under an earlier process.
  return answeredAt === undefined ? Effect.undefined : Effect.map(agent.salvage(voice), (recordingKey) => ({ recordingKey }))
}
