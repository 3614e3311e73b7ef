/** The part of an attempt's row that identifies its call to the provider. */
import type { CallId } from "#core/Id.ts"
import type { CallRef } from "#core/provider/CallRef.ts"

export interface CallRefRow {
  readonly callId: CallId
  readonly providerCallId: string | null
  readonly phoneNumber: string | null
  readonly callerNumber: string | null
  readonly sentAt: number | null
  readonly endpoint: string | null
}

/** The columns of a `CallRefRow`, for a query that aliases `attempts` as `a`. */
export const callRefColumnsSql = `a.id AS call_id, a.provider_call_id, a.phone_number, a.caller_number, a.endpoint,
  extract(epoch FROM a.sent_at)::float8 * 1000 AS sent_at`

export const callRefOf = ({ callerNumber, callId, endpoint, phoneNumber, providerCallId, sentAt }: CallRefRow): CallRef => ({
  callId,
  providerCallId: providerCallId ?? undefined,
  to: phoneNumber ?? undefined,
  from: callerNumber ?? undefined,
  sentAt: sentAt ?? 0,
  endpoint: endpoint ?? undefined
})
