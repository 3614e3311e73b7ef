/** The account. Its token authenticates requests and signs callbacks. */
import type { Account } from "#adapters/shared/HostedCarrier.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { basic, get } from "#adapters/shared/requests.ts"
import * as Credential from "#core/provider/Credential.ts"
import { replies } from "./TwilioReplies.ts"

export const fields = {
  account_sid: Credential.identifier({
    label: "Account SID",
    description: "From the account's dashboard in Twilio's console",
    placeholder: "AC00000000000000000000000000000000",
    sensitive: true,
    pattern: "^AC[0-9a-fA-F]{32}$"
  }),
  auth_token: Credential.token({
    label: "Auth Token",
    description: "Authenticates requests, and signs Twilio's callbacks",
    pattern: "^[0-9a-fA-F]{32}$"
  }),
  from_numbers: Credential.callerIds,
  amd_enabled: Credential.optionalBoolean({ label: "Answering Machine Detection", description: "Twilio bills it per call" })
} as const

export type TwilioConfig = Credential.ConfigOf<typeof fields>

/** `path` is below the account's. */
export const pathIn = ({ account_sid }: Pick<TwilioConfig, "account_sid">, path: string): string =>
  `/2010-04-01/Accounts/${encodeURIComponent(account_sid)}${path}.json`

export const accountOf = (config: Pick<TwilioConfig, "account_sid" | "auth_token">): Account => {
  const isOurs = (body: unknown) => textAt(body, "sid") === config.account_sid
  const isActive = (body: unknown) => textAt(body, "status") === "active"
  return {
    origin: "https://api.twilio.com",
    authorization: basic(config.account_sid, config.auth_token),
    replies,
    check: {
      request: get(pathIn(config, "")),
      isShownBy: isOurs,
      refusedWith: [401, 403, 404],
      refusalIn: ({ body }) => (isOurs(body) && !isActive(body) ? "the account is not active" : undefined)
    },
    advice: "Copy `account_sid` and `auth_token` from the account's dashboard in Twilio's console; the account must be active."
  }
}
