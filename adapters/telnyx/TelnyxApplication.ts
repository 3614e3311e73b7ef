/**
 * The Call Control application that calls are placed through, for accounts that name none: found by its name, or created.
 * https://developers.telnyx.com/api-reference/call-control-applications/create-a-call-control-application
 */
import { Effect } from "effect"
import { type HostedCarrier, openCarrier } from "#adapters/shared/HostedCarrier.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { isSuccess } from "#adapters/shared/originated.ts"
import { allOf } from "#adapters/shared/pages.ts"
import type { PrepareContext } from "#core/provider/Adapter.ts"
import { accountOf, get, post, type TelnyxConfig } from "./TelnyxTrunk.ts"
import { isUnknown, listedIn, whatIsWrong } from "./TelnyxReply.ts"

const APPLICATIONS = "/call_control_applications"
const PAGE_SIZE = "250"

type Carrier = Pick<HostedCarrier, "ask" | "error">

const all = (carrier: Carrier, path: string, filter: Readonly<Record<string, string>> = {}) => {
  const next = (_: number, pages: number) => get(path, { ...filter, "page[size]": PAGE_SIZE, "page[number]": String(pages + 1) })
  return allOf(carrier, "prepare", { describe: whatIsWrong, next, read: listedIn })
}

/** Whether the account still has what was created once. */
const hasApplication = Effect.fnUntraced(function* (carrier: Carrier, id: string) {
  const reply = yield* carrier.ask("prepare", get(`${APPLICATIONS}/${encodeURIComponent(id)}`))
  if (isSuccess(reply) && textAt(reply.body, "data", "id") === id) return true
  return isUnknown(reply) ? false : yield* carrier.error("prepare", whatIsWrong(reply))
})

/** Whose limits and prices calls get is for a person to decide where there is a choice. */
const outboundProfile = Effect.fnUntraced(function* (carrier: Carrier) {
  const profiles = (yield* all(carrier, "/outbound_voice_profiles")).filter((one) => at(one, "enabled") !== false)
  const id = textAt(profiles[0], "id")
  if (id !== undefined && profiles.length === 1) return id
  const words = profiles.length === 0 ? "no outbound voice profile" : "several outbound voice profiles"
  return yield* carrier.error(
    "prepare",
    `the account has ${words}: create the application in the portal, and enter its id as connection_id`
  )
})

const create = Effect.fnUntraced(function* (carrier: Carrier, name: string, webhookUrl: string) {
  const application = {
    application_name: name,
    webhook_event_url: webhookUrl,
    webhook_api_version: "2",
    outbound: { outbound_voice_profile_id: yield* outboundProfile(carrier) }
  }
  const reply = yield* carrier.ask("prepare", post(APPLICATIONS, application))
  const id = textAt(reply.body, "data", "id")
  return isSuccess(reply) && id !== undefined ? id : yield* carrier.error("prepare", whatIsWrong(reply))
})

export const prepare = Effect.fn("telnyx.prepare")(function* (
  config: TelnyxConfig & { readonly application_id: string },
  { apiOrigin, callbackUrl, egress, name }: PrepareContext
) {
  const carrier = yield* openCarrier(accountOf(config), { apiOrigin, egress })
  if (callbackUrl === undefined) return yield* carrier.error("prepare", "there is no address for its webhooks: set PUBLIC_URL")
  const { application_id } = config
  if (application_id !== "" && (yield* hasApplication(carrier, application_id))) return { application_id }
  const named = (yield* all(carrier, APPLICATIONS, { "filter[application_name][contains]": name })).find(
    (one) => at(one, "application_name") === name
  )
  return { application_id: textAt(named, "id") ?? (yield* create(carrier, name, callbackUrl("event"))) }
})
