/**
 * Rejects lookup results that belong to another call of ours. A carrier that accepts no id of ours has to search for a call whose reply was lost
 * by its numbers and time, and an earlier call to the same number, or one of another organization with the same account, matches as well. Its
 * end would be recorded as this call's, and its callee hung up on.
 */
import { Effect } from "effect"
import type { Look, Trunk, TrunkContext } from "#core/provider/Adapter.ts"

const notFound: Look = { presence: "gone", told: [] }

export const ownLooks = (trunk: Trunk, isOthers: NonNullable<TrunkContext["isOthers"]>): Trunk => ({
  ...trunk,
  lookup: Effect.fnUntraced(function* (call) {
    const look = yield* trunk.lookup(call)
    for (const event of look.told) {
      if (event._tag !== "Named" || event.providerCallId === call.providerCallId) continue
      if (!(yield* isOthers(call, event.providerCallId))) continue
      yield* Effect.logWarning("a look has found another call than the one it was for").pipe(Effect.annotateLogs({ callId: call.callId }))
      return notFound
    }
    return look
  })
})
