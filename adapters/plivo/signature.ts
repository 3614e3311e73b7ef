/**
 * `X-Plivo-Signature-V3`: HMAC-SHA256 over the address, the fields of the form and a nonce, keyed with the auth token. It covers no time: the
 * nonces of the last ten minutes have to be remembered. https://www.plivo.com/docs/voice/concepts/signature-validation
 */
import { formOf, type Pair, pairsOf, partsOf, type Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { hmac, isSameText } from "#adapters/shared/hmac.ts"

export const proofOf = (request: CarrierRequest, authToken: string): Proof | undefined => {
  const nonce = request.headers["x-plivo-signature-v3-nonce"] ?? ""
  const text = signedText(request)
  if (text === undefined || nonce === "" || authToken === "") return undefined
  const expected = hmac("sha256", authToken, `${text}.${nonce}`).toString("base64")
  // One for each active token, and for a subaccount one of its main account.
  const given = `${request.headers["x-plivo-signature-v3"] ?? ""},${request.headers["x-plivo-signature-ma-v3"] ?? ""}`
  return given.split(",").some((one) => isSameText(one.trim(), expected)) ? { coversBody: true, nonce } : undefined
}

/** Undefined: the body is not covered by the signature. */
const signedText = (request: CarrierRequest): string | undefined => {
  const parts = partsOf(request.url)
  if (parts === undefined) return undefined
  const { host, path, port, query, scheme } = parts
  // Upgrades are signed as GETs of plain http.
  const base = `${scheme.startsWith("ws") ? "http" : scheme}://${host}${port}${path}`
  const sortedQuery = sorted(pairsOf(query))
    .map(([name, value]) => `${name}=${value}`)
    .join("&")
  if (request.body.length === 0) return sortedQuery === "" ? base : `${base}?${sortedQuery}`
  const form = formOf(request)
  if (form === undefined) return undefined
  const fields = sorted(form).map(([name, value]) => name + value)
  return `${base}?${sortedQuery}${sortedQuery === "" ? "" : "."}${fields.join("")}`
}

const sorted = (pairs: ReadonlyArray<Pair>): ReadonlyArray<Pair> =>
  pairs.toSorted(([name, value], [otherName, otherValue]) => (name === otherName ? order(value, otherValue) : order(name, otherName)))

const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
