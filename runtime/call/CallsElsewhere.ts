/**
 * Calls of other engines: of those that are leaving, which were asked to stop and stay until these calls are over, and of call nodes. The calls
 * hold their slots here, and carrier events about them are forwarded.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { giveUp, type OtherEngine, otherEngines } from "#runtime/postgres/OtherEngineStore.ts"
import { isGone } from "#runtime/process/ProcessName.ts"

export type TellElsewhere = (callId: CallId, configurationId: TelephonyConfigId, event: TrunkEvent) => boolean

interface CallElsewhere {
  readonly callId: CallId
  readonly journal: string
  /** Undefined for a single call. */
  readonly campaignId: CampaignId | undefined
}

export class CallsElsewhere extends Context.Service<
  CallsElsewhere,
  {
    /** Those of the engines that were there when this one began to dial, and of the call nodes that came later, that are not gone. */
    readonly engines: () => ReadonlyArray<OtherEngine>
    readonly meet: (engine: OtherEngine) => void
    /** The engine is gone. */
    readonly part: (journal: string) => void
    readonly add: (call: CallElsewhere) => void
    readonly has: (callId: string) => boolean
    /** How many calls the engine has. */
    readonly countOn: (journal: string) => number
    /** Tells the call's engine what a carrier has said about it. False if this engine does not follow the call there. */
    readonly tell: TellElsewhere
    readonly onTell: (tell: TellElsewhere) => void
    /** The address of the engine that has the call, as `host:port`. */
    readonly addressOf: (callId: string) => string | undefined
    readonly all: () => ReadonlyArray<CallElsewhere>
    /** The process that was to send the call has died, and its journal proves that the request never left. */
    readonly neverLeft: (callId: CallId) => void
    readonly hasNeverLeft: (callId: CallId) => boolean
    readonly onNeverLeft: (tell: (callId: CallId) => void) => void
    /** The call is over, or this engine follows it now. */
    readonly remove: (callId: CallId) => void
  }
>()("runtime/call/CallsElsewhere") {
  /** Knows no other engine yet. */
  static readonly layer = Layer.sync(CallsElsewhere, () => make())
  /** To be run with the lock, before anything is dialed. */
  static readonly meetAll = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { meet } = yield* CallsElsewhere
    for (const row of yield* Effect.orDie(otherEngines(sql))) {
      if (!isGone(row.process) || !(yield* Effect.orDie(giveUp(sql, row)))) meet(row)
    }
  })
}

const make = (): CallsElsewhere["Service"] => {
  const engines = new Map<string, OtherEngine>()
  const calls = new Map<string, CallElsewhere>()
  const counts = new Map<string, number>()
  const unsent = new Set<CallId>()
  let tell: TellElsewhere = () => false
  let tellUnsent: (callId: CallId) => void = () => {}
  const count = (journal: string, more: number) => counts.set(journal, (counts.get(journal) ?? 0) + more)
  return {
    engines: () => [...engines.values()],
    meet: (engine) => void engines.set(engine.journal, engine),
    part: (journal) => void engines.delete(journal),
    add: (call) => {
      if (calls.has(call.callId)) return
      calls.set(call.callId, call)
      count(call.journal, 1)
    },
    has: (callId) => calls.has(callId),
    countOn: (journal) => counts.get(journal) ?? 0,
    tell: (callId, configurationId, event) => calls.has(callId) && tell(callId, configurationId, event),
    onTell: (by) => {
      tell = by
    },
    addressOf: (callId) => engines.get(calls.get(callId)?.journal ?? "")?.address,
    all: () => [...calls.values()],
    hasNeverLeft: (callId) => unsent.has(callId),
    neverLeft: (callId) => {
      unsent.add(callId)
      tellUnsent(callId)
    },
    onNeverLeft: (by) => {
      tellUnsent = by
    },
    remove: (callId) => {
      const call = calls.get(callId)
      if (call !== undefined && calls.delete(callId)) count(call.journal, -1)
    }
  }
}
