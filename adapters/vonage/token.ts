/**
 * The JWT of a request: RS256 with the application's private key, short-lived, and with an id of its own.
 * https://developer.vonage.com/en/getting-started/concepts/authentication#json-web-tokens
 */
import { createPrivateKey, type KeyObject, randomUUID, sign } from "node:crypto"
import { Result } from "effect"

const VALID_SECONDS = 300

/** The key as Vonage's dashboard lets it be downloaded. Undefined: it is no RSA private key. */
export const privateKeyOf = (pem: string): KeyObject | undefined => {
  const key = Result.getOrUndefined(Result.try(() => createPrivateKey(pem)))
  return key?.asymmetricKeyType === "rsa" ? key : undefined
}

/** `at`: now, in epoch milliseconds. */
export const tokenOf = (applicationId: string, privateKey: KeyObject, at: number): string => {
  const iat = Math.floor(at / 1000)
  const claims = { application_id: applicationId, iat, exp: iat + VALID_SECONDS, jti: randomUUID() }
  const signed = [{ typ: "JWT", alg: "RS256" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), privateKey).toString("base64url")}`
}
