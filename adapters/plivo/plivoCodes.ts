/**
 * Why Plivo refuses a call. Its errors have no codes, so their words decide; see `Unexplained.ts` for words that are unknown.
 * https://www.plivo.com/docs/voice/api/overview
 */
import { faultWith, RATE_LIMIT_RETRY_MILLIS, type Refusals } from "#adapters/shared/PlivoDialectReplies.ts"

const unexplained = { reason: "unexplained" } as const
const misconfigured = { reason: "misconfigured" } as const
const rateLimited = { reason: "rate_limited", retryAfterMillis: RATE_LIMIT_RETRY_MILLIS } as const

/** No other status proves anything: a 500 may come after the call was placed. */
export const refusals: Refusals = [
  { status: 400, words: faultWith("from", "src|caller.?id"), is: { reason: "caller_id_refused" } },
  { status: 400, words: faultWith("to", "dst|destination"), is: { reason: "number_refused", cause: "invalid_number_format" } },
  { status: 400, words: /\b(?:answer|hangup|ring|machine_detection)_url\b/, is: misconfigured },
  { status: 400, is: unexplained },
  { status: 401, is: { reason: "auth_refused" } },
  { status: 402, is: { reason: "no_credit" } },
  { status: 403, words: /concurren|simultaneous|limit|\bcps\b/i, is: rateLimited },
  { status: 403, words: /\bgeo\b|country|region|prefix|destination|barred/i, is: { reason: "number_refused", cause: "facility_rejected" } },
  { status: 403, is: unexplained },
  { status: 404, is: misconfigured },
  { status: 405, is: misconfigured },
  { status: 422, is: unexplained },
  { status: 429, is: rateLimited }
]
