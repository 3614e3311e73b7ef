/** Calls that another process wrote off but that may still appear: they keep their slots here, and are hung up if they do. */
import { Effect } from "effect"
import type { AttemptInDoubt } from "#core/call/LateCallStore.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { ageOf, scopesOf, withKnown } from "./settling.ts"

export const doubtKeeper = Effect.gen(function* () {
  const local = yield* LocalJournal
  const supervisor = yield* CallSupervisor
  const slots = yield* Slots
  const pool = yield* TrunkPool
  return Effect.fnUntraced(function* (doubts: ReadonlyArray<AttemptInDoubt>) {
    const now = yield* SteadyTime.now
    for (const attempt of doubts) {
      const trunk = yield* pool.get(attempt.telephonyConfigurationId)
      if (trunk === undefined) continue
      const { call, campaignId } = attempt
      const known = local.known(call.callId, undefined)
      slots.adopt(call.callId, scopesOf(campaignId, attempt))
      const ageMillis = ageOf(known) ?? Math.max(attempt.ageMillis, 0)
      supervisor.doubt({ campaignId, ref: withKnown(call, known), sentAt: now - ageMillis, trunk })
    }
  })
})
