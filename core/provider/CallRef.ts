import type { CallId } from "#core/Id.ts"

/** Whether an id can be used as `providerCallId`, which is written to journal lines and URLs. */
export const isProviderCallId = (id: unknown): id is string => typeof id === "string" && /^[!-~]{1,200}$/.test(id)

/**
 * A call as the engine remembers it, also on disk: what an adapter needs to find the call at its provider. Every operation on a placed call
 * gets all of it, so an adapter has to remember nothing across a restart.
 */
export interface CallRef {
  readonly callId: CallId
  /** The provider's own id of the call, from the reply to the originate or from `Named`. Undefined until the provider has reported it. */
  readonly providerCallId: string | undefined
  /** The number that was called, as in the request. Undefined for an old call whose number was not stored. */
  readonly to: string | undefined
  /** The caller ID. Undefined if there is none, or if it is no longer known. */
  readonly from: string | undefined
  /** When the request left, in epoch milliseconds by the engine's clock, which differs from the provider's. */
  readonly sentAt: number
  /** Where its request went, as passed to `leave`; undefined if the trunk has one endpoint or that is not known. */
  readonly endpoint: string | undefined
}
