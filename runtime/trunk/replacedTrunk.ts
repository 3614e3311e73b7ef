/**
 * Controls the calls of a trunk that has been replaced. If the new settings lead to the same account at the provider, the new session sees these
 * calls and takes them over, because the old one's password or events may no longer work. Otherwise they stay with the old session, which
 * is kept until the last of them has ended.
 */
import { Effect } from "effect"
import type { CallId } from "#core/Id.ts"
import type { Presence, Trunk } from "#core/provider/Adapter.ts"

/** Everything that can be done with a call that has been placed. */
export type CallControl = Omit<Trunk, "originate">

/** `successor` returns the trunk that has replaced this one; undefined when the configuration is gone. */
export const replacedTrunk = (own: Trunk, successor: () => CallControl | undefined): CallControl => {
  const sees = (presence: Presence) => presence === "ringing" || presence === "up"
  const holderOf = (callId: CallId): Effect.Effect<CallControl> =>
    Effect.suspend(() => {
      const next = successor()
      if (next === undefined) return Effect.succeed(own)
      return next.lookup(callId).pipe(
        Effect.map((presence) => (sees(presence) ? next : own)),
        Effect.catch(() => Effect.succeed(own))
      )
    })
  return {
    hangup: (callId, cause) => Effect.flatMap(holderOf(callId), (holder) => holder.hangup(callId, cause)),
    lookup: (callId) => Effect.flatMap(holderOf(callId), (holder) => holder.lookup(callId)),
    openMedia: (callId) => Effect.flatMap(holderOf(callId), (holder) => holder.openMedia(callId)),
    sendDtmf: (callId, digits) => Effect.flatMap(holderOf(callId), (holder) => holder.sendDtmf(callId, digits)),
    ...transferring(own, holderOf),
    adopt: (callId, endpoint) => (successor() ?? own).adopt(callId, endpoint),
    ...(own.statusOf === undefined ? {} : { statusOf: own.statusOf }),
    // The request left through the old session.
    mayAppear: (request) => own.mayAppear?.(request) ?? true
  }
}

/** Both are sessions of the same adapter, so if the old one can transfer, the new one can. */
const transferring = (
  { transfer: ownTransfer }: Trunk,
  holderOf: (callId: CallId) => Effect.Effect<CallControl>
): Pick<CallControl, "transfer"> =>
  ownTransfer === undefined
    ? {}
    : {
        transfer: (callId, request) => Effect.flatMap(holderOf(callId), ({ transfer = ownTransfer }) => transfer(callId, request))
      }
