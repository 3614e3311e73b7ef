/** The account. Its token authenticates requests and signs callbacks. */
import type { Account } from "#adapters/shared/HostedCarrier.ts"
import { at } from "#adapters/shared/Json.ts"
import { dialectReplies } from "#adapters/shared/PlivoDialectReplies.ts"
import { basic, get } from "#adapters/shared/requests.ts"
import * as Credential from "#core/provider/Credential.ts"
import { refusals } from "./plivoCodes.ts"

export const fields = {
  auth_id: Credential.identifier({
    label: "Auth ID",
    description: "From the console's overview",
    placeholder: "MAXXXXXXXXXXXXXXXXXX",
    sensitive: true,
    pattern: "^(MA|SA)[0-9A-Za-z]{18}$"
  }),
  auth_token: Credential.token({ label: "Auth Token", description: "Authenticates requests, and signs Plivo's callbacks" }),
  application_id: Credential.optionalText({
    label: "Application ID",
    description: "Application for incoming calls; not needed for outgoing ones",
    pattern: "^[0-9]{0,20}$"
  }),
  from_numbers: Credential.callerIds
} as const

export type PlivoConfig = Pick<Credential.ConfigOf<typeof fields>, "auth_id" | "auth_token">

export const baseOf = ({ auth_id }: PlivoConfig): string => `/v1/Account/${encodeURIComponent(auth_id)}`

export const accountOf = (config: PlivoConfig): Account => ({
  origin: "https://api.plivo.com",
  authorization: basic(config.auth_id, config.auth_token),
  replies: dialectReplies(refusals, { hasOneId: false }),
  check: {
    request: get(`${baseOf(config)}/Number/?limit=1`),
    isShownBy: (body) => Array.isArray(at(body, "objects")),
    refusedWith: [401, 403, 404]
  },
  advice: "Copy `auth_id` and `auth_token` from the overview page of Plivo's console."
})
