/**
 * The account: an application with its private key places calls, while the account's key and secret give access to its numbers and to what the
 * application is set to.
 */
import { Effect } from "effect"
import { type Account, openCarrier, verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { rsaKeyOf, tokenOf } from "#adapters/shared/jwt.ts"
import { createdApplication } from "#adapters/shared/ownApplication.ts"
import { isErrorOf, isSuccess } from "#adapters/shared/replies.ts"
import { basic, bearer, get } from "#adapters/shared/requests.ts"
import { fieldStep } from "#adapters/shared/setup.ts"
import type { VerifyContext } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { applicationChecks } from "./vonageCodes.ts"
import { replies } from "./VonageReplies.ts"

export const fields = {
  application_id: {
    ...Credential.identifier({
      label: "Application ID",
      description:
        "Id of the application that calls are placed through; it needs the voice capability. If it and its key are left out, the engine creates one",
      placeholder: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab"
    }),
    required: false
  },
  private_key: {
    ...Credential.secret({
      label: "Private Key",
      description: "The application's private key, as its file was downloaded",
      placeholder: "-----BEGIN PRIVATE KEY-----"
    }),
    required: false,
    type: "textarea",
    normal: "pem"
  },
  created_application_id: createdApplication("application_id"),
  created_private_key: {
    ...Credential.managed("private_key", {
      label: "Created Key",
      description: "Private key of the application that the engine has created"
    }),
    sensitive: true,
    normal: "pem"
  },
  api_key: { ...Credential.identifier({ label: "API Key", description: "The account's key", placeholder: "a1b2c3d4" }), sensitive: true },
  api_secret: { ...Credential.secret({ label: "API Secret", description: "The account's secret" }), normal: "trimmed" },
  signature_secret: {
    ...Credential.secret({
      label: "Signature Secret",
      description: "The account's signature secret, with which webhooks are verified. Without it no call is placed"
    }),
    required: false,
    normal: "trimmed"
  },
  from_numbers: Credential.optionalList({ label: "Phone Numbers", description: "Caller IDs in E.164 format", placeholder: "+15550100" })
} as const

export type VonageConfig = Credential.ConfigOf<typeof fields>

export const APPLICATIONS = "/v2/applications"

export const accountOf = (config: VonageConfig): Account => {
  const { application_id, private_key, signature_secret } = config
  const privateKey = rsaKeyOf(private_key)
  return {
    provider: "vonage",
    displayName: "Vonage",
    origin: "https://api.nexmo.com",
    // https://developer.vonage.com/en/getting-started/concepts/authentication#json-web-tokens
    authorization: (now) => (privateKey === undefined ? "" : bearer(tokenOf({ application_id }, privateKey, now))),
    replies,
    check: {
      request: get("/v1/calls?page_size=1"),
      isShownBy: (body) => Array.isArray(at(body, "_embedded", "calls")),
      refusedWith: [401, 403]
    },
    steps: [
      fieldStep("private_key", "Private key", "`private_key` is not an RSA private key in PEM", privateKey !== undefined),
      fieldStep(
        "signature_secret",
        "Signature secret",
        "`signature_secret` is needed, because webhooks are not believed without it",
        signature_secret !== ""
      )
    ],
    advice: "Generate a key pair for the application in Vonage's dashboard, and copy the private key and `application_id` from there."
  }
}

/** For the interfaces that take the account's key and secret instead of a token. */
export const secretAccountOf = (config: VonageConfig): Account => ({
  ...accountOf(config),
  authorization: basic(config.api_key, config.api_secret)
})

/** Tests the application's key, then the account's, then what the application is set to. */
export const verify = Effect.fnUntraced(function* (config: VonageConfig, context: VerifyContext) {
  yield* verifyAccount(accountOf(config), context)
  const carrier = yield* openCarrier(secretAccountOf(config), context)
  const reply = yield* carrier.outcomeOf(get(`${APPLICATIONS}/${encodeURIComponent(config.application_id)}`))
  if (!("status" in reply)) return
  const isSigned = at(reply.body, "capabilities", "voice", "signed_callbacks") !== false
  if (isErrorOf(replies, reply, 401, 403)) context.report(applicationChecks.refused)
  else if (replies.isMissing(reply)) context.report(applicationChecks.unknown)
  else if (isSuccess(reply) && textAt(reply.body, "id") === config.application_id)
    context.report(isSigned ? applicationChecks.found : applicationChecks.unsigned)
})
