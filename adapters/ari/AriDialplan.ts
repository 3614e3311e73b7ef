/**
 * Answered calls that run through Asterisk's own dialplan before they are ours: AMD(), routing, billing.
 *
 * An originate into a context cannot be observed: an application cannot subscribe to a channel that does not exist yet (422), and a call that
 * fails at once is gone before it can subscribe after the reply. So these calls, too, are placed into our application, which Asterisk subscribes
 * to them before they are dialed: ringing, busy and no answer are reported as usual. Their `StasisStart` with the argument `dialplan` is the
 * callee's answer. We then make them continue in the dialplan, after subscribing to the channel by name: the originate's subscription outlasts
 * the application in Asterisk 22, but that is not documented. Either the dialplan brings the call back with
 * `Stasis(${TRUNKLINE_APP},call,${TRUNKLINE_CALL})`, and then it is ours, or it ends the call, which `ChannelDestroyed` reports. The arguments of
 * the first `StasisStart` say where the call continues, so a session that finds it waiting there, after a gap in the events or in another
 * process, knows where to send it.
 */
import { Effect, Schedule } from "effect"
import type { CallId } from "#core/Id.ts"
import { findChannel } from "./AriChannels.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { type Dialplan, placeIn } from "./DialplanPlace.ts"
import { ask, type Asterisk, channelPath, isNoChannel, isSuccess } from "./Asterisk.ts"

const TRIES = 3
const AGAIN = "1 second"
/** How long to retry the hangup of a callee to whom nobody talks, while Asterisk cannot be reached. */
const LET_GO = { schedule: Schedule.spaced("2 seconds"), times: 60 }
/** How long nothing is dialed after the place was found to be missing from the dialplan: each callee would be hung up on. */
const MISSING_MILLIS = 60_000

/** Sends a call that waits in our application into the dialplan. */
export const enter = Effect.fn("ari.enterDialplan")(
  function* (asterisk: Asterisk, callId: CallId, place: Dialplan) {
    for (let tries = 1; tries <= TRIES; tries++) {
      const left = yield* Effect.result(leave(asterisk, callId, place))
      if (left._tag === "Success" && left.success) return
      if (left._tag === "Success") break
      yield* Effect.logWarning("an answered call could not be sent into the dialplan yet", { detail: left.failure.detail })
      yield* Effect.sleep(AGAIN)
      if (isBack(asterisk, callId)) return
      // The reply may have been lost: a call that is on its way, or back, must not be sent again.
      const channel = yield* Effect.orElseSucceed(findChannel(asterisk, "enterDialplan", callId), () => "unknown" as const)
      if (channel === "unknown" || (channel !== undefined && placeIn(channel.args ?? []) !== undefined)) continue
      if (channel !== undefined) asterisk.calls.present(callId, channel, true)
      return
    }
    yield* giveUp(asterisk, callId)
  },
  (entering, _, callId) => Effect.annotateLogs(Effect.ignore(entering), { callId })
)

/** Returns false if the dialplan has no such place, where Asterisk would hang up. */
const leave = Effect.fnUntraced(function* (asterisk: Asterisk, callId: CallId, { context, extension, priority }: Dialplan) {
  const application = encodeURIComponent(asterisk.application)
  const subscribed = yield* ask(
    asterisk,
    "enterDialplan",
    { method: "POST", path: `/applications/${application}/subscription`, query: { eventSource: `channel:${callId}` } },
    ({ status }) => status === 422
  )
  // The channel has ended, which is reported as an event.
  if (!isSuccess(subscribed)) return true
  const variable = `DIALPLAN_EXISTS(${context},${extension},${priority})`
  const exists = yield* ask(
    asterisk,
    "enterDialplan",
    { method: "GET", path: `${channelPath(callId)}/variable`, query: { variable } },
    // Without func_dialplan.so the answer is unknown.
    () => true
  )
  if (textAt(exists.body, "value") === "0") {
    asterisk.noDialplanUntil = asterisk.now() + MISSING_MILLIS
    yield* Effect.logError("the dialplan has no such place for answered calls", { place: context, priority })
    return false
  }
  yield* ask(
    asterisk,
    "enterDialplan",
    { method: "POST", path: `${channelPath(callId)}/continue`, query: { context, extension, priority } },
    // 409: the channel has left our application already.
    (reply) => reply.status === 409 || isNoChannel(reply)
  )
  return true
})

/** The call was sent into the dialplan although the reply was lost, and it is ours by now. */
const isBack = ({ calls }: Asterisk, callId: CallId): boolean => calls.get(callId)?.dialplan === "over"

/** Hangs up, because nobody talks to the callee. If even that fails, the call is sent again after the next gap in the events. */
const giveUp = (asterisk: Asterisk, callId: CallId) => {
  const call = asterisk.calls.get(callId)
  const request = { method: "DELETE", path: channelPath(callId) } as const
  const hangup = Effect.retry(
    Effect.suspend(() => {
      if (!isBack(asterisk, callId)) return Effect.asVoid(ask(asterisk, "hangup", request, isNoChannel))
      if (call?.asked === "media_failure") call.asked = undefined
      return Effect.void
    }),
    LET_GO
  )
  if (call === undefined || isBack(asterisk, callId)) return hangup
  call.asked ??= "media_failure"
  return Effect.tapError(hangup, () =>
    Effect.sync(() => {
      call.asked = undefined
      call.isSentOn = false
    })
  )
}
