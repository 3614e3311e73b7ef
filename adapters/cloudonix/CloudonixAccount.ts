/** The domain that calls are placed in, and its API key. */
import type { Account } from "#adapters/shared/HostedCarrier.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { bearer, get } from "#adapters/shared/requests.ts"
import * as Credential from "#core/provider/Credential.ts"
import { replies } from "./CloudonixReplies.ts"

export const fields = {
  bearer_token: Credential.token({ label: "Bearer Token", description: "API key of the domain or of its tenant", placeholder: "XI..." }),
  domain_id: Credential.text({
    label: "Domain Name",
    description: "The domain that calls are placed in",
    placeholder: "acme.cloudonix.net",
    // A name without a dot is one of Cloudonix' own domains.
    normal: { domain: "cloudonix.net" },
    pattern: "^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$"
  }),
  application_name: Credential.optionalText({
    label: "Application Name",
    description: "Voice application for inbound calls. Calls that are placed need none"
  }),
  from_numbers: Credential.callerIds,
  authorization_api_key: Credential.secret({
    label: "Authorization API Key",
    description: "Only if the domain sends one with its callbacks: those without it are then refused",
    required: false,
    normal: "trimmed"
  })
} as const

export type CloudonixConfig = Pick<Credential.ConfigOf<typeof fields>, "bearer_token" | "domain_id">

export const recordPath = (domain: string): string => `/customers/self/domains/${encodeURIComponent(domain)}`

export const accountOf = ({ bearer_token, domain_id }: CloudonixConfig): Account => ({
  origin: "https://api.cloudonix.io",
  authorization: bearer(bearer_token),
  replies,
  check: {
    request: get(recordPath(domain_id)),
    isShownBy: (body) => textAt(body, "uuid") !== undefined,
    refusedWith: [401, 403],
    refusalIn: (reply) => (replies.isMissing(reply) ? "Cloudonix has no domain of this name for the API key" : undefined)
  },
  advice: "Copy an API key of the domain to `bearer_token`, and the domain's name to `domain_id`."
})
