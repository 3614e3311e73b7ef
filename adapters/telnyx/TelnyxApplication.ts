/**
 * The Call Control application that calls are placed through, for accounts that name none.
 * https://developers.telnyx.com/api-reference/call-control-applications/create-a-call-control-application
 */
import { Effect } from "effect"
import { type HostedCarrier, openCarrier } from "#adapters/shared/HostedCarrier.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { ownApplication } from "#adapters/shared/ownApplication.ts"
import type { PrepareContext } from "#core/provider/Adapter.ts"
import { accountOf, APPLICATIONS, listOf, type TelnyxConfig } from "./TelnyxAccount.ts"

export const prepare = Effect.fn("telnyx.prepare")(function* (config: TelnyxConfig, context: PrepareContext) {
  const carrier = yield* openCarrier(accountOf(config), context)
  const application_id = yield* ownApplication(carrier, context, config.application_id, {
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
  return { application_id }
})

/** Whose limits and prices calls get is for a person to decide where there is a choice. */
const outboundProfile = Effect.fnUntraced(function* (carrier: HostedCarrier) {
  const profiles = (yield* listOf(carrier, "prepare", "/v2/outbound_voice_profiles")).filter((one) => at(one, "enabled") !== false)
  const id = textAt(profiles[0], "id")
  if (id !== undefined && profiles.length === 1) return id
  const words = `the account has ${profiles.length === 0 ? "no outbound voice profile" : "several outbound voice profiles"}`
  return yield* carrier.error("prepare", `${words}: create the application in the portal, and enter its id as connection_id`)
})
