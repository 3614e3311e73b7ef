import type { CallId } from "#core/Id.ts"
import type { CallRef } from "#core/provider/CallRef.ts"

/** A reference to a call of which only the engine's own id matters. */
export const refTo = (callId: CallId, more: Partial<CallRef> = {}): CallRef => ({
  callId,
  endpoint: undefined,
  from: undefined,
  providerCallId: undefined,
  sentAt: 0,
  to: undefined,
  ...more
})
