/** Vonage's tokens: those that it requires with requests, and those with which it signs its webhooks. */
import { createHash, createHmac, type KeyObject, randomUUID } from "node:crypto"
import { jwtVerify } from "jose"

const MOST_SECONDS = 900

/** The nonce of a valid token for the application; undefined: it is not accepted. */
export const nonceOf = async (authorization: string, publicKey: KeyObject, applicationId: string): Promise<string | undefined> => {
  const [, token = ""] = /^Bearer (\S+)$/.exec(authorization) ?? []
  try {
    const options = { algorithms: ["RS256"], typ: "JWT", requiredClaims: ["application_id", "iat", "jti", "exp"] }
    const { payload } = await jwtVerify(token, publicKey, options)
    const isShort = Number(payload.exp) - Number(payload.iat) <= MOST_SECONDS
    return isShort && payload["application_id"] === applicationId ? payload.jti : undefined
  } catch {
    return undefined
  }
}

export interface WebhookKeys {
  readonly apiKey: string
  readonly applicationId: string
  readonly signatureSecret: string
}

/** The headers of a webhook with this body that is sent at this time. */
export const signatureOf = (
  body: string,
  { apiKey, applicationId, signatureSecret }: WebhookKeys,
  { at = Date.now(), jti = randomUUID() as string } = {}
): Readonly<Record<string, string>> => {
  const payload_hash = createHash("sha256").update(body).digest("hex")
  const claims = { iat: Math.floor(at / 1000), jti, iss: "Vonage", payload_hash, api_key: apiKey, application_id: applicationId }
  const signed = [{ alg: "HS256", typ: "JWT" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  const signature = createHmac("sha256", signatureSecret).update(signed).digest("base64url")
  return { "content-type": "application/json", authorization: `Bearer ${signed}.${signature}` }
}
