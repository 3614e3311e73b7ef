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
import { ask, type Asterisk, channelPath, isNoChannel, isSuccess } from "./Asterisk.ts"

/** Where the configuration sends answered calls. */
export interface Dialplan {
  readonly context: string
  /** With `{number}` or `{digits}` in place of the callee's. */
  readonly extension: string
  readonly priority: string
}

/** Nothing that ends an argument of the dialplan. */
export const contextName = "^[A-Za-z0-9_.-]{0,79}$"
export const extensionName = "^(?:[A-Za-z0-9_.*#+-]|\\{number\\}|\\{digits\\}){0,79}$"
export const priorityNumber = "^(?:[1-9][0-9]{0,3})?$"

export const dialplanOf = (context: string, extension: string, priority: string): Dialplan | undefined =>
  context === "" ? undefined : { context, extension: extension || "s", priority: priority || "1" }

/** The extension for a number. */
export const filled = (text: string, number: string): string =>
  text.replaceAll("{number}", number).replaceAll("{digits}", number.replace("+", ""))

/** Of the originate: how the call enters our application, and what the dialplan needs to bring it back. */
export const appArgsOf = ({ context, extension, priority }: Dialplan, callId: string, number: string): string =>
  ["dialplan", callId, context, filled(extension, number), priority].join(",")
export const variablesOf = (application: string, callId: string): Readonly<Record<string, string>> => ({
  TRUNKLINE_APP: application,
  TRUNKLINE_CALL: callId
})

/** From the arguments of a `StasisStart`: where the call is to continue; undefined for one that is ours. */
export const placeIn = ([kind, , context, extension, priority]: ReadonlyArray<string>): Dialplan | undefined =>
  kind === "dialplan" && context !== undefined && extension !== undefined && priority !== undefined
    ? { context, extension, priority }
    : undefined

/** What AMD() leaves behind: noted as it is set, because the dialplan may end the call then. */
export const noted: ReadonlySet<string> = new Set(["AMDSTATUS", "AMDCAUSE"])
const MOST_FOUND = 16
const LONGEST_VALUE = 256
export const plain = (value: string): string => value.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").slice(0, LONGEST_VALUE)

/** From the arguments of the `StasisStart` by which the dialplan hands a call over: those of the form `NAME=value`. */
export const foundIn = (args: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    args.slice(0, MOST_FOUND + 2).flatMap((arg) => {
      const [, name, value = ""] = /^([A-Z][A-Z0-9_]{0,63})=(.*)$/s.exec(arg) ?? []
      return name === undefined || value === "" ? [] : [[name, plain(value)] as const]
    })
  )

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
