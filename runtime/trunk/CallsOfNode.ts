/** What a node's trunks know about its calls. */
import type { Effect } from "effect"
import type { TelephonyConfigId } from "#core/Id.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { CallControl } from "./replacedTrunk.ts"

/** Where an event came from. */
export interface EventSource {
  readonly configurationId: TelephonyConfigId
  /** The session that reported it, or the call control of a replaced session. Undefined while the session is being opened. */
  readonly trunk: () => CallControl | undefined
}

/** The session that placed a call, or would place it. */
interface TrunkOfCall {
  readonly configurationId: TelephonyConfigId
  /** The account at the provider, which trunks of several organizations may share. */
  readonly rateKey: string
}

export interface CallOfNode {
  readonly ref: CallRef
  readonly trunk: TrunkOfCall
  /** Defined until its request has been sent. */
  readonly dialing?: object | undefined
}

/** The calls of this node, and the receiver of their events. */
export interface CallsOfNode {
  /** Receives every event of every trunk. */
  readonly onEvent: (callId: string, event: TrunkEvent, source: EventSource) => void
  readonly live: () => Iterable<CallOfNode>
  /** Whether this provider id, found for this call through that trunk, belongs to another call of ours, or may do so. */
  readonly isOthers: (call: CallRef, trunk: TrunkOfCall, providerCallId: string) => Effect.Effect<boolean>
}
