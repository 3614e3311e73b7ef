/** The account. Its token authenticates requests and signs callbacks. */
import type { Account } from "#adapters/shared/HostedCarrier.ts"
import { at } from "#adapters/shared/Json.ts"
import { dialectReplies } from "#adapters/shared/PlivoDialectReplies.ts"
import { get } from "#adapters/shared/requests.ts"
import * as Credential from "#core/provider/Credential.ts"
import { refusals } from "./vobizCodes.ts"

export const fields = {
  auth_id: Credential.identifier({
    label: "Account ID",
    description: "From Vobiz' console",
    placeholder: "MA_XXXXXXXX",
    sensitive: true,
    pattern: "^(MA|SA)_[0-9A-Za-z]{1,64}$"
  }),
  auth_token: Credential.token({
    label: "Auth Token",
    description: "Authenticates requests, and signs Vobiz' callbacks",
    pattern: "^[!-~]{1,200}$"
  }),
  application_id: Credential.optionalText({
    label: "Application ID",
    description: "Application for incoming calls; not needed for outgoing ones",
    pattern: "^[0-9A-Za-z-]{0,64}$"
  }),
  from_numbers: Credential.callerIds
} as const

export type VobizConfig = Pick<Credential.ConfigOf<typeof fields>, "auth_id" | "auth_token">

/** Paths are case-sensitive, and trailing slashes matter. */
export const baseOf = ({ auth_id }: VobizConfig): string => `/api/v1/Account/${encodeURIComponent(auth_id)}`

export const accountOf = (config: VobizConfig): Account => ({
  origin: "https://api.vobiz.ai",
  headers: { "x-auth-id": config.auth_id, "x-auth-token": config.auth_token },
  replies: dialectReplies(refusals, { hasOneId: true }),
  check: {
    request: get(`${baseOf(config)}/Call?status=live`),
    isShownBy: (body) => Array.isArray(at(body, "calls")),
    refusedWith: [401, 403, 404]
  },
  advice: "Copy `auth_id` and `auth_token` from Vobiz' console."
})
