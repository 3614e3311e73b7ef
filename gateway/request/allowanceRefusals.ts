/** Refusals of callers who exceed a quota or limit: rows of the table in Refusal.ts. */
import type { LastOperatorKey, OperatorNeeded, QuotaFull, QuotaNotAllowed, TooManyRequests } from "#core/organization/Quota.ts"
import type { MediaExhausted } from "#core/call/Dialer.ts"
import type { TooManyAgentTests } from "#core/agent/regression/AgentTests.ts"
import type { TooManyNumberLists } from "#core/telephony/CarrierNumbers.ts"
import type { TooManyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import type { TooManyTelephonyTests } from "#core/telephony/TelephonyTests.ts"
import type { TooManyWrongKeys } from "#core/organization/WrongKeys.ts"
import { type Violation, valueError } from "./Violation.ts"

export type AllowanceError =
  | LastOperatorKey
  | MediaExhausted
  | OperatorNeeded
  | QuotaFull
  | QuotaNotAllowed
  | TooManyAgentTests
  | TooManyNumberLists
  | TooManyPreparations
  | TooManyRequests
  | TooManyTelephonyTests
  | TooManyWrongKeys

type Row<Error, Detail> = readonly [status: number, detail: (error: Error) => Detail]

export const allowanceRefusals: {
  readonly LastOperatorKey: Row<LastOperatorKey, string>
  readonly MediaExhausted: Row<MediaExhausted, string>
  readonly OperatorNeeded: Row<OperatorNeeded, string>
  readonly QuotaFull: Row<QuotaFull, string>
  readonly QuotaNotAllowed: Row<QuotaNotAllowed, ReadonlyArray<Violation>>
  readonly TooManyAgentTests: Row<TooManyAgentTests, string>
  readonly TooManyNumberLists: Row<TooManyNumberLists, string>
  readonly TooManyPreparations: Row<TooManyPreparations, string>
  readonly TooManyRequests: Row<TooManyRequests, string>
  readonly TooManyTelephonyTests: Row<TooManyTelephonyTests, string>
  readonly TooManyWrongKeys: Row<TooManyWrongKeys, string>
} = {
  LastOperatorKey: [409, () => "This is the operator's last key. Create another one first"],
  MediaExhausted: [503, () => "The engine carries as many calls with audio as it can, try again in a few seconds"],
  OperatorNeeded: [403, () => "Only an operator's key may do this"],
  // 409, as for other full lists: the request is valid, and succeeds once there is room.
  QuotaFull: [
    409,
    ({ limit, quota, used, wanted }) =>
      `The organization's quota '${quota}' is full: ${used} of ${limit} are used, and ${wanted} more were requested`
  ],
  QuotaNotAllowed: [
    422,
    ({ allowed, asked, field }) => [valueError(["body", field], asked, `${field} must not be above ${allowed}, which the operator allows`)]
  ],
  TooManyAgentTests: [429, () => "Agents are being tested already, try again in a few seconds"],
  TooManyNumberLists: [429, () => "Too many requests for the numbers of an account"],
  TooManyPreparations: [429, () => "Too many preparations of telephony configurations"],
  TooManyRequests: [429, ({ perSecond }) => `The organization may send ${perSecond} requests per second`],
  TooManyTelephonyTests: [429, () => "Too many tests of telephony configurations"],
  TooManyWrongKeys: [429, () => "Too many unknown API keys and tokens from this address"]
}
