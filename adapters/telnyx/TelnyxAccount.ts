/**
 * The account: an API key, and a Call Control application that calls are placed through, which the engine creates for accounts that name none.
 * https://developers.telnyx.com/api-reference/call-control-applications/create-a-call-control-application
 */
import { Effect } from "effect"
import { publicKeyOf } from "#adapters/shared/ed25519.ts"
import type { Account, HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { applicationStep, createdApplication, ownApplication } from "#adapters/shared/ownApplication.ts"
import { allOf, countedPage } from "#adapters/shared/pages.ts"
import { bearer, get } from "#adapters/shared/requests.ts"
import { callbackKeyStep } from "#adapters/shared/setup.ts"
import type { PrepareContext } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { replies } from "./TelnyxReplies.ts"

export const fields = {
  api_key: Credential.token({ label: "API Key", description: "API v2 key", placeholder: "KEY..." }),
  connection_id: Credential.optionalText({
    label: "Call Control App ID",
    description: "Id of the Call Control application that calls are placed through. If it is left out, the engine creates one",
    pattern: "^[A-Za-z0-9-]{0,64}$",
    normal: "token"
  }),
  application_id: createdApplication("connection_id"),
  webhook_public_key: Credential.publicKey({
    label: "Webhook Public Key",
    description: "The account's public key, with which Telnyx' webhooks are verified. Without it no call is placed",
    placeholder: "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
    required: false
  }),
  from_numbers: Credential.callerIds
} as const

export type TelnyxConfig = Credential.ConfigOf<typeof fields>

const APPLICATIONS = "/v2/call_control_applications"

/** Without an application a key can still be tested, but no call can be placed. */
const checkOf = (connectionId: string) =>
  connectionId === "" ? get("/v2/phone_numbers", { "page[size]": "1" }) : get(`${APPLICATIONS}/${encodeURIComponent(connectionId)}`)

export const accountOf = ({ api_key, connection_id, webhook_public_key }: TelnyxConfig): Account => ({
  origin: "https://api.telnyx.com",
  authorization: bearer(api_key),
  replies,
  check: {
    request: checkOf(connection_id),
    isShownBy: (body) => Array.isArray(at(body, "data")) || textAt(body, "data", "record_type") === "call_control_application",
    refusedWith: [401, 403],
    refusalIn: (reply) => (replies.isMissing(reply) ? "the account has no Call Control application with this `connection_id`" : undefined)
  },
  // Calls are placed through an application, and without the public key their callbacks would not be believed.
  steps: [
    applicationStep("connection_id", connection_id !== ""),
    callbackKeyStep("webhook_public_key", "Webhook public key", publicKeyOf(webhook_public_key) !== undefined)
  ],
  advice:
    "Copy an API v2 key from Telnyx' portal to `api_key`, and the id of a Call Control application of the same account to `connection_id`."
})

/** The most that Telnyx puts on a page. */
export const PAGE_SIZE = 250

/** All entries of a list of the account. */
export const listOf = (carrier: HostedCarrier, operation: string, path: string, filter: Readonly<Record<string, string>> = {}) => {
  const read = (body: unknown) => countedPage(at(body, "data"), numberAt(body, "meta", "total_results"))
  return allOf(carrier, operation, ({ pages }) => get(path, { ...filter, "page[size]": PAGE_SIZE, "page[number]": pages + 1 }), read)
}

export const prepare = (carrier: HostedCarrier, config: TelnyxConfig, context: PrepareContext) =>
  ownApplication(carrier, context, config, {
    field: "application_id",
    path: APPLICATIONS,
    shownIn: (body) => at(body, "data"),
    list: (name) => listOf(carrier, "prepare", APPLICATIONS, { "filter[application_name][contains]": name }),
    nameMember: "application_name",
    members: (webhook_event_url) =>
      Effect.map(outboundProfile(carrier), (outbound_voice_profile_id) => ({
        webhook_event_url,
        webhook_api_version: "2",
        outbound: { outbound_voice_profile_id }
      }))
  })

/** If there is a choice, a person must decide whose limits and prices apply to calls. */
const outboundProfile = Effect.fnUntraced(function* (carrier: HostedCarrier) {
  const profiles = (yield* listOf(carrier, "prepare", "/v2/outbound_voice_profiles")).filter((one) => at(one, "enabled") !== false)
  const id = textAt(profiles[0], "id")
  if (id !== undefined && profiles.length === 1) return id
  const words = `the account has ${profiles.length === 0 ? "no outbound voice profile" : "several outbound voice profiles"}`
  return yield* carrier.error("prepare", `${words}: create the application in the portal, and enter its id as connection_id`)
})
