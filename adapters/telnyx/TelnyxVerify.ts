/** Tests whether calls could be placed and followed with a configuration: the API, its key, the application and the webhooks' public key. */
import { Effect } from "effect"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import type { VerifyContext } from "#core/provider/Adapter.ts"
import { makeApi, pathOf } from "./TelnyxApi.ts"
import { isUnknown, statusOf } from "./TelnyxReply.ts"
import type { TrunkSettings } from "./TelnyxTrunk.ts"

export const verify = Effect.fnUntraced(function* (settings: TrunkSettings, { apiOrigin, egress, report }: VerifyContext) {
  const { apiKey, connectionId, publicKey } = settings
  const passed = (name: string, message: string) => report({ name, result: "passed", message })
  const failed = (name: string, message: string, advice: string) => report({ name, result: "failed", message, advice })
  const api = yield* makeApi(apiKey, { apiOrigin, egress })
  const advice = "Check that this engine can open HTTPS connections to api.telnyx.com."
  if (refusesUrl(egress, api.base)) return failed("connection", `${refusedWords}.`, advice)
  // Without an id this is nobody's record, and only the key is tested.
  const outcome = yield* api.get(pathOf("call_control_applications", connectionId === "" ? "0" : connectionId))
  const status = statusOf(outcome)
  const isMissing = "status" in outcome && isUnknown(outcome)
  if (status?._tag === "Down" && status.reason === "unreachable" && !isMissing)
    return failed("connection", `Telnyx could not be reached: ${status.detail}.`, advice)
  passed("connection", "Telnyx answers.")
  if (status?._tag === "Down" && status.reason === "auth")
    return failed("credentials", `${status.detail}.`, "Create an API v2 key in the portal, and enter it as `api_key`.")
  passed("credentials", "Telnyx accepts the API key.")
  if (isMissing) failed("application", "There is no such Call Control application.", "Enter the id of one as `connection_id`.")
  if (publicKey === undefined)
    failed("webhooks", "Without the public key no webhook can be believed.", "Copy it from the portal to `webhook_public_key`.")
})
