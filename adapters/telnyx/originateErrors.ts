/**
 * Telnyx' errors that prove that a dial placed no call, by HTTP status and code. Everything else proves nothing. 10007 ("Unexpected error") and
 * 10008 ("Request timeout") are left out: they do not say how far the request came.
 * https://developers.telnyx.com/development/api-fundamentals/api-errors
 */
import type { OriginateRefused } from "#core/provider/Adapter.ts"

interface Meaning {
  readonly reason: OriginateRefused["reason"]
  /** For the operator. Telnyx' own text is not shown, because it may quote a number. */
  readonly words: string
}

const invalidRequest: Meaning = { reason: "misconfigured", words: "Telnyx found the request invalid" }

export const originateErrors: Readonly<Record<string, Meaning>> = {
  "400 10004": invalidRequest,
  "400 10015": invalidRequest,
  "401 10009": { reason: "auth_refused", words: "Telnyx rejects the API key" },
  "403 10010": { reason: "misconfigured", words: "the account may not place this call: check the outbound voice profile" },
  "403 D1": { reason: "rate_limited", words: "the account has no free channel" },
  "404 10005": { reason: "misconfigured", words: "the account has no Call Control application with this connection_id" },
  "422 10002": { reason: "number_refused", words: "not a valid phone number" },
  "422 10004": invalidRequest,
  "422 10015": invalidRequest,
  "422 10016": { reason: "number_refused", words: "not a phone number in E.164 format" },
  "429 10011": { reason: "rate_limited", words: "too many requests" },
  "429 90103": { reason: "rate_limited", words: "too many dials per second" }
}
