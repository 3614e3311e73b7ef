/**
 * The account: an application with its private key places calls, while the account's key and secret give access to its numbers and to what the
 * application is set to.
 */
import { Effect } from "effect"
import { asOutcome, openCarrier, verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import type { HttpRequest, Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { isSuccess } from "#adapters/shared/originated.ts"
import { allOf } from "#adapters/shared/pages.ts"
import { fieldStep } from "#adapters/shared/setup.ts"
import type { TrunkContext, VerifyContext } from "#core/provider/Adapter.ts"
import { blockedBy, type SetupStep } from "#core/provider/Setup.ts"
import { privateKeyOf, tokenOf } from "./token.ts"
import { applicationChecks } from "./vonageCodes.ts"
import { detailOf, isAuthRefused, isNotFound, standingOf } from "./VonageReplies.ts"

export interface VonageConfig {
  readonly application_id: string
  readonly private_key: string
  readonly api_key: string
  readonly api_secret: string
  readonly signature_secret: string
}

export const API = "https://api.nexmo.com"
const NUMBERS_API = "https://rest.nexmo.com"

export const get = (path: string): HttpRequest => ({ method: "GET", path })

/** What a call needs: a key that signs its request, and a secret, because nobody would hear of its answer without one. */
export const fieldSteps = ({ private_key, signature_secret }: VonageConfig): ReadonlyArray<SetupStep> => [
  fieldStep("private_key", "Private key", "`private_key` is not an RSA private key in PEM", privateKeyOf(private_key) !== undefined),
  fieldStep(
    "signature_secret",
    "Signature secret",
    "`signature_secret` is needed, because webhooks are not believed without it",
    signature_secret !== ""
  )
]

export const accountOf = (config: VonageConfig) => {
  const privateKey = privateKeyOf(config.private_key)
  return {
    provider: "vonage",
    displayName: "Vonage",
    origin: API,
    authorization: (now: number) => (privateKey === undefined ? "" : `Bearer ${tokenOf(config.application_id, privateKey, now)}`),
    check: { request: get("/v1/calls?page_size=1"), statusOf: (outcome: Outcome) => standingOf(outcome) },
    lack: blockedBy(fieldSteps(config)),
    advice: "Generate a key pair for the application in Vonage's dashboard, and copy the private key and `application_id` from there."
  }
}

/** The interfaces that take the account's key and secret instead of a token. */
export const secretAccountOf = (config: VonageConfig, origin: string) => ({
  ...accountOf(config),
  origin,
  authorization: `Basic ${Buffer.from(`${config.api_key}:${config.api_secret}`).toString("base64")}`
})

const numbersIn = (reply: Reply) => {
  const [count, entries] = [numberAt(reply.body, "count"), at(reply.body, "numbers")]
  return isSuccess(reply) && count !== undefined && Array.isArray(entries) ? { count, entries } : undefined
}

/** Lists the numbers that can call. */
export const openNumbers = Effect.fnUntraced(function* (config: VonageConfig, context: TrunkContext) {
  const carrier = yield* openCarrier(secretAccountOf(config, NUMBERS_API), context)
  const next = (_: number, pages: number) => get(`/account/numbers?size=100&index=${pages + 1}`)
  return Effect.map(allOf(carrier, "numbers", { describe: detailOf, next, read: numbersIn }), (entries) => entries.flatMap(numberIn))
})

const numberIn = (entry: unknown): ReadonlyArray<string> => {
  const [features, msisdn] = [at(entry, "features"), textAt(entry, "msisdn") ?? ""]
  return Array.isArray(features) && features.includes("VOICE") && /^[1-9]\d{6,14}$/.test(msisdn) ? [`+${msisdn}`] : []
}

/** Tests the application's key, then the account's, then what the application is set to. */
export const verify = Effect.fnUntraced(function* (config: VonageConfig, context: VerifyContext) {
  yield* verifyAccount(accountOf(config), context)
  const carrier = yield* openCarrier(secretAccountOf(config, API), context)
  if (carrier.refused !== undefined) return
  const outcome = yield* asOutcome(carrier.http.send(get(`/v2/applications/${encodeURIComponent(config.application_id)}`)))
  const found = applicationIn(outcome, config.application_id)
  if (found !== undefined) context.report(applicationChecks[found])
})

/** What the application's record shows; undefined: nothing. */
const applicationIn = (outcome: Outcome, applicationId: string): keyof typeof applicationChecks | undefined => {
  if (!("status" in outcome)) return undefined
  if (isAuthRefused(outcome)) return "refused"
  if (isNotFound(outcome)) return "unknown"
  if (!isSuccess(outcome) || textAt(outcome.body, "id") !== applicationId) return undefined
  return at(outcome.body, "capabilities", "voice", "signed_callbacks") === false ? "unsigned" : "found"
}
