import type { CallId } from "#core/Id.ts"

/** Whether an id can be kept as `providerCallId`: it goes into lines of a journal and into URLs. */
export const isProviderCallId = (id: unknown): id is string => typeof id === "string" && /^[!-~]{1,200}$/.test(id)

/**
 * A call as the engine keeps it, on disk too: what an adapter needs to find the call at its provider. Every verb for a call that has been
 * placed gets all of it, so an adapter has to remember nothing across a restart.
 */
export interface CallRef {
  readonly callId: CallId
  /** The provider's own id of the call: from the reply to the originate, or from `Named`. Undefined until the provider has said it. */
  readonly providerCallId: string | undefined
  /** The number that was called, as in the request. Undefined for a call so old that its number was not kept. */
  readonly to: string | undefined
  /** The number that the callee is shown; undefined when there is none or it is not known any more. */
  readonly from: string | undefined
  /** When its request left, in epoch milliseconds by the engine's clock, which is not the provider's. */
  readonly sentAt: number
  /** Where its request went, as passed to `leave`; undefined if the trunk has one endpoint or that is not known. */
  readonly endpoint: string | undefined
}
