/**
 * `X-Twilio-Signature`: HMAC-SHA1 over the URL and the fields of the form, keyed with the auth token. It covers neither a time nor a nonce, so
 * a replay is valid; the call's state machine makes it harmless.
 * https://www.twilio.com/docs/usage/security#validating-requests
 */
import { formOf, type Pair, partsOf, type Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { hmac, isSameText, sha256Hex } from "#adapters/shared/hmac.ts"

export const proofOf = (request: CarrierRequest, authToken: string): Proof | undefined => {
  const given = request.headers["x-twilio-signature"]
  const fields = signedFields(request)
  if (fields === undefined || authToken === "") return undefined
  const isSigned = addressesOf(request.url).some((address) =>
    isSameText(given, hmac("sha1", authToken, address + fields).toString("base64"))
  )
  return isSigned ? { coversBody: true, nonce: undefined } : undefined
}

/** The signed text after the address. Undefined: the body is not what was signed, or is not covered by the signature. */
const signedFields = (request: CarrierRequest): string | undefined => {
  const query = partsOf(request.url)?.query ?? ""
  const bodyHash = query === "" ? null : new URLSearchParams(query).get("bodySHA256")
  if (bodyHash !== null) return isSameText(sha256Hex(request.body), bodyHash.toLowerCase()) ? "" : undefined
  if (request.body.length === 0) return ""
  const form = formOf(request)
  return form === undefined ? undefined : concatenated(form)
}

/** Sorts by name in binary order. Each value of a repeated field is signed once. */
const concatenated = (form: ReadonlyArray<Pair>): string => {
  const byName = form.some(([name]) => beyondUnits.test(name)) ? byBytes : byUnits
  return form
    .toSorted(([name, value], [otherName, otherValue]) => byName(name, otherName) || byBytes(value, otherValue))
    .filter(([name, value], place, sorted) => name !== sorted[place - 1]?.[0] || value !== sorted[place - 1]?.[1])
    .map(([name, value]) => name + value)
    .join("")
}

/** Matches characters that UTF-16 and UTF-8 order differently. */
const beyondUnits = /[\ud800-\udfff]/

const byUnits = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** Twilio signs with or without the port, and some of its media servers sign the upgrade over `https:`. */
const addressesOf = (url: string): ReadonlyArray<string> => {
  const parts = partsOf(url)
  if (parts === undefined) return []
  const { host, port, scheme } = parts
  const rest = url.slice(`${scheme}://${host}${port}`.length)
  const isSecure = scheme === "https" || scheme === "wss"
  const otherPort = port === "" ? (isSecure ? ":443" : ":80") : ""
  const schemes = scheme === "wss" ? ["wss", "https"] : scheme === "ws" ? ["ws", "http"] : [scheme]
  return schemes.flatMap((one) => [port, otherPort].map((somePort) => `${one}://${host}${somePort}${rest}`))
}
