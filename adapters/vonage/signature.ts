/**
 * The JWT of a signed webhook: HS256 with the signature secret over a hash of the body, the time and a nonce (`jti`). It does not cover the
 * address. https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks
 */
import { pairsOf, partsOf, type Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { hmac, isEqual, isSameText, sha256Hex } from "#adapters/shared/hmac.ts"

const MAX_AGE_SECONDS = 300

interface VonageKeys {
  readonly apiKey: string
  readonly signatureSecret: string
}

export const proofOf = (request: CarrierRequest, { apiKey, signatureSecret }: VonageKeys): Proof | undefined => {
  const claims = claimsOf(request.headers["authorization"] ?? "", signatureSecret)
  if (claims === undefined || claims["iss"] !== "Vonage") return undefined
  const { api_key: key, iat, jti, payload_hash: payloadHash } = claims
  if (typeof iat !== "number" || Math.abs(request.at / 1000 - iat) > MAX_AGE_SECONDS) return undefined
  if (typeof jti !== "string" || jti === "" || !isSameText(textOf(key), apiKey)) return undefined
  return isSameText(textOf(payloadHash), hashOf(request)) ? { coversBody: true, nonce: jti } : undefined
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** Any algorithm but HS256 is refused: a token could name a weaker one. */
const claimsOf = (authorization: string, secret: string): Readonly<Record<string, unknown>> | undefined => {
  const [, header = "", payload = "", signature = ""] = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(authorization) ?? []
  if (header === "" || secret === "") return undefined
  const isSigned = isEqual(Buffer.from(signature, "base64url"), hmac("sha256", secret, `${header}.${payload}`))
  return isSigned && objectOf(header)?.["alg"] === "HS256" ? objectOf(payload) : undefined
}

const objectOf = (part: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString())
    // An object's properties may be anything.
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

/** Of the body; of a GET, of its parameters as a compact JSON object, in their order. */
const hashOf = ({ body, method, url }: CarrierRequest): string =>
  sha256Hex(method === "GET" ? JSON.stringify(Object.fromEntries(pairsOf(partsOf(url)?.query ?? ""))) : body)
