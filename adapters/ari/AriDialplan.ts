/**
 * Answered calls that run through Asterisk's own dialplan before they are ours: AMD(), routing, billing.
 *
 * An originate into a context says nothing to anybody: an application cannot subscribe to a channel that does not exist yet (422), and a call
 * that fails at once is gone before it can after the reply. So these calls too are placed into our application, which Asterisk subscribes to
 * them before they are dialed: ring, busy and no answer are learned as ever. Their `StasisStart` with the argument `dialplan` is the callee's
 * answer. We have them continue in the dialplan, and first subscribe to the channel by name: the originate's subscription outlasts the application
 * in Asterisk 22, but no document says that it does. The dialplan either brings it back, with `Stasis(${TRUNKLINE_APP},call,${TRUNKLINE_CALL})`, and then it is ours;
 * or it ends the call, and `ChannelDestroyed` tells so. Where the call is to continue stands in the arguments of the first `StasisStart`: so
 * whoever finds it waiting there, after a gap in the events or as another process, knows where to send it.
 */
import { Effect, Schedule } from "effect"
import type { CallId } from "#core/Id.ts"
import { findChannel } from "./AriChannels.ts"
import { textAt } from "./AriJson.ts"
import { type Dialplan, placeIn } from "./DialplanPlace.ts"
import { ask, type Asterisk, channelPath, isNoChannel, isSuccess } from "./Asterisk.ts"

const TRIES = 3
const AGAIN = "1 second"
/** A callee to whom nobody talks is let go as soon as Asterisk can be asked for it. */
const LET_GO = { schedule: Schedule.spaced("2 seconds"), times: 60 }
/** So long nothing is dialed after the dialplan was found to lack the place: each callee would be hung up on. */
const MISSING_MILLIS = 60_000

/** Sends a call that waits in our application on its way. */
export const enter = Effect.fn("ari.enterDialplan")(
  function* (asterisk: Asterisk, callId: CallId, place: Dialplan) {
    for (let tries = 1; tries <= TRIES; tries++) {
      const left = yield* Effect.result(leave(asterisk, callId, place))
      if (left._tag === "Success" && left.success) return
      if (left._tag === "Success") break
      yield* Effect.logWarning("an answered call could not be sent into the dialplan yet", { detail: left.failure.detail })
      yield* Effect.sleep(AGAIN)
      if (isBack(asterisk, callId)) return
      // The reply may have been lost: whoever is under way, or back, is not sent again.
      const channel = yield* Effect.orElseSucceed(findChannel(asterisk, "enterDialplan", callId), () => "unknown" as const)
      if (channel === "unknown" || (channel !== undefined && placeIn(channel.args ?? []) !== undefined)) continue
      if (channel !== undefined) asterisk.calls.present(callId, channel, true)
      return
    }
    yield* giveUp(asterisk, callId)
  },
  (entering, _, callId) => Effect.annotateLogs(Effect.ignore(entering), { callId })
)

/** False: there is no such place in the dialplan, and Asterisk would hang up. */
const leave = Effect.fnUntraced(function* (asterisk: Asterisk, callId: CallId, { context, extension, priority }: Dialplan) {
  const application = encodeURIComponent(asterisk.application)
  const subscribed = yield* ask(
    asterisk,
    "enterDialplan",
    { method: "POST", path: `/applications/${application}/subscription`, query: { eventSource: `channel:${callId}` } },
    ({ status }) => status === 422
  )
  // The channel has ended, and its end is being told.
  if (!isSuccess(subscribed)) return true
  const variable = `DIALPLAN_EXISTS(${context},${extension},${priority})`
  const exists = yield* ask(
    asterisk,
    "enterDialplan",
    { method: "GET", path: `${channelPath(callId)}/variable`, query: { variable } },
    // Without func_dialplan.so nobody knows.
    () => true
  )
  if (textAt(exists.body, "value") === "0") {
    asterisk.noDialplanUntil = asterisk.now() + MISSING_MILLIS
    yield* Effect.logError("the dialplan has no such place for answered calls", { context, priority })
    return false
  }
  yield* ask(
    asterisk,
    "enterDialplan",
    { method: "POST", path: `${channelPath(callId)}/continue`, query: { context, extension, priority } },
    // It is under way already.
    (reply) => reply.status === 409 || isNoChannel(reply)
  )
  return true
})

/** It was sent on after all, the reply was lost, and by now it is ours. */
const isBack = ({ calls }: Asterisk, callId: CallId): boolean => calls.get(callId)?.dialplan === "over"

/** Nobody talks to the callee. If he cannot even be hung up on, he gets another chance after the next gap in the events. */
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
