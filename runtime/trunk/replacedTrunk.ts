/**
 * Controls the calls of a trunk that has been replaced. If the new settings use the same account at the provider, the new session sees these
 * calls and takes them over, because the old one's password or events may no longer work. Otherwise they stay with the old session, which is
 * kept until the last of them has ended.
 */
import { Effect } from "effect"
import { isAlive, type Trunk } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"

/** Everything that can be done with a placed call. */
export type CallControl = Omit<Trunk, "originate">

/** `successor` returns the trunk that has replaced this one; undefined if the configuration is gone. */
export const replacedTrunk = (own: Trunk, successor: () => CallControl | undefined): CallControl => {
  const holderOf = (call: CallRef): Effect.Effect<CallControl> =>
    Effect.suspend(() => {
      const next = successor()
      if (next === undefined) return Effect.succeed(own)
      return next.lookup(call).pipe(
        Effect.map(({ presence }) => (isAlive(presence) ? next : own)),
        Effect.catch(() => Effect.succeed(own))
      )
    })
  return {
    hangup: (call, cause) => Effect.flatMap(holderOf(call), (holder) => holder.hangup(call, cause)),
    lookup: (call) => Effect.flatMap(holderOf(call), (holder) => holder.lookup(call)),
    ...openingMedia(own, holderOf),
    ...sending(own, holderOf),
    ...transferring(own, holderOf),
    adopt: (call) => (successor() ?? own).adopt(call),
    ...(own.statusOf === undefined ? {} : { statusOf: own.statusOf }),
    // The request was sent through the old session.
    mayAppear: (request) => own.mayAppear?.(request) ?? true
  }
}

/** Both are sessions of the same adapter, so the new one can do whatever the old one can: open audio, send keys, and transfer. */
const openingMedia = (
  { openMedia: ownOpen, reopenMedia: ownReopen }: Trunk,
  holderOf: (call: CallRef) => Effect.Effect<CallControl>
): Pick<CallControl, "openMedia" | "reopenMedia"> => ({
  ...(ownOpen && { openMedia: (call) => Effect.flatMap(holderOf(call), ({ openMedia = ownOpen }) => openMedia(call)) }),
  ...(ownReopen && { reopenMedia: (call) => Effect.flatMap(holderOf(call), ({ reopenMedia = ownReopen }) => reopenMedia(call)) })
})

const sending = ({ sendDtmf: ownSend }: Trunk, holderOf: (call: CallRef) => Effect.Effect<CallControl>): Pick<CallControl, "sendDtmf"> =>
  ownSend === undefined
    ? {}
    : { sendDtmf: (call, digits) => Effect.flatMap(holderOf(call), ({ sendDtmf = ownSend }) => sendDtmf(call, digits)) }

const transferring = (
  { transfer: ownTransfer }: Trunk,
  holderOf: (call: CallRef) => Effect.Effect<CallControl>
): Pick<CallControl, "transfer"> =>
  ownTransfer === undefined
    ? {}
    : {
        transfer: (call, request) => Effect.flatMap(holderOf(call), ({ transfer = ownTransfer }) => transfer(call, request))
      }
