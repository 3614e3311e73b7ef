/** Tests whether calls could be placed and followed with a configuration: the API, the key, the application and the webhooks' public key. */
import { Effect } from "effect"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import type { Check, VerifyContext } from "#core/provider/Adapter.ts"
import type { Outcome } from "#adapters/shared/HttpClient.ts"
import { applicationPath, makeApi } from "./TelnyxApi.ts"
import type { TrunkSettings } from "./TelnyxTrunk.ts"
import { isApplication, isKeyRefused, isUnknown, whatIsWrong } from "./TelnyxReply.ts"

const passed = (name: string, message: string): Check => ({ name, result: "passed", message })
const failed = (name: string, message: string, advice: string): Check => ({ name, result: "failed", message, advice })

export const verify = Effect.fnUntraced(function* (settings: TrunkSettings, context: VerifyContext) {
  const { connectionId, publicKey } = settings
  const api = yield* makeApi(settings.apiKey, context)
  if (refusesUrl(context.egress, api.base)) return context.report(notReached(refusedWords))
  // Without an id this is nobody's record, and only the key is tested.
  const path = applicationPath(connectionId === "" ? "0" : connectionId)
  const outcome = yield* Effect.catch(api.get(path), (failure) => Effect.succeed<Outcome>(failure))
  const checks = [...checksOf(outcome, connectionId), keyCheckOf(publicKey !== undefined)]
  for (const check of checks) context.report(check)
})

const notReached = (detail: string): Check =>
  failed("connection", `Telnyx could not be reached: ${detail}.`, "Check that this engine can open HTTPS connections to api.telnyx.com.")

const checksOf = (outcome: Outcome, connectionId: string): ReadonlyArray<Check> => {
  if (!("status" in outcome)) return [notReached(outcome.detail)]
  const isTelnyx = isApplication(outcome) || isKeyRefused(outcome) || isUnknown(outcome)
  if (!isTelnyx) return [notReached(`the reply is not Telnyx' (${whatIsWrong(outcome)})`)]
  const connection = passed("connection", "Telnyx answers.")
  if (isKeyRefused(outcome)) {
    const advice = "Create an API v2 key under Account Settings, Keys & Credentials, and enter it as `api_key`."
    return [connection, failed("credentials", `Telnyx rejects the API key (${whatIsWrong(outcome)}).`, advice)]
  }
  return [connection, passed("credentials", "Telnyx accepts the API key."), applicationOf(isApplication(outcome), connectionId)]
}

const applicationOf = (isFound: boolean, connectionId: string): Check =>
  isFound
    ? passed("application", "The Call Control application exists.")
    : failed(
        "application",
        connectionId === "" ? "No Call Control application is configured." : "The account has no Call Control application with this id.",
        "Create one under Voice, Programmable Voice, and enter its id as `connection_id`; it needs an outbound voice profile."
      )

const keyCheckOf = (isValid: boolean): Check =>
  isValid
    ? passed("webhooks", "The public key can verify webhooks.")
    : failed(
        "webhooks",
        "There is no valid public key, so no event of a call could be believed.",
        "Copy it from Account Settings, Keys & Credentials, Public Key, to `webhook_public_key`."
      )
