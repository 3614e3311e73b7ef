/**
 * The account: an application with its private key places calls, while the account's key and secret give access to its numbers and to what the
 * application is set to.
 */
import { Effect } from "effect"
import { type Account, type HostedCarrier, openCarrier } from "#adapters/shared/HostedCarrier.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { newRsaKey, publicKeyOf, rsaKeyOf, tokenOf } from "#adapters/shared/jwt.ts"
import { createdApplication, createdKey, ownApplication } from "#adapters/shared/ownApplication.ts"
import { allOf } from "#adapters/shared/pages.ts"
import { isErrorOf, isSuccess } from "#adapters/shared/replies.ts"
import { basic, bearer, get } from "#adapters/shared/requests.ts"
import { callbackKeyStep, fieldStep } from "#adapters/shared/setup.ts"
import type { PrepareContext, VerifyContext } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { applicationChecks } from "./vonageCodes.ts"
import { applicationsIn, replies } from "./VonageReplies.ts"

export const fields = {
  application_id: Credential.identifier({
    label: "Application ID",
    description:
      "Id of the application that calls are placed through; it needs the voice capability. If it and its key are left out, the engine creates one",
    placeholder: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
    required: false
  }),
  private_key: Credential.privateKey({
    label: "Private Key",
    description: "The application's private key, as its file was downloaded",
    placeholder: "-----BEGIN PRIVATE KEY-----",
    required: false
  }),
  created_application_id: createdApplication("application_id"),
  created_private_key: createdKey("private_key"),
  api_key: Credential.identifier({ label: "API Key", description: "The account's key", placeholder: "a1b2c3d4", sensitive: true }),
  api_secret: Credential.secret({ label: "API Secret", description: "The account's secret", normal: "trimmed" }),
  signature_secret: Credential.secret({
    label: "Signature Secret",
    description: "The account's signature secret, with which webhooks are verified. Without it no call is placed",
    normal: "trimmed",
    required: false
  }),
  from_numbers: Credential.callerIds
} as const

export type VonageConfig = Credential.ConfigOf<typeof fields>

const APPLICATIONS = "/v2/applications"

export const accountOf = (config: VonageConfig): Account => {
  const { application_id, private_key, signature_secret } = config
  const privateKey = rsaKeyOf(private_key)
  return {
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
      callbackKeyStep("signature_secret", "Signature secret", signature_secret !== "")
    ],
    advice: "Generate a key pair for the application in Vonage's dashboard, and copy the private key and `application_id` from there."
  }
}

/** The account for the APIs that take its key and secret instead of a token. */
export const withSecret = ({ account }: HostedCarrier, { api_key, api_secret }: VonageConfig) => ({
  ...account,
  authorization: basic(api_key, api_secret)
})

/** Runs once the application's key is tested: tests the account's key and the application's settings. */
export const verify = Effect.fnUntraced(function* (carrier: HostedCarrier, config: VonageConfig, context: VerifyContext) {
  const applications = yield* openCarrier(withSecret(carrier, config), context)
  const reply = yield* applications.outcomeOf(get(`${APPLICATIONS}/${encodeURIComponent(config.application_id)}`))
  if (!("status" in reply)) return
  const isSigned = at(reply.body, "capabilities", "voice", "signed_callbacks") !== false
  if (isErrorOf(replies, reply, 401, 403)) context.report(applicationChecks.refused)
  else if (replies.isMissing(reply)) context.report(applicationChecks.unknown)
  else if (isSuccess(reply) && textAt(reply.body, "id") === config.application_id)
    context.report(isSigned ? applicationChecks.found : applicationChecks.unsigned)
})

/**
 * Creates the application that calls are placed through, for accounts that name none. Its key pair is ours and is stored before Vonage gets it,
 * so that an application is not lost if its creation was not recorded. https://developer.vonage.com/en/api/application.v2
 */
export const prepare = Effect.fnUntraced(function* (opened: HostedCarrier, config: VonageConfig, context: PrepareContext) {
  const { application_id, created_application_id, created_private_key, private_key } = config
  const carrier = yield* openCarrier(withSecret(opened, config), context)
  if (application_id !== created_application_id || private_key !== created_private_key)
    return yield* carrier.error("prepare", "an application and its key belong together: enter both, or none")
  if (created_private_key === "" && context.callbackUrl !== undefined) return { created_private_key: yield* newRsaKey }
  return yield* ownApplication(carrier, context, config, {
    field: "created_application_id",
    path: APPLICATIONS,
    shownIn: (body) => body,
    list: () => allOf(carrier, "prepare", ({ pages }) => get(APPLICATIONS, { page_size: 100, page: pages + 1 }), applicationsIn),
    nameMember: "name",
    foreign: (one) =>
      textAt(one, "keys", "public_key")?.trim() === publicKeyOf(created_private_key)
        ? undefined
        : `the application '${context.name}' exists with another key: delete it, or enter its id and its key`,
    members: (address) => Effect.succeed(membersOf(address, publicKeyOf(created_private_key)))
  })
})

const membersOf = (address: string, public_key: string) => {
  const webhook = { address, http_method: "POST" }
  const voice = { webhooks: { answer_url: webhook, event_url: webhook }, signed_callbacks: true }
  return { keys: { public_key }, capabilities: { voice } }
}
