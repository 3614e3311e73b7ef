/** The account: an API key, and a Call Control application that calls are placed through. */
import type { Account, HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { createdApplication } from "#adapters/shared/ownApplication.ts"
import { allOf, countedPage } from "#adapters/shared/pages.ts"
import { bearer, get } from "#adapters/shared/requests.ts"
import { fieldStep } from "#adapters/shared/setup.ts"
import * as Credential from "#core/provider/Credential.ts"
import { publicKeyOf } from "./signature.ts"
import { replies } from "./TelnyxReplies.ts"

export const fields = {
  api_key: Credential.token({ label: "API Key", description: "API v2 key", placeholder: "KEY..." }),
  connection_id: {
    ...Credential.optionalText({
      label: "Call Control App ID",
      description: "Id of the Call Control application that calls are placed through. If it is left out, the engine creates one",
      pattern: "^[A-Za-z0-9-]{0,64}$"
    }),
    normal: "token"
  },
  application_id: createdApplication("connection_id"),
  webhook_public_key: {
    ...Credential.optionalText({
      label: "Webhook Public Key",
      description: "The account's public key, with which Telnyx' webhooks are verified. Without it no call is placed",
      placeholder: "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
    }),
    type: "textarea",
    normal: "trimmed"
  },
  from_numbers: Credential.optionalList({ label: "Phone Numbers", description: "Caller IDs in E.164 format", placeholder: "+15550100" })
} as const

export type TelnyxConfig = Credential.ConfigOf<typeof fields>

export const APPLICATIONS = "/v2/call_control_applications"

/** Without an application a key can still be tested, but no call be placed. */
const checkOf = (connectionId: string) =>
  connectionId === "" ? get("/v2/phone_numbers", { "page[size]": "1" }) : get(`${APPLICATIONS}/${encodeURIComponent(connectionId)}`)

export const accountOf = ({ api_key, connection_id, webhook_public_key }: TelnyxConfig): Account => ({
  provider: "telnyx",
  displayName: "Telnyx",
  origin: "https://api.telnyx.com",
  authorization: bearer(api_key),
  replies,
  check: {
    request: checkOf(connection_id),
    isShownBy: (body) => Array.isArray(at(body, "data")) || textAt(body, "data", "record_type") === "call_control_application",
    refusedWith: [401, 403],
    refusalIn: (reply) => (replies.isMissing(reply) ? "the account has no Call Control application with this `connection_id`" : undefined)
  },
  // An application that calls are placed through, and a key, because nobody would hear of their answers without one.
  steps: [
    fieldStep(
      "application",
      "Call Control application",
      "A Call Control application is needed: enter its id as `connection_id`, or leave that empty and let the engine create one",
      connection_id !== ""
    ),
    fieldStep(
      "webhook_key",
      "Webhook public key",
      "`webhook_public_key` is needed, because webhooks are not believed without it",
      publicKeyOf(webhook_public_key) !== undefined
    )
  ],
  advice:
    "Copy an API v2 key from Telnyx' portal to `api_key`, and the id of a Call Control application of the same account to `connection_id`."
})

/** The most that Telnyx puts on a page. */
export const PAGE_SIZE = "250"

/** All entries of a list of the account. */
export const listOf = (carrier: HostedCarrier, operation: string, path: string, filter: Readonly<Record<string, string>> = {}) => {
  const next = (pages: number) => get(path, { ...filter, "page[size]": PAGE_SIZE, "page[number]": String(pages + 1) })
  const read = (body: unknown) => countedPage(at(body, "data"), numberAt(body, "meta", "total_results"))
  return allOf(carrier, operation, ({ pages }) => next(pages), read)
}
