/** Why Vobiz refuses a call. Its errors have codes, but those of calls are not documented. https://docs.vobiz.ai/errors */
import { faultWith, RATE_LIMIT_RETRY_MILLIS, type Refusals } from "#adapters/shared/PlivoDialectReplies.ts"

const unexplained = { reason: "unexplained" } as const
const misconfigured = { reason: "misconfigured" } as const

/** No other status proves anything. A path in lower case also gets a 401, and one without its slash a 404. */
export const refusals: Refusals = [
  ...[400, 422].flatMap(
    (status): Refusals => [
      { status, words: faultWith("from", "caller.?id"), is: { reason: "caller_id_refused" } },
      { status, words: faultWith("to", "destination"), is: { reason: "number_refused", cause: "invalid_number_format" } },
      { status, words: /\b(?:answer|hangup|ring|machine_detection)_url\b/, is: misconfigured },
      { status, is: unexplained }
    ]
  ),
  { status: 401, is: { reason: "auth_refused" } },
  { status: 402, is: { reason: "no_credit" } },
  { status: 403, is: unexplained },
  { status: 404, is: misconfigured },
  { status: 409, is: unexplained },
  { status: 429, is: { reason: "rate_limited", retryAfterMillis: RATE_LIMIT_RETRY_MILLIS } }
]
