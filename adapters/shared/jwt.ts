/**
 * JSON web tokens (RFC 7519), made and read synchronously: a callback is checked, and a request for a call is sent, within one turn of the event
 * loop, but the `jose` package only works with promises.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomUUID, sign } from "node:crypto"
import { promisify } from "node:util"
import { Effect, Result } from "effect"
import { hmac, isSameText } from "./hmac.ts"
import { parse, textAt } from "./Json.ts"

const VALID_SECONDS = 300

/** Undefined: not an RSA private key. */
export const rsaKeyOf = (pem: string): KeyObject | undefined => {
  const key = Result.getOrUndefined(Result.try(() => createPrivateKey(pem)))
  return key?.asymmetricKeyType === "rsa" ? key : undefined
}

const generate = promisify(generateKeyPair)

/** A new RSA private key in PEM. */
export const newRsaKey = Effect.promise(async () => {
  const { privateKey } = await generate("rsa", { modulusLength: 2048 })
  return privateKey.export({ format: "pem", type: "pkcs8" }).toString()
})

/** The public key to a private one, both in PEM. */
export const publicKeyOf = (pem: string): string => createPublicKey(pem).export({ format: "pem", type: "spki" }).toString().trim()

/** A short-lived RS256 token with its own id. `now` is in epoch milliseconds. */
export const tokenOf = (claims: object, privateKey: KeyObject, now: number): string => {
  const iat = Math.floor(now / 1000)
  const payload = { ...claims, iat, exp: iat + VALID_SECONDS, jti: randomUUID() }
  const signed = [{ typ: "JWT", alg: "RS256" }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), privateKey).toString("base64url")}`
}

/** The claims of an HS256 token. Undefined for a wrong signature, and for any other algorithm: a token could name a weaker one. */
export const claimsIn = (token: string, secret: string): unknown => {
  const [, header = "", payload = "", signature = ""] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? []
  if (header === "" || secret === "") return undefined
  const isSigned = isSameText(signature, hmac("sha256", secret, `${header}.${payload}`).toString("base64url"))
  const jsonOf = (part: string) => parse(Buffer.from(part, "base64url").toString())
  return isSigned && textAt(jsonOf(header), "alg") === "HS256" ? jsonOf(payload) : undefined
}
