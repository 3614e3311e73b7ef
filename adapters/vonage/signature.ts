/**
 * The JWT of a signed webhook: HS256 with the signature secret over a hash of the body, the time and a nonce (`jti`). It does not cover the
 * address. https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks
 */
import { isRecent, pairsOf, partsOf, type Proof } from "#adapters/shared/CarrierRequest.ts"
import { isSameText, sha256Hex } from "#adapters/shared/hmac.ts"
import { numberAt, textAt } from "#adapters/shared/Json.ts"
import { claimsIn } from "#adapters/shared/jwt.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"

type Keys = Readonly<Record<"apiKey" | "signatureSecret", string>>

export const proofOf = (request: CarrierRequest, { apiKey, signatureSecret }: Keys): Proof | undefined => {
  const [, token = ""] = /^Bearer (.+)$/i.exec(request.headers["authorization"] ?? "") ?? []
  const claims = claimsIn(token, signatureSecret)
  const nonce = textAt(claims, "jti") ?? ""
  if (textAt(claims, "iss") !== "Vonage" || nonce === "" || !isSameText(textAt(claims, "api_key"), apiKey)) return undefined
  if (!isRecent(request, numberAt(claims, "iat"))) return undefined
  return isSameText(textAt(claims, "payload_hash"), hashOf(request)) ? { coversBody: true, nonce } : undefined
}

/** The hash of the body or, for a GET, of its parameters as a compact JSON object, in their order. */
const hashOf = ({ body, method, url }: CarrierRequest): string =>
  sha256Hex(method === "GET" ? JSON.stringify(Object.fromEntries(pairsOf(partsOf(url)?.query ?? ""))) : body)
