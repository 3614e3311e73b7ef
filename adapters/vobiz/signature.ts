/**
 * `X-Vobiz-Signature-V3`: HMAC-SHA256 over the address without its query and a nonce, keyed with the auth token. Neither the query nor the body
 * is covered, and no time: the engine stores each nonce, refuses it with another body, and only believes the call's record about its id, end and
 * cost.
 */
import { partsOf, type Proof } from "#adapters/shared/CarrierRequest.ts"
import type { CarrierRequest } from "#core/provider/Callback.ts"
import { hmac, isSameText } from "#adapters/shared/hmac.ts"

/** Old accounts send V2. It has no separator, so it also matches an address that is longer by the first digits of the nonce. */
const versions = [
  { name: "v3", separator: "." },
  { name: "v2", separator: "" }
]

export const proofOf = ({ headers, url }: CarrierRequest, authToken: string): Proof | undefined => {
  const parts = partsOf(url)
  if (parts === undefined || authToken === "") return undefined
  const address = `${parts.scheme}://${parts.host}${parts.port}${parts.path}`
  for (const { name, separator } of versions) {
    const nonce = headers[`x-vobiz-signature-${name}-nonce`] ?? ""
    const expected = hmac("sha256", authToken, address + separator + nonce).toString("base64")
    // A subaccount's callbacks also carry a signature of its parent.
    const given = [headers[`x-vobiz-signature-${name}`], headers[`x-vobiz-signature-ma-${name}`]]
    if (nonce !== "" && given.some((one) => isSameText(one, expected))) return { coversBody: false, nonce }
  }
  return undefined
}

/**
 * Whether a request for a media socket is from Vobiz. Vobiz does not document whether it signs this request, nor with which URL scheme: without any
 * signature, the address is the proof, because we have given it to nobody else.
 */
export const admits = (upgrade: CarrierRequest, authToken: string): boolean => {
  const isSigned = Object.entries(upgrade.headers).some(([name, value]) => name.startsWith("x-vobiz-signature-") && value !== undefined)
  const urls = [upgrade.url, ...["http", "https"].map((scheme) => upgrade.url.replace(/^wss?:/, `${scheme}:`))]
  return !isSigned || urls.some((url) => proofOf({ ...upgrade, url }, authToken) !== undefined)
}
